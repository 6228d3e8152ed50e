"""The records of an interview keep their promises."""

import pytest

from ai_psychiatrist.domain.interview import (
    AnswerKind,
    AnswerOption,
    GivenAnswer,
    InterviewState,
    InterviewView,
    Message,
    MessageSpeaker,
    Question,
)
from ai_psychiatrist.domain.interview_items import (
    AssessedItem,
    AssessmentInput,
    ItemOutcome,
    ItemSource,
    UnansweredReason,
)
from ai_psychiatrist.domain.phq8 import Item, total_of

SECRET = "SECRET-WORDS"


@pytest.mark.parametrize(
    ("score", "reason"),
    [
        pytest.param(None, None, id="neither"),
        pytest.param(0, UnansweredReason.DECLINED, id="both"),
    ],
)
def test_an_item_has_either_a_score_or_a_reason(
    score: int | None, reason: UnansweredReason | None
) -> None:
    with pytest.raises(ValueError, match="either"):
        ItemOutcome(item=Item.SLEEP, score=score, unknown_reason=reason, source=ItemSource.NONE)


def test_a_total_is_a_range_while_an_item_is_unknown() -> None:
    known = [
        ItemOutcome(item=item, score=1, unknown_reason=None, source=ItemSource.TRANSCRIPT)
        for item in Item
    ]
    unknown = ItemOutcome(
        item=Item.MOVING,
        score=None,
        unknown_reason=UnansweredReason.DECLINED,
        source=ItemSource.NONE,
    )
    assert total_of(one.score for one in known).total_score == 8
    total = total_of(one.score for one in (*known[:-1], unknown))
    assert (total.total_score_min, total.total_score_max, total.total_score) == (7, 10, None)


def test_unknown_items_come_in_the_order_of_the_instrument() -> None:
    items = {
        Item.MOVING: AssessedItem(score=None),
        Item.SLEEP: AssessedItem(score=0),
        Item.DEPRESSED: AssessedItem(score=3),
    }
    unknown = AssessmentInput(items=items).unknown
    assert unknown == tuple(item for item in Item if item not in {Item.SLEEP, Item.DEPRESSED})


def test_no_record_shows_words_in_its_repr() -> None:
    option = AnswerOption(id="a1", text=SECRET, kind=AnswerKind.OFFERED, rationale=SECRET)
    question = Question(
        id="q1",
        text=SECRET,
        goal_id="g1",
        options=(option,),
        allows_free_text=True,
        turn=1,
        rationale=SECRET,
    )
    answer = GivenAnswer(question_id="q1", option_id=None, text=SECRET, turn=1)
    message = Message(id="m1", speaker=MessageSpeaker.PARTICIPANT, text=SECRET, turn=1)
    view = InterviewView(
        title=SECRET,
        summary=SECRET,
        interviewee_name=SECRET,
        interviewee_role=SECRET,
        tone=SECRET,
        messages=(message,),
        question=question,
        answer=answer,
        redirect=SECRET,
        guidelines={"generate_goals": SECRET},
    )
    assert SECRET not in repr(view)


@pytest.mark.parametrize("state", InterviewState)
def test_only_an_interview_that_is_over_takes_no_answers(state: InterviewState) -> None:
    over = {"reporting", "done", "safety_hold"}
    assert state.is_over is (state.value in over)


def test_an_option_that_was_not_offered_is_none() -> None:
    option = AnswerOption(id="a1", text="yes", kind=AnswerKind.OFFERED)
    question = Question(
        id="q1", text="?", goal_id="g1", options=(option,), allows_free_text=False, turn=1
    )
    assert question.option("a1") is option
    assert question.option("a2") is None
