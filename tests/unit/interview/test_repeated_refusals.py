"""An item that was refused and is asked once more: what refuses again, and what answers it."""

import pytest
from tests.unit.interview.built import RIGHT, Desk, go_on, lead
from tests.unit.interview.scripted_agents import ScriptedAgents

from ai_psychiatrist.domain.interview import EndReason, QuestionPurpose
from ai_psychiatrist.domain.interview_items import UnansweredReason
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.interview_store import InterviewStore

AGENTS = pytest.mark.parametrize("has_model", [False, True], ids=["rules", "model"])


def asked_again(interviews: InterviewStore, *said: str, has_model: bool = False) -> Desk:
    """Lead an interview about one item that is refused, and asked again after a yes."""
    agents = ScriptedAgents({"match_frequency": [{"frequency": "not_at_all", "words": "no"}]})
    refused = ["=I prefer not to say", "yes"]
    return lead(
        interviews, *refused, *said, unknown=(Item.TIRED,), agents=agents if has_model else None
    )


@AGENTS
@pytest.mark.parametrize(
    "again",
    [
        *("no", "NO!", "nope", "Nah", "no thanks", "No, thank you.", "I said no.", "still no"),
        *(
            "I already told you no",
            "same answer",
            "no, like I said",
            "skip it please",
            "next",
            "no, next",
        ),
        *("No, I'm good", "no way", "no, absolutely not", "I don't think so", "no means no"),
        *("I'd rather not say", "pass", "no, I won't answer that"),
    ],
)
def test_what_may_refuse_again_is_no_score(
    again: str, has_model: bool, interviews: InterviewStore
) -> None:
    at = asked_again(interviews, again, has_model=has_model)
    outcome = at.outcome(Item.TIRED)
    assert (outcome.score, outcome.unknown_reason) == (None, UnansweredReason.DECLINED)
    assert at.snapshot.end_reason is EndReason.ASKS_SPENT
    assert at.snapshot.proposals == ()


@AGENTS
@pytest.mark.parametrize(
    ("again", "score"), [("three days", 1), ("most days", 2), ("every day", 3), ("never", 0)]
)
def test_an_answer_counts_once_it_is_confirmed(
    again: str, score: int, has_model: bool, interviews: InterviewStore
) -> None:
    at = asked_again(interviews, again, has_model=has_model)
    if at.question.purpose is QuestionPurpose.READ_BACK:
        assert at.outcome(Item.TIRED).score is None
        at = asked_again(interviews, again, "yes", has_model=has_model)
    assert at.outcome(Item.TIRED).score == score


@pytest.mark.parametrize("again", ["=Not at all", "not at all", "no, not at all"])
def test_the_frequency_itself_counts_at_once(again: str, interviews: InterviewStore) -> None:
    at = asked_again(interviews, again, RIGHT)
    assert (at.outcome(Item.TIRED).score, at.snapshot.end_reason) == (0, EndReason.ALL_RESOLVED)


def test_a_bare_no_to_another_question_is_still_an_answer_to_be_confirmed(
    interviews: InterviewStore,
) -> None:
    at = lead(interviews, "=I prefer not to say", "no")
    assert (at.question.item, at.question.purpose) == (Item.TIRED, QuestionPurpose.READ_BACK)
    go_on(at, "yes")
    assert at.scores(Item.SLEEP, Item.TIRED) == [None, 0]
