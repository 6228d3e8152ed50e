"""Whatever is answered, an interview about items keeps its rules and comes to an end."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.interview.built import PROTOCOLS

from ai_psychiatrist.domain.interview import GivenAnswer, GoalStatus, InterviewState, MessageSpeaker
from ai_psychiatrist.domain.interview_items import AssessedItem, AssessmentInput, ItemSource
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.engine.item_steps import begin_items, digest_item_answer
from ai_psychiatrist.interview.engine.turns import with_answer
from ai_psychiatrist.interview.ids import make_id
from ai_psychiatrist.interview.item_outcomes import item_outcomes
from ai_psychiatrist.interview.record import Interview, ProtocolReference

PHQ8 = PROTOCOLS["phq8"]

_SAYINGS = st.sampled_from(
    ["some", "pass", "every day", "it varies", "My sister has a red car.", "no", "3 days", "…"]
)
_ANSWERS = st.lists(st.integers(0, 4) | _SAYINGS | st.text(min_size=1), min_size=1, max_size=16)


def answered(interview: Interview, answer: int | str) -> Interview:
    """Answer the question that waits: by the option at a place, or in words."""
    question = interview.question
    assert question is not None
    option = question.options[answer] if isinstance(answer, int) else None
    given_answer = GivenAnswer(
        question_id=question.id,
        option_id=option.id if option else None,
        text=option.text if option else str(answer),
        turn=interview.turn + 1,
    )
    return digest_item_answer(PHQ8, with_answer(interview, given_answer, "key"))


def begun(unknown: frozenset[Item]) -> Interview:
    """Return an interview about some items; the others have a score of 1."""
    known = {item: AssessedItem(score=1) for item in Item if item not in unknown}
    new = Interview(
        id=make_id(),
        protocol=ProtocolReference(id=PHQ8.id, version=PHQ8.version, digest=PHQ8.digest),
        state=InterviewState.PREPARING,
        assessment=AssessmentInput(items=known),
    )
    return begin_items(PHQ8, new)


@given(unknown=st.frozensets(st.sampled_from(Item)), answers=_ANSWERS)
def test_every_interview_about_items_ends_by_its_rules(
    unknown: frozenset[Item], answers: list[int | str]
) -> None:
    interview, asked = begun(unknown), []
    while not interview.state.is_over:
        assert interview.question is not None
        goal = interview.goal(interview.question.goal_id)
        assert goal.status is not GoalStatus.COMPLETE
        assert goal.item in unknown
        asked.append(interview.question.text)
        interview = answered(interview, answers[interview.turn % len(answers)])
    assert len(asked) == len(set(asked)) == interview.turn <= PHQ8.stop.max_turns
    assert all(goal.asks <= (PHQ8.stop.max_asks or 0) for goal in interview.goals)
    for outcome in item_outcomes(interview):
        assert outcome.source is not ItemSource.TRANSCRIPT or outcome.item not in unknown
        assert (outcome.source is ItemSource.ANSWER) is (
            outcome.score is not None and outcome.item in unknown
        )
        if outcome.quote is not None:
            said = words_of_turn(interview, outcome.answer_turn)
            assert said[outcome.quote.start : outcome.quote.end] == outcome.quote.text


def words_of_turn(interview: Interview, turn: int | None) -> str:
    """Return what was answered in a turn."""
    answers = [
        message
        for message in interview.messages
        if message.turn == turn and message.speaker is MessageSpeaker.PARTICIPANT
    ]
    assert len(answers) == 1
    return answers[0].text


@given(answers=_ANSWERS)
def test_the_same_answers_always_lead_to_the_same_interview(answers: list[int | str]) -> None:
    first = begun(frozenset(Item))
    second = replace(first)
    for answer in answers:
        if first.state.is_over:
            break
        first, second = answered(first, answer), answered(second, answer)
    assert first == second
