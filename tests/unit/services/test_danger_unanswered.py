"""A question about danger that is evaded, met with silence or asked back is not a denial."""

import pytest

from ai_psychiatrist.domain.risk import RiskGroup, RiskLevel, RiskPolarity, RiskReport
from ai_psychiatrist.services.risk.answers import is_unanswered
from ai_psychiatrist.services.risk.context import with_words
from ai_psychiatrist.services.risk.detector import detect_risk
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

ASKED = "Have you had thoughts of ending your life?"
UNANSWERED = """
Why do you ask?
(pause)
...
[silence]
I'd rather not talk about that
I don't want to talk about it
I plead the fifth
not that I'd tell you
That's private.
No comment.
What do you mean?
Do I have to answer that?
we don't talk about that in my family
you're the doctor
Um.
"""
QUALIFIED = """
of course not every day
not since Tuesday
not right now
not any more than usual
who hasn't?
(nods)
"""


def report_of(*said: str) -> RiskReport:
    """Read an interview whose lines alternate, the question first, and finish its report."""
    lines = (
        f"{('Participant', 'Interviewer')[at % 2 == 0]}: {words}"
        for at, words in enumerate((ASKED, *said))
    )
    transcript = parse_transcript("\n".join(lines))
    return with_words(transcript, detect_risk(transcript), resources="")


def listed(table: str) -> list[str]:
    """Return the answers of a table."""
    return table.strip().splitlines()


@pytest.mark.parametrize("answer", listed(UNANSWERED))
def test_what_evades_a_question_about_danger_is_to_be_asked_again(answer: str) -> None:
    (signal,) = report_of(answer).signals

    assert is_unanswered(signal)
    assert (signal.polarity, signal.group) == (RiskPolarity.UNCLEAR, RiskGroup.READ_NOW)
    assert signal.level.is_urgent


@pytest.mark.parametrize("answer", listed(QUALIFIED))
def test_a_qualified_denial_affirms(answer: str) -> None:
    (signal,) = report_of(answer).signals

    assert signal.polarity is RiskPolarity.AFFIRMED
    assert not is_unanswered(signal)


@pytest.mark.parametrize(
    "between",
    [
        ("Why do you ask?", "I ask everyone that."),
        ("What do you mean?", "I mean thoughts of suicide."),
        ("(pause)", "Take your time."),
        ("Pardon?", ASKED),
    ],
)
@pytest.mark.parametrize(
    ("answer", "level"), [("No, never.", RiskLevel.NONE), ("Sometimes.", RiskLevel.HIGH)]
)
def test_a_question_that_is_put_again_is_answered_by_what_comes_then(
    between: tuple[str, str], answer: str, level: RiskLevel
) -> None:
    report = report_of(*between, answer)

    assert report.level is level
    assert not any(map(is_unanswered, report.signals))


@pytest.mark.parametrize(
    "after",
    [
        ("Okay. Tell me about your sleep.", "No, fine."),
        ("Do you have a plan?", "No."),
        ("Let us move on. How is your sleep?", "No problems."),
    ],
)
def test_a_no_to_something_else_does_not_answer_it(after: tuple[str, str]) -> None:
    report = report_of("I'd rather not say.", *after)

    assert report.level.is_urgent
    assert [one.turn for one in report.signals if is_unanswered(one)] == [1]


def test_a_participant_who_goes_on_in_a_second_line_has_answered() -> None:
    lines = f"Interviewer: {ASKED}\nParticipant: Um.\nParticipant: No.\n"

    assert detect_risk(parse_transcript(lines)).level is RiskLevel.NONE


def test_a_denial_with_a_question_behind_it_stays_one() -> None:
    assert report_of("No. Why do you ask?").level is RiskLevel.NONE
    assert report_of("No. (laughs)").level is RiskLevel.NONE
