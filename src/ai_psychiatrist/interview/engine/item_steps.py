"""An interview about items of the PHQ-8: written questions, read answers."""

from dataclasses import replace
from typing import Final

from ai_psychiatrist.domain.interview import (
    AnswerKind,
    Drift,
    EndReason,
    GivenAnswer,
    Goal,
    GoalStatus,
    Question,
)
from ai_psychiatrist.domain.interview_items import (
    AnswerQuote,
    Correction,
    ProposalOutcome,
    UnansweredReason,
)
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.engine.confirmation import (
    anchors_of,
    confirmed,
    confirming_wording,
    reading_of_reply,
    settled,
)
from ai_psychiatrist.interview.engine.correction import (
    asking_wording,
    correction_in,
    goal_of,
    settled_correction,
    unclear_readings,
)
from ai_psychiatrist.interview.engine.turns import (
    Wording,
    end,
    is_repeated,
    put_question,
    with_progress,
)
from ai_psychiatrist.interview.engine.words import words_read
from ai_psychiatrist.interview.protocol.records import DriftPolicy, InterviewProtocol
from ai_psychiatrist.interview.record import Interview, ItemReading

_UNSCORED: Final = {
    AnswerKind.DECLINE: UnansweredReason.DECLINED,
    AnswerKind.REJECT: UnansweredReason.AMBIGUOUS_ANSWER,
}
_UNCLEAR: Final = frozenset({UnansweredReason.AMBIGUOUS_ANSWER, UnansweredReason.UNREADABLE_ANSWER})
_CERTAIN: Final = 100


def begin_items(protocol: InterviewProtocol, interview: Interview) -> Interview:
    """Make a goal of each unknown item and ask for the first; without any the interview ends."""
    unknown = interview.assessment.unknown if interview.assessment else tuple(Item)
    goals = tuple(
        Goal(id=f"g{number}", text=item.label, item=item)
        for number, item in enumerate(unknown, start=1)
    )
    return _ask_or_end(protocol, replace(interview, goals=goals))


def digest_item_answer(protocol: InterviewProtocol, interview: Interview) -> Interview:
    """Work the stored answer in and go on; an interview without one stays as it is.

    What a model took the answer for, where one was asked, is put to the person. So is what seems
    to correct an earlier answer: which question it is about.
    """
    question, answer = interview.question, interview.answer
    if question is None or answer is None:
        return interview
    goal = interview.goal(question.goal_id)
    if goal.item is None:
        return interview
    if interview.open_correction is not None:
        return _ask_or_end(protocol, _with_readings(*settled_correction(interview, answer)))
    correction = correction_in(interview)
    if correction is not None:
        return _ask_or_end(protocol, _with_correction(interview, correction))
    reading = _read(goal.item, question, answer, interview)
    worked_in = replace(
        interview,
        readings=(*interview.readings, reading),
        proposals=settled(interview, reading) if question.is_confirmation else interview.proposals,
        drift=_drift(protocol, answer, reading),
    )
    return _ask_or_end(protocol, with_progress(worked_in, (_updated(goal, reading),)))


def _with_correction(interview: Interview, correction: Correction) -> Interview:
    """Return an interview in which it is open what an answer is about; asked once for each item.

    The next time neither the item that was asked about nor the earlier one has a score any more.
    """
    if any(one.current is correction.current for one in interview.corrections):
        return _with_readings(interview, unclear_readings(correction))
    return replace(interview, corrections=(*interview.corrections, correction))


def _with_readings(interview: Interview, readings: tuple[ItemReading, ...]) -> Interview:
    """Add what an answer said of several items, or of another one than was asked about."""
    updated = tuple(_updated(goal_of(interview, reading.item), reading) for reading in readings)
    read = replace(interview, readings=(*interview.readings, *readings))
    return with_progress(read, updated)


def _read(item: Item, question: Question, answer: GivenAnswer, interview: Interview) -> ItemReading:
    option = question.chosen(answer)
    if option is None:
        by_rules = _read_words(item, answer, was_declined=interview.was_declined(item))
        if not question.is_confirmation:
            return by_rules
        return reading_of_reply(interview.proposals[-1], answer, by_rules)
    if option.kind is AnswerKind.CONFIRM:
        return confirmed(interview.proposals[-1], answer.turn)
    is_anchor = option.kind is AnswerKind.ANCHOR
    return ItemReading(
        item=item,
        turn=answer.turn,
        score=option.score if is_anchor else None,
        reason=_UNSCORED.get(option.kind),
        quote=AnswerQuote(text=answer.text, start=0, end=len(answer.text)) if is_anchor else None,
    )


def _read_words(item: Item, answer: GivenAnswer, *, was_declined: bool) -> ItemReading:
    reading = words_read(item, answer.text, was_declined=was_declined)
    return ItemReading(
        item=item,
        turn=answer.turn,
        score=reading.score,
        reason=reading.reason,
        quote=reading.quote,
    )


def _drift(protocol: InterviewProtocol, answer: GivenAnswer, reading: ItemReading) -> Drift | None:
    if answer.option_id is not None or protocol.drift is DriftPolicy.NEVER:
        return None
    if reading.reason is not UnansweredReason.OFF_TOPIC:
        return Drift(is_addressed=True)
    return Drift(is_addressed=False, reason=reading.reason.value, redirect=protocol.texts.redirect)


def _updated(goal: Goal, reading: ItemReading) -> Goal:
    if reading.score is None:
        return replace(goal, status=GoalStatus.IN_PROGRESS, confidence=0)
    return replace(goal, status=GoalStatus.COMPLETE, confidence=_CERTAIN)


def _ask_or_end(protocol: InterviewProtocol, interview: Interview) -> Interview:
    if all(goal.status is GoalStatus.COMPLETE for goal in interview.goals):
        return end(protocol, interview, EndReason.ALL_RESOLVED)
    is_to_confirm = any(one.outcome is ProposalOutcome.OPEN for one in interview.proposals)
    if not is_to_confirm and _asked_turns(interview) >= protocol.stop.max_turns:
        return end(protocol, interview, EndReason.TURNS_SPENT)
    correction = interview.open_correction
    if correction is not None:
        asking = asking_wording(protocol.answers.correction, correction)
        return put_question(protocol, interview, goal_of(interview, correction.current).id, asking)
    for goal in _in_order(interview):
        wording = _next_wording(protocol, interview, goal)
        if wording is not None:
            notice = _notice(interview, goal)
            return put_question(protocol, interview, goal.id, wording, notice=notice)
    return end(protocol, interview, EndReason.ASKS_SPENT)


def _asked_turns(interview: Interview) -> int:
    """Return how many answers were given to the protocol's own questions."""
    return interview.turn - sum(proposal.is_settled for proposal in interview.proposals)


def _notice(interview: Interview, goal: Goal) -> str:
    """Return what leads back to a goal from which the last answer led away."""
    is_same = bool(interview.readings) and interview.readings[-1].item is goal.item
    return interview.drift.redirect if interview.drift and is_same else ""


def _in_order(interview: Interview) -> tuple[Goal, ...]:
    """Return the goals as they are asked for: one just answered unclearly, new ones, refused ones.

    A refused item is only come back to at the end, so that nobody is pressed.
    """
    again = {
        reading.item
        for reading in interview.readings
        if reading.turn == interview.readings[-1].turn
        and reading.reason not in {None, UnansweredReason.DECLINED}
    }
    return tuple(sorted(interview.goals, key=lambda goal: (goal.item not in again, goal.asks > 0)))


def _next_wording(protocol: InterviewProtocol, interview: Interview, goal: Goal) -> Wording | None:
    """Return how a goal is asked for next, `None` when it is asked for no more."""
    most = protocol.stop.max_asks
    if goal.item is None or goal.status is GoalStatus.COMPLETE:
        return None
    proposal = interview.proposal_for(goal.item)
    if proposal is not None and proposal.outcome is ProposalOutcome.OPEN:
        return confirming_wording(protocol.answers, proposal)
    asks = goal.asks - (proposal is not None and proposal.is_settled)
    if most is not None and asks >= most:
        return None
    stem, anchors = protocol.items[goal.item], anchors_of(protocol.answers)
    if not asks and not is_repeated(interview, stem.question):
        return Wording(text=stem.question, offered=anchors)
    clarifying = Wording(text=stem.clarifying, offered=anchors, is_clarifying=True)
    again = Wording(text=stem.second_ask, offered=anchors)
    readings = interview.readings_of(goal.item)
    if readings and readings[-1].reason in _UNCLEAR:
        # What one clarifying question did not make clear stays unknown.
        return None if is_repeated(interview, clarifying.text) else clarifying
    unused = (w for w in (again, clarifying) if not is_repeated(interview, w.text))
    return next(unused, None)
