"""What answers a question about danger: denied, over, unclear or said, and how soon to look.

A statement follows the interviewer's question and a bar.
"""

import pytest

from ai_psychiatrist.domain.risk import RiskGroup, RiskLevel, RiskPolarity, RiskReport, RiskSignal
from ai_psychiatrist.services.risk.detector import detect_risk
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

QUESTIONS = (
    "Are you having thoughts of suicide?",
    "Any thoughts of ending your life?",
    "Do you think about hurting yourself?",
    "I ask everyone this, so don't be alarmed. Have you been thinking about killing yourself?",
    "People who feel like this sometimes think of ending their lives. Has that been on your mind?",
    "Do you ever feel you'd be better off dead?",
    "Any thoughts of harming yourself or others?",
)
PLAIN_DENIALS = (
    "No",
    "Never",
    "Nope.",
    "No, nothing like that",
    "No, never.",
    "Not once",
    "Not at all",
    "No thoughts of that",
    "God no",
    "None",
    "No, doctor.",
    "I haven't, no",
    "Um, no.",
    "No. I've got two kids to bring up.",
)
UNCLEAR = (
    "Not really",
    "Not any more",
    "Not today",
    "Not right now",
    "I wouldn't",
    "I don't think so",
    "Sometimes no",
    "No, not really",
    "No, I don't think so",
    "Not as such",
    "Not at the moment, no",
    "Not for a while",
    "Not in front of the children",
    "Not seriously",
    "No. Well, not lately.",
    "Not that I'd act on",
    "I'd rather not say",
    "In March",
    "Once",
    "Last year, when he left",
    "A long time ago",
    "Only at school",
    "We had a lovely time at my sister's and the weather held all week.",
)
WITH_MEANS = (
    "I looked at the hose in the garage on Sunday. Then I went back in.",
    "I've got the tablets but I haven't taken them yet",
    "No plan. Just a date.",
    "I stood on the platform for an hour. I came home again.",
    "The rope's still in the loft, I haven't touched it",
    "I wrote a note and then I tore it up",
    "Not really, but I know where the gun is",
    "I went up to the bridge, so far that's all",
)
LONG_OVER = (
    "Ten years ago, not since",
    "When I was a teenager, but never again",
    "I did in my twenties. It stopped when I met my wife.",
    "Not since I was at school",
    "Not for twenty years",
)
READ_NOW = {RiskPolarity.AFFIRMED, RiskPolarity.UNCLEAR, RiskPolarity.HYPOTHETICAL}


def read(*turns: str) -> RiskReport:
    """Read an interview whose turns alternate, the interviewer first."""
    speakers = ("Interviewer", "Participant")
    return detect_risk(
        parse_transcript("\n".join(f"{speakers[at % 2]}: {one}" for at, one in enumerate(turns)))
    )


def strongest(report: RiskReport) -> RiskSignal:
    """Return the signal of the highest level."""
    return max(report.signals, key=lambda signal: signal.level.rank)


@pytest.mark.parametrize("question", QUESTIONS)
def test_only_a_plain_denial_denies(question: str) -> None:
    wrong = [
        said
        for said in PLAIN_DENIALS
        if {one.polarity for one in read(question, said).signals} != {RiskPolarity.DENIED}
    ]
    assert wrong == []


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_neither_denies_nor_affirms_is_unclear_and_read_now(question: str) -> None:
    wrong = {}
    for said in UNCLEAR:
        report = read(question, said)
        polarities = {one.polarity for one in report.signals}
        if not polarities or not polarities <= READ_NOW or report.level.rank < 3:
            wrong[said] = report
    assert wrong == {}


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_that_names_a_means_is_high(question: str) -> None:
    wrong = [said for said in WITH_MEANS if read(question, said).level is not RiskLevel.HIGH]
    assert wrong == []


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_is_long_ago_and_said_to_be_over_is_past(question: str) -> None:
    wrong = [
        said
        for said in LONG_OVER
        if {one.polarity for one in read(question, said).signals} != {RiskPolarity.PAST}
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "said",
    [
        "I've thought about it. I've not done anything.",
        "Yes. My wife doesn't know. I love my garden.",
        "Most nights. I haven't told anyone.",
        "Ten years ago, and again last week",
        "Yes, but I've never tried it.",
        "I have. Not today.",
    ],
)
def test_a_sentence_beside_it_does_not_lower_an_answer(said: str) -> None:
    assert read("Are you having thoughts of suicide?", said).level is RiskLevel.HIGH


@pytest.mark.parametrize(
    "said",
    [
        "No. I mean, I stood on the bridge on Sunday and I looked down.",
        "No, not that. I've just been saving up my tablets.",
        "No. I want to die, that's all.",
        "No, well, sometimes.",
        "No. Well yes. I think about the train.",
    ],
)
def test_an_answer_that_opens_with_a_no_and_then_tells_danger_is_danger(said: str) -> None:
    assert strongest(read("Any thoughts of suicide?", said)).group is RiskGroup.READ_NOW


@pytest.mark.parametrize(
    "question",
    [
        "You aren't thinking of suicide, are you?",
        "You're not suicidal?",
        "No thoughts of harming yourself?",
        "So you haven't thought about ending your life?",
        "You don't want to hurt yourself, do you?",
    ],
)
def test_yes_to_a_question_that_says_no_is_unclear(question: str) -> None:
    (agreed,) = read(question, "Yes.").signals
    (denied,) = read(question, "No.").signals

    assert agreed.polarity is RiskPolarity.UNCLEAR
    assert agreed.level.rank >= RiskLevel.MODERATE.rank
    assert denied.polarity is RiskPolarity.DENIED


@pytest.mark.parametrize(
    ("said", "polarities"),
    [
        ("Yes", {RiskPolarity.DENIED}),
        ("Yes, of course", {RiskPolarity.DENIED}),
        ("Very, yes", {RiskPolarity.DENIED}),
        ("No", {RiskPolarity.AFFIRMED}),
        ("Not really", {RiskPolarity.AFFIRMED}),
        ("Mostly", {RiskPolarity.UNCLEAR}),
        ("I think so", {RiskPolarity.UNCLEAR}),
        ("Most days", {RiskPolarity.UNCLEAR}),
        ("Yes, usually", {RiskPolarity.UNCLEAR}),
        ("He's been better since Christmas", {RiskPolarity.UNCLEAR}),
    ],
)
def test_questions_for_safety_mirror_it(said: str, polarities: set[RiskPolarity]) -> None:
    assert {one.polarity for one in read("Do you feel safe at home?", said).signals} == polarities


@pytest.mark.parametrize(
    ("follow_up", "said"),
    [
        ("How often?", "Every couple of days."),
        ("And have you thought about how?", "With my insulin."),
        ("Do you have the means at home?", "My nan's morphine is in the fridge door."),
        ("Anything else like that?", "I gave my watch to the lad next door."),
        ("Mm-hm.", "It comes when I'm washing up."),
        ("When was that?", "On Sunday, after they'd gone."),
    ],
)
def test_a_question_that_goes_on_with_the_danger_is_one_about_it(follow_up: str, said: str) -> None:
    report = read("Are you having thoughts of suicide?", "Sometimes, yes.", follow_up, said)

    later = [one for one in report.signals if one.turn == 3 and one.group is RiskGroup.READ_NOW]
    assert later
    assert max(one.level.rank for one in later) >= RiskLevel.MODERATE.rank


def test_other_questions_after_a_danger_are_not_about_it() -> None:
    for question in (
        "How is the food here?",
        "Do you take sugar in your tea?",
        "How do you sleep?",
    ):
        report = read("Are you having thoughts of suicide?", "Sometimes.", question, "Not bad.")
        assert [one for one in report.signals if one.turn == 3] == []


@pytest.mark.parametrize(
    "said",
    [
        "I've got the rope but I haven't used it so far",
        "I've thought of killing myself but not now",
        "I wanted to kill myself last night, then I didn't",
        "I want to die but I haven't done anything",
        "I've bought the pills, not taken any yet",
        "I thought about hanging myself yesterday. I've not told anyone.",
    ],
)
def test_a_negation_after_a_turn_does_not_deny_what_stands_before_it(said: str) -> None:
    assert strongest(read("How was your week?", said)).group is RiskGroup.READ_NOW
    assert read("How was your week?", said).level is RiskLevel.HIGH
