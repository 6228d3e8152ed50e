"""Whatever is answered, an interview about items keeps its rules and comes to an end."""

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.interview.built import PROTOCOLS

from ai_psychiatrist.domain.interview import GivenAnswer, InterviewState, QuestionPurpose
from ai_psychiatrist.domain.interview_items import AssessedItem, AssessmentInput, ItemSource
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.engine.items import begin_items, digest_item_answer
from ai_psychiatrist.interview.engine.turns import with_answer
from ai_psychiatrist.interview.ids import make_id
from ai_psychiatrist.interview.item_outcomes import item_outcomes
from ai_psychiatrist.interview.phq8.corrections import named_items
from ai_psychiatrist.interview.phq8.free_answers import ReadingKind, read_answer
from ai_psychiatrist.interview.record import Interview, ProtocolReference

PHQ8 = PROTOCOLS["phq8"]

_SAYINGS = st.sampled_from(
    [
        *("three days and every day", "pass", "every day", "it varies", "3 days", "yes", "no", "…"),
        *("My sister has a red car.", "3", "stop", "brb", "who reads this?", "hi", "👍", "sleep"),
        *("wait, three days", "most days, sorry", "sleep was every day", "nearly every day"),
        *("yes, but about sleep, it was every night", "I was wrong about sleep", "the first one"),
        *("I'd rather not say", "I was tired on four days", "no, energy was low on two days"),
    ]
)
_OF_ONE_ITEM = {QuestionPurpose.ASK, QuestionPurpose.READ_BACK, QuestionPurpose.ONCE_MORE}
_MAY_BE_EARLIER = re.compile(r"wait|sorry|first one|^\s*\*")
_ANSWERS = st.lists(st.integers(0, 6) | _SAYINGS | st.text(min_size=1), min_size=1, max_size=24)


def answered(interview: Interview, answer: int | str) -> Interview:
    """Answer the question that waits: by the option at a place, or in words."""
    question = interview.question
    assert question is not None
    at = question.options
    option = at[answer % len(at)] if isinstance(answer, int) and at else None
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
    interview = begun(unknown)
    while interview.question is not None:
        before = interview
        assert interview.goal(interview.question.goal_id).item in unknown
        interview = answered(interview, answers[interview.turn % len(answers)])
        for reading in interview.readings[len(before.readings) :]:
            # Nothing counts that nobody has chosen, said in these words, or confirmed.
            is_read = read_answer(reading.item, reading.quote.text if reading.quote else "")
            is_proposed = before.open_proposal(reading.item) is not None
            assert reading.score is None or is_read.kind is ReadingKind.ANCHOR or is_proposed
    assert interview.state is InterviewState.DONE
    assert interview.turn <= 81
    assert all(goal.asks <= 3 for goal in interview.goals)
    for act in interview.acts:
        assert 0 <= act.start <= act.end <= len(interview.words_of(act.turn))
    for outcome in item_outcomes(interview):
        assert outcome.source is not ItemSource.TRANSCRIPT or outcome.item not in unknown
        assert (outcome.source is ItemSource.ANSWER) is (
            outcome.score is not None and outcome.item in unknown
        )
        if outcome.quote is not None:
            said = interview.words_of(outcome.answer_turn or 0)
            assert said[outcome.quote.start : outcome.quote.end] == outcome.quote.text


@given(answers=_ANSWERS)
def test_a_score_comes_of_its_own_question_and_changes_after_words_about_its_item(
    answers: list[int | str],
) -> None:
    interview = begun(frozenset(Item))
    while interview.question is not None:
        before, question = interview, interview.question
        interview = answered(interview, answers[interview.turn % len(answers)])
        words = interview.words_of(interview.turn)
        for old, new in zip(item_outcomes(before), item_outcomes(interview), strict=True):
            is_asked = before.goal(question.goal_id).item is old.item
            if old.score == new.score or question.purpose not in _OF_ONE_ITEM:
                continue
            assert new.score is None or is_asked
            is_meant = bool(named_items(words, [old.item])) or _MAY_BE_EARLIER.search(words)
            assert is_asked or is_meant


@given(answers=_ANSWERS)
def test_the_same_answers_always_lead_to_the_same_interview(answers: list[int | str]) -> None:
    first = begun(frozenset(Item))
    second = replace(first)
    for answer in answers:
        if first.state.is_over:
            break
        first, second = answered(first, answer), answered(second, answer)
    assert first == second
