"""The eight items after an interview: what the transcript said, and what the answers add.

Of several interviews about one assessment, each item has the answer of the latest that answered it.
"""

from collections.abc import Sequence
from dataclasses import replace

from ai_psychiatrist.domain.interview import Goal, InterviewState
from ai_psychiatrist.domain.interview_items import (
    AssessedItem,
    ItemOutcome,
    ItemSource,
    SaidOfItem,
    UnansweredReason,
)
from ai_psychiatrist.domain.phq8 import Item, UnknownReason
from ai_psychiatrist.interview.record import Interview
from ai_psychiatrist.store.interviews import id_hash


def counts(interview: Interview) -> bool:
    """Return whether the answers count for the assessment that the interview is about."""
    return interview.state is InterviewState.DONE and is_about_items(interview)


def is_about_items(interview: Interview) -> bool:
    """Return whether an interview asks about items, and not about goals."""
    return any(goal.item for goal in interview.goals) or interview.assessment is not None


def item_outcomes(
    interview: Interview, earlier: Sequence[Interview] = ()
) -> tuple[ItemOutcome, ...]:
    """Return all items as they stand now, in the order of the instrument.

    `earlier`: the interviews that count and were begun before about the same assessment, the
    newest first; what this one has not answered is taken from them.
    """
    goals = {goal.item: goal for goal in interview.goals}
    known = interview.assessment.items if interview.assessment else {}
    own = (_outcome(interview, item, goals.get(item), known.get(item)) for item in Item)
    return tuple(one if one.score is not None else _before(one, earlier) for one in own)


def answered_in(interviews: Sequence[Interview]) -> tuple[Item, ...]:
    """Return the items that answers in any of some interviews have scored."""
    found = {
        one.item
        for interview in interviews
        for one in item_outcomes(interview)
        if one.source is ItemSource.ANSWER
    }
    return tuple(item for item in Item if item in found)


def _before(own: ItemOutcome, earlier: Sequence[Interview]) -> ItemOutcome:
    """Return the answer of the latest earlier interview that has one, else what there is."""
    for interview in earlier:
        found = next(one for one in item_outcomes(interview) if one.item is own.item)
        if found.source is ItemSource.ANSWER:
            return replace(
                found,
                source=ItemSource.EARLIER_ANSWER,
                interview=id_hash(interview.id),
                transcript_reason=own.transcript_reason,
                said=own.said,
            )
    return own


def _outcome(
    interview: Interview, item: Item, goal: Goal | None, assessed: AssessedItem | None
) -> ItemOutcome:
    if goal is None and assessed is not None and assessed.score is not None:
        return ItemOutcome(
            item=item,
            score=assessed.score,
            unknown_reason=None,
            source=ItemSource.TRANSCRIPT,
            evidence=assessed.evidence,
        )
    return _answered(interview, item, goal, assessed.unknown_reason if assessed else None)


def _in_question(interview: Interview) -> tuple[Item, ...]:
    """Return the items of which the person has still to say whether an answer is meant so."""
    correction = interview.open_correction
    asked = correction.items if correction is not None else ()
    return (*asked, *(item for item in Item if interview.open_proposal(item) is not None))


def _said(interview: Interview, item: Item) -> tuple[SaidOfItem, ...]:
    """Return all that was said to an item, in order."""
    return tuple(
        SaidOfItem(
            turn=one.turn,
            words=interview.words_of(one.turn)[one.start : one.end],
            act=one.act,
            score=one.score,
            unclear=one.unclear,
            source=one.source,
        )
        for one in interview.acts
        if one.item is item
    )


def _answered(
    interview: Interview, item: Item, goal: Goal | None, before: UnknownReason | None
) -> ItemOutcome:
    readings = interview.readings_of(item)
    last = readings[-1] if readings else None
    is_in_question, said = item in _in_question(interview), _said(interview, item)
    if last is not None and last.score is not None and not is_in_question:
        return ItemOutcome(
            item=item,
            score=last.score,
            unknown_reason=None,
            source=ItemSource.ANSWER,
            answer_turn=last.turn,
            quote=last.quote,
            confirmed_turn=last.confirmed_turn,
            transcript_reason=before,
            said=said,
        )
    behind = interview.behind
    is_held = interview.state is InterviewState.SAFETY_HOLD and behind is not None
    if is_held and behind is not None and goal is not None and behind.goal_id == goal.id:
        reason = UnansweredReason.SAFETY_HOLD
    elif is_in_question:
        reason = UnansweredReason.AMBIGUOUS_ANSWER
    elif last is not None and last.reason is not None:
        reason = last.reason
    else:
        is_asked = goal is not None and goal.asks > 0
        reason = UnansweredReason.NOT_ANSWERED if is_asked else UnansweredReason.NOT_ASKED
    return ItemOutcome(
        item=item,
        score=None,
        unknown_reason=reason,
        source=ItemSource.NONE,
        answer_turn=last.turn if last else None,
        transcript_reason=before,
        said=said,
    )
