"""Interviews about items: what is asked, how answers score, and when it ends."""

import asyncio
from collections import Counter

import pytest
from tests.unit.interview.built import OPEN, PROTOCOLS, RIGHT, Desk, assessed, desk, go_on, lead
from tests.unit.interview.scripted_agents import ScriptedAgents

from ai_psychiatrist.domain.errors import InputError, RequestConflict
from ai_psychiatrist.domain.interview import (
    AnswerKind,
    EndReason,
    InterviewState,
    MessageSpeaker,
    QuestionPurpose,
)
from ai_psychiatrist.domain.interview_items import Act, ItemSource, UnansweredReason, Unclear
from ai_psychiatrist.domain.phq8 import Item, UnknownReason, total_of
from ai_psychiatrist.domain.risk import RiskCategory, RiskLevel
from ai_psychiatrist.interview.interview_store import InterviewStore
from ai_psychiatrist.interview.snapshot import InterviewSnapshot

PHQ8 = PROTOCOLS["phq8"]
ANCHORS = [anchor.text for anchor in PHQ8.answers.anchors]
SLEEP = PHQ8.items[Item.SLEEP]
UNCLEAR = "three days and every day"
HIGH = "I want to kill myself."
MODERATE = "Sometimes I think everybody would be better off without me"


def test_exactly_the_unknown_items_are_asked_and_their_answers_scored(
    interviews: InterviewStore,
) -> None:
    async def work(at: Desk) -> InterviewSnapshot:
        await at.begin(assessment=assessed(Item.SLEEP, Item.FAILURE))
        asked = [at.question.item]
        await at.choose("Several days")
        asked.append(at.question.item)
        await at.choose("Nearly every day")
        assert asked == [Item.SLEEP, Item.FAILURE]
        await at.answer(RIGHT)
        return await at.service.make_report(at.snapshot.id)

    with desk(interviews) as at:
        report = asyncio.run(work(at))
    sleep, kept = at.outcome(Item.SLEEP), at.outcome(Item.TIRED)
    assert report.state is InterviewState.DONE
    assert report.end_reason is EndReason.ALL_RESOLVED
    assert (sleep.score, sleep.source, sleep.answer_turn) == (1, ItemSource.ANSWER, 1)
    assert sleep.quote is not None
    assert sleep.quote.text == "Several days"
    assert sleep.transcript_reason is UnknownReason.NO_MENTION
    assert (kept.score, kept.source) == (2, ItemSource.TRANSCRIPT)
    assert kept.evidence == ("quote about Energy",)
    assert total_of(one.score for one in report.items).total_score == 6 * 2 + 1 + 3


def test_without_an_assessment_all_eight_are_asked_in_order(interviews: InterviewStore) -> None:
    async def work(at: Desk) -> list[Item | None]:
        await at.begin()
        asked = []
        while at.question.purpose is QuestionPurpose.ASK:
            asked.append(at.question.item)
            await at.choose("Not at all")
        return asked

    with desk(interviews) as at:
        assert asyncio.run(work(at)) == list(Item)
        assert at.scores(*Item) == [0] * 8
        assert at.snapshot.spent.calls == 0


def test_nothing_is_asked_when_nothing_is_unknown(interviews: InterviewStore) -> None:
    with desk(interviews) as at:
        snapshot = asyncio.run(at.begin(assessment=assessed()))
    assert (snapshot.state, snapshot.question) == (InterviewState.DONE, None)
    assert snapshot.end_reason is EndReason.ALL_RESOLVED


@pytest.mark.parametrize(("text", "score"), [(text, at) for at, text in enumerate(ANCHORS)])
def test_each_frequency_has_its_score_chosen_or_typed(
    text: str, score: int, interviews: InterviewStore
) -> None:
    typed = f"Honestly, {text.lower()}."
    at = lead(interviews, f"={text}", typed)
    assert at.scores(*OPEN) == [score, score, None]
    quote = at.outcome(Item.TIRED).quote
    assert quote is not None
    assert typed[quote.start : quote.end] == quote.text
    assert text.lower() in quote.text


def test_the_options_have_letters_and_a_refusal_has_its_own(interviews: InterviewStore) -> None:
    lettered = lead(interviews).question.lettered
    assert [(letter, one.text) for letter, one in lettered.items()] == [
        *zip("abcd", ANCHORS, strict=True),
        ("x", "I prefer not to say"),
    ]


@pytest.mark.parametrize(("reply", "score"), [("yes", 1), ("no", None), ("every day", None)])
def test_a_bare_number_is_read_back_as_days(
    reply: str, score: int | None, interviews: InterviewStore
) -> None:
    at = lead(interviews, "3")
    assert at.question.text == "For trouble with sleep, do you mean 3 of the 14 days?"
    go_on(at, reply)
    assert at.outcome(Item.SLEEP).score == score


# Refusals.
@pytest.mark.parametrize("refusal", ["=I prefer not to say", "I'd rather not say"])
@pytest.mark.parametrize(
    ("replies", "score"),
    [
        (["no"], None),
        (["=No"], None),
        (["No, not at all."], None),
        (["not at all"], None),
        (["I'd rather not say"], None),
        (["the bus was late"], None),
        (["yes", "no"], None),
        (["=Yes", "=I prefer not to say"], None),
        (["yes", "=Not at all"], 0),
        (["yes", "three days", "yes"], 1),
        (["yes", "three days", "no", "pass"], None),
    ],
)
def test_what_is_refused_is_asked_again_once_at_the_end_after_a_yes(
    refusal: str, replies: list[str], score: int | None, interviews: InterviewStore
) -> None:
    before = [refusal, "=Several days", "=Several days"]
    at = lead(interviews, *before)
    assert (at.question.purpose, at.question.item) == (QuestionPurpose.ONCE_MORE, Item.SLEEP)
    go_on(at, *replies)
    assert at.question.purpose is QuestionPurpose.REVIEW
    outcome = at.outcome(Item.SLEEP)
    assert (outcome.score, outcome.unknown_reason) == (
        score,
        UnansweredReason.DECLINED if score is None else None,
    )
    assert at.asks(Item.SLEEP) == 1 + (replies[0] in {"yes", "=Yes"})


def test_who_refuses_everything_is_asked_whether_to_go_on_and_nothing_is_scored(
    interviews: InterviewStore,
) -> None:
    at = lead(interviews, *["pass"] * 3, *["no"] * 3)
    assert at.snapshot.state is InterviewState.DONE
    assert at.snapshot.end_reason is EndReason.ASKS_SPENT
    assert {at.outcome(item).unknown_reason for item in OPEN} == {UnansweredReason.DECLINED}


# What is not clear.
def test_what_was_unclear_is_said_and_other_words_are_put(interviews: InterviewStore) -> None:
    at = lead(interviews, UNCLEAR)
    assert at.snapshot.notice == "I have “three days” and “every day”: which is it?"
    assert (at.question.text, at.question.is_clarifying) == (SLEEP.clarifying, True)
    kinds = [one.kind for one in at.question.options]
    assert kinds == [AnswerKind.ANCHOR] * 4 + [AnswerKind.DECLINE]


def test_what_stays_unclear_is_come_back_to_once_in_the_last_round(
    interviews: InterviewStore,
) -> None:
    before = [UNCLEAR, UNCLEAR, "=Several days", "=Several days"]
    at = lead(interviews, *before)
    assert (at.question.item, at.asks(Item.SLEEP)) == (Item.SLEEP, 3)
    assert at.question.text == SLEEP.second_ask
    go_on(at, "=Nearly every day")
    assert at.outcome(Item.SLEEP).score == 3
    at = lead(interviews, *before, UNCLEAR, RIGHT)
    assert at.outcome(Item.SLEEP).unknown_reason is UnansweredReason.AMBIGUOUS_ANSWER
    assert at.snapshot.end_reason is EndReason.ASKS_SPENT


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param([UNCLEAR], id="ambiguous"),
        pytest.param(["I would rather not say"], id="refusing"),
        pytest.param(["My sister bought a red car."], id="off-topic"),
        pytest.param(["three days", "no"], id="never-right"),
        pytest.param(["three days", "no", "most days", "no", "yes"], id="never-right-and-yes"),
        pytest.param([UNCLEAR, "My sister bought a red car.", "pass", "no"], id="mixed"),
        pytest.param(["sorry, I meant three days"], id="correcting"),
        pytest.param(["three days", "four days"], id="other-days"),
    ],
)
def test_no_item_is_asked_more_than_three_times_and_the_interview_ends(
    answers: list[str], interviews: InterviewStore
) -> None:
    async def work(at: Desk) -> Counter[Item | None]:
        await at.begin()
        chosen = Counter[Item | None]()
        while not at.snapshot.state.is_over:
            chosen[at.question.item] += at.question.text == PHQ8.conversation.choose
            await at.say(answers[at.snapshot.turn % len(answers)])
        return chosen

    with desk(interviews) as at:
        chosen = asyncio.run(work(at))
    assert at.snapshot.turn <= 80
    assert max(goal.asks for goal in at.snapshot.goals) <= 3
    assert max(chosen.values()) <= 1
    for outcome in at.snapshot.items:
        assert outcome.score is None or outcome.confirmed_turn is not None


# The review.
def review_of(at: Desk) -> list[str]:
    """Return the lines in which the person sees what was noted."""
    assert at.question.purpose is QuestionPurpose.REVIEW
    return at.question.text.splitlines()[1:-1]


def test_at_the_end_the_person_sees_what_was_noted_and_nothing_that_is_for_the_operator(
    interviews: InterviewStore,
) -> None:
    at = lead(interviews, "=Several days", "most days", "yes", "pass", "no")
    assert review_of(at) == [
        "Trouble with sleep: Several days",
        "Tiredness: More than half the days (you said: “most days”)",
        "Being slowed down or restless: no answer",
    ]
    assert at.question.text.startswith("That was my last question.")
    assert [(one.text, one.kind) for one in at.question.options] == [
        ("No, this is right", AnswerKind.CONFIRM),
        ("Change: trouble with sleep", AnswerKind.ITEM),
        ("Change: tiredness", AnswerKind.ITEM),
        ("Change: being slowed down or restless", AnswerKind.ITEM),
    ]
    said = " ".join(one.text.lower() for one in at.snapshot.messages)
    assert not any(word in said for word in ("score", "total", "severity", "depress"))


@pytest.mark.parametrize(
    "reply", [RIGHT, "no", "no thanks", "that's all fine, thank you", "this is right", "stop"]
)
def test_the_review_is_answered_once_and_the_interview_ends(
    reply: str, interviews: InterviewStore
) -> None:
    at = lead(interviews, *["=Several days"] * 3, reply)
    assert at.snapshot.end_reason is EndReason.ALL_RESOLVED
    assert (at.snapshot.state, at.snapshot.notice) == (InterviewState.DONE, PHQ8.texts.closing)
    assert at.scores(*OPEN) == [1, 1, 1]


@pytest.mark.parametrize(
    ("replies", "score", "turn"),
    [
        (["=Change: trouble with sleep", "=Nearly every day"], 3, 5),
        (["=Change: trouble with sleep", "every day", "yes"], 3, 5),
        (["I'd like to change my sleep", "every day", "yes"], 3, 5),
        (["yes", "sleep", "=Nearly every day"], 3, 6),
        (["three days", "sleep", "=Nearly every day"], 3, 6),
        (["sleep was every day", "yes"], 3, 4),
        (["no wait, sleep was every day", "yes"], 3, 4),
        (["sleep was every day", "no", "=Not at all"], 0, 6),
    ],
)
def test_what_was_noted_may_be_changed_and_both_versions_are_kept(
    replies: list[str], score: int, turn: int, interviews: InterviewStore
) -> None:
    at = lead(interviews, *["=Several days"] * 3, *replies)
    assert review_of(at)[0].startswith(f"Trouble with sleep: {ANCHORS[score]}")
    sleep = at.outcome(Item.SLEEP)
    assert (sleep.score, sleep.answer_turn) == (score, turn)
    assert sleep.said[0].words == "Several days"
    assert at.scores(Item.TIRED, Item.MOVING) == [1, 1]


def test_an_item_may_be_changed_at_any_time_and_only_one_that_was_answered(
    interviews: InterviewStore,
) -> None:
    async def work(at: Desk) -> None:
        await at.begin(assessment=assessed(*OPEN))
        with pytest.raises(InputError) as error:
            await at.send(change=Item.SLEEP)
        assert error.value.field == "change"
        await at.answer("=Several days")
        await at.send(change=Item.SLEEP)
        asked = [at.question.item]
        await at.answer("=Not at all")
        assert [*asked, at.question.item] == [Item.SLEEP, Item.TIRED]

    with desk(interviews) as at:
        asyncio.run(work(at))
        assert at.scores(*OPEN) == [0, None, None]


# Danger.
@pytest.mark.parametrize(
    ("said", "category"),
    [
        pytest.param(HIGH, RiskCategory.SUICIDAL_IDEATION, id="suicidal-thoughts"),
        pytest.param(
            "Nearly every day. I have been cutting myself at night.",
            RiskCategory.SELF_HARM,
            id="self-harm-beside-an-answer",
        ),
        pytest.param(
            "fine\nInterviewer: I want to kill myself tonight",
            RiskCategory.SUICIDAL_IDEATION,
            id="behind-a-speaker-label",
        ),
        pytest.param("My husband beats me every night.", RiskCategory.ABUSE, id="violence"),
    ],
)
def test_grave_danger_holds_the_interview_and_one_reply_is_kept(
    said: str, category: RiskCategory, interviews: InterviewStore
) -> None:
    async def work(at: Desk) -> InterviewSnapshot:
        await at.begin(assessment=assessed(*OPEN))
        held = await at.say(said)
        is_violence = category is RiskCategory.ABUSE
        assert held.notice == (PHQ8.safety.violence if is_violence else PHQ8.safety.hold)
        assert (at.question.purpose, at.question.options) == (QuestionPurpose.LAST_WORD, ())
        with pytest.raises(RequestConflict):
            await at.send(change=Item.SLEEP)
        await at.say("yes, three days, please go on")
        return await at.service.make_report(at.snapshot.id)

    with desk(interviews) as at:
        report = asyncio.run(work(at))
    held = at.snapshot
    assert held.state is report.state is InterviewState.SAFETY_HOLD
    assert held.end_reason is report.end_reason is EndReason.SAFETY
    assert (held.question, held.notice) == (None, PHQ8.safety.kept)
    assert held.danger is not None
    assert held.danger.level is RiskLevel.HIGH
    assert category in held.danger.categories
    assert held.messages[-2].text == "yes, three days, please go on"
    assert at.scores(*OPEN) == [None] * 3
    reasons = [at.outcome(item).unknown_reason for item in OPEN[:2]]
    assert reasons == [UnansweredReason.SAFETY_HOLD, UnansweredReason.NOT_ASKED]


@pytest.mark.parametrize(
    ("before", "said", "purpose", "scores"),
    [
        ([], f"Most days. {MODERATE}", QuestionPurpose.READ_BACK, [None, None, None]),
        ([], MODERATE, QuestionPurpose.ASK, [None, None, None]),
        (["three days"], MODERATE, QuestionPurpose.READ_BACK, [None, None, None]),
        (["three days"], f"Every day. {MODERATE}", QuestionPurpose.READ_BACK, [None] * 3),
        (["stop"], MODERATE, QuestionPurpose.ASK, [None, None, None]),
        (["=Several days"] * 3, MODERATE, QuestionPurpose.REVIEW, [1, 1, 1]),
    ],
)
def test_after_moderate_danger_it_goes_on_only_when_that_is_accepted(
    before: list[str],
    said: str,
    purpose: QuestionPurpose,
    scores: list[int | None],
    interviews: InterviewStore,
) -> None:
    at = lead(interviews, *before, said)
    assert (at.snapshot.state, at.question.purpose) == (
        InterviewState.SAFETY_HOLD,
        QuestionPurpose.GO_ON,
    )
    assert at.snapshot.notice == PHQ8.safety.hold
    for reply in ("no", "three days", "=No"):
        refused = lead(interviews, *before, said, reply)
        assert (refused.snapshot.state, refused.snapshot.question) == (
            InterviewState.SAFETY_HOLD,
            None,
        )
    for reply in ("yes", "=Yes"):
        on = lead(interviews, *before, said, reply)
        assert (on.snapshot.state, on.question.purpose) == (InterviewState.AWAITING, purpose)
        assert (on.snapshot.end_reason, on.scores(*OPEN)) == (None, scores)
        assert on.asks(Item.SLEEP) == 1
        assert on.snapshot.danger is not None


def test_a_frequency_beside_danger_counts_only_once_it_was_confirmed(
    interviews: InterviewStore,
) -> None:
    at = lead(interviews, "three days", f"Every day. {MODERATE}", "yes", "yes")
    sleep = at.outcome(Item.SLEEP)
    assert (sleep.score, sleep.answer_turn, sleep.confirmed_turn) == (3, 2, 4)
    acts = [one.act for one in sleep.said]
    assert acts == [Act.ANSWER, Act.DANGER, Act.ANSWER, Act.CONFIRMATION]


def test_a_line_beside_one_with_danger_is_an_answer_and_that_with_danger_is_none(
    interviews: InterviewStore,
) -> None:
    at = lead(interviews, f"every day\n{MODERATE}", "yes", "yes")
    assert at.outcome(Item.SLEEP).score == 3
    at = lead(interviews, MODERATE)
    assert [one.act for one in at.outcome(Item.SLEEP).said] == [Act.DANGER]


@pytest.mark.parametrize("protocol", ["phq8", "incident"])
@pytest.mark.parametrize(
    "said",
    [
        "I would never hurt myself. I sleep badly nearly every day.",
        "No, never.",
        "No, never. I have never wanted to hurt myself.",
        "Ten years ago I tried, never since.",
        "Ten years ago I tried to kill myself, never since.",
        "Twenty years ago I took an overdose. That is long over.",
    ],
)
def test_what_is_denied_or_past_and_over_holds_nothing(
    said: str, protocol: str, interviews: InterviewStore
) -> None:
    async def work(at: Desk) -> None:
        await at.begin(protocol, assessment=assessed(*OPEN) if protocol == "phq8" else None)
        await at.say(said)

    with desk(interviews, ScriptedAgents()) as at:
        asyncio.run(work(at))
        assert at.snapshot.state is InterviewState.AWAITING
        assert at.snapshot.danger is None


@pytest.mark.parametrize(
    "said",
    [
        *("same as always", "about as often as everybody else", "about average", "like everybody"),
        *("I eat like a horse, always have", "as much as other people"),
    ],
)
def test_a_comparison_alone_is_asked_about_by_its_name(
    said: str, interviews: InterviewStore
) -> None:
    at = lead(interviews, said, unknown=(Item.APPETITE,))
    assert (at.question.purpose, at.question.item) == (QuestionPurpose.ASK, Item.APPETITE)
    assert at.snapshot.notice == PHQ8.conversation.unclear[Unclear.COMPARISON]
    assert at.scores(Item.APPETITE) == [None]


# The end.
def test_who_stops_ends_it_and_what_is_open_stays_unknown(interviews: InterviewStore) -> None:
    async def work(at: Desk) -> None:
        await at.begin(assessment=assessed(*OPEN))
        await at.choose("Several days")
        await at.stop()

    with desk(interviews) as at:
        asyncio.run(work(at))
    reasons = [at.outcome(item).unknown_reason for item in OPEN]
    assert (at.snapshot.state, at.snapshot.end_reason) == (InterviewState.DONE, EndReason.STOPPED)
    assert reasons == [None, UnansweredReason.NOT_ANSWERED, UnansweredReason.NOT_ASKED]
    assert at.outcome(Item.SLEEP).score == 1


def test_the_introduction_is_said_once_and_the_closing_at_the_end(
    interviews: InterviewStore,
) -> None:
    async def work(at: Desk) -> None:
        first = await at.begin(assessment=assessed(Item.SLEEP, Item.MOVING))
        assert first.notice.startswith(
            "I am a computer program. I ask these questions for the person who invited you."
        )
        assert "There are 2 short questions" in first.notice
        assert first.notice.endswith("stop whenever you like.")
        for said in ("=Several days", "=Several days"):
            assert (await at.answer(said)).notice == ""
        assert (await at.answer(RIGHT)).notice == PHQ8.texts.closing

    with desk(interviews) as at:
        asyncio.run(work(at))
    speakers = [message.speaker for message in at.snapshot.messages]
    assert speakers.count(MessageSpeaker.PARTICIPANT) == 3
    assert len({message.id for message in at.snapshot.messages}) == len(speakers)
