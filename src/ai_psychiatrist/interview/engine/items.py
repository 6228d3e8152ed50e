"""An interview about items of the PHQ-8: written questions, read answers, no model."""

from dataclasses import dataclass, replace
from typing import Final

from ai_psychiatrist.domain.interview import (
    AnswerKind,
    AnswerOption,
    AnswerQuote,
    Drift,
    EndReason,
    GivenAnswer,
    Goal,
    GoalStatus,
    InterviewState,
    Question,
    UnansweredReason,
)
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.engine.record import Interview, ItemReading
from ai_psychiatrist.interview.engine.turns import (
    end,
    is_repeated,
    next_question_id,
    put_question,
    with_progress,
)
from ai_psychiatrist.interview.phq8.reading import ReadingKind, read_answer
from ai_psychiatrist.interview.protocol.records import DriftPolicy, InterviewProtocol

_REASONS: Final = {
    ReadingKind.AMBIGUOUS: UnansweredReason.AMBIGUOUS_ANSWER,
    ReadingKind.DECLINED: UnansweredReason.DECLINED,
    ReadingKind.OFF_TOPIC: UnansweredReason.OFF_TOPIC,
    ReadingKind.UNREADABLE: UnansweredReason.UNREADABLE_ANSWER,
}
_UNCLEAR: Final = frozenset({UnansweredReason.AMBIGUOUS_ANSWER, UnansweredReason.UNREADABLE_ANSWER})
_CERTAIN: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wording:
    text: str
    is_clarifying: bool


def begin_items(protocol: InterviewProtocol, interview: Interview) -> Interview:
    """Make a goal of each unknown item and ask for the first; without any the interview ends."""
    unknown = interview.assessment.unknown if interview.assessment else tuple(Item)
    goals = tuple(
        Goal(id=f"g{number}", text=item.label, item=item)
        for number, item in enumerate(unknown, start=1)
    )
    return _ask_or_end(protocol, replace(interview, goals=goals, state=InterviewState.ASKING))


def digest_item_answer(protocol: InterviewProtocol, interview: Interview) -> Interview:
    """Work the stored answer in and go on; an interview without one stays as it is."""
    question, answer = interview.question, interview.answer
    if question is None or answer is None:
        return interview
    goal = interview.goal(question.goal_id)
    if goal.item is None:
        return interview
    reading = _read(goal.item, question, answer)
    worked_in = replace(
        interview,
        readings=(*interview.readings, reading),
        drift=_drift(protocol, answer, reading),
        state=InterviewState.ASKING,
    )
    return _ask_or_end(protocol, with_progress(worked_in, (_updated(goal, reading),)))


def _read(item: Item, question: Question, answer: GivenAnswer) -> ItemReading:
    option = None if answer.option_id is None else question.option(answer.option_id)
    if option is None:
        return _read_words(item, question, answer)
    is_anchor = option.kind is AnswerKind.ANCHOR
    return ItemReading(
        item=item,
        turn=answer.turn,
        score=option.score if is_anchor else None,
        reason=None if is_anchor else UnansweredReason.DECLINED,
        quote=_quote(answer.text, 0, len(answer.text)) if is_anchor else None,
    )


def _read_words(item: Item, question: Question, answer: GivenAnswer) -> ItemReading:
    reading = read_answer(item, question.text, answer.text)
    quote = reading.quote if reading.kind is ReadingKind.SCORE else None
    return ItemReading(
        item=item,
        turn=answer.turn,
        score=reading.score if reading.kind is ReadingKind.SCORE else None,
        reason=_REASONS.get(reading.kind),
        quote=None if quote is None else _quote(answer.text, quote.start, quote.end),
    )


def _quote(text: str, start: int, end_: int) -> AnswerQuote:
    return AnswerQuote(text=text[start:end_], start=start, end=end_)


def _drift(protocol: InterviewProtocol, answer: GivenAnswer, reading: ItemReading) -> Drift | None:
    if answer.option_id is not None or protocol.drift is DriftPolicy.NEVER:
        return None
    if reading.reason is not UnansweredReason.OFF_TOPIC:
        return Drift(is_addressed=True)
    return Drift(
        is_addressed=False, reason=reading.reason.value, redirect=protocol.sentences.redirect
    )


def _updated(goal: Goal, reading: ItemReading) -> Goal:
    if reading.score is None:
        return replace(goal, status=GoalStatus.IN_PROGRESS)
    return replace(goal, status=GoalStatus.COMPLETE, confidence=_CERTAIN)


def _ask_or_end(protocol: InterviewProtocol, interview: Interview) -> Interview:
    if all(goal.status is GoalStatus.COMPLETE for goal in interview.goals):
        return end(protocol, interview, EndReason.ALL_RESOLVED)
    if interview.turn >= protocol.stop.max_turns:
        return end(protocol, interview, EndReason.TURNS_SPENT)
    for goal in _in_order(interview):
        wording = _next_wording(protocol, interview, goal)
        if wording is not None:
            question = _question(protocol, interview, goal, wording)
            return put_question(protocol, interview, question, notice=_notice(interview, goal))
    return end(protocol, interview, EndReason.ASKS_SPENT)


def _notice(interview: Interview, goal: Goal) -> str:
    """Return what leads back to a goal from which the last answer led away."""
    is_same = bool(interview.readings) and interview.readings[-1].item is goal.item
    return interview.drift.redirect if interview.drift and is_same else ""


def _in_order(interview: Interview) -> tuple[Goal, ...]:
    """Return the goals as they are asked for: one just answered unclearly, new ones, refused ones.

    A refused item is only come back to at the end, so that nobody is pressed.
    """
    last = interview.readings[-1] if interview.readings else None
    is_unclear = last is not None and last.reason not in {None, UnansweredReason.DECLINED}
    again = {last.item} if last is not None and is_unclear else set()
    return tuple(sorted(interview.goals, key=lambda goal: (goal.item not in again, goal.asks > 0)))


def _next_wording(protocol: InterviewProtocol, interview: Interview, goal: Goal) -> _Wording | None:
    """Return how a goal is asked for next, `None` when it is asked for no more."""
    most = protocol.stop.max_asks
    if goal.item is None or goal.status is GoalStatus.COMPLETE:
        return None
    if most is not None and goal.asks >= most:
        return None
    stem = protocol.stems[goal.item]
    if not goal.asks:
        return _Wording(text=stem.question, is_clarifying=False)
    clarifying = _Wording(text=stem.clarifying, is_clarifying=True)
    again = _Wording(text=stem.second_ask, is_clarifying=False)
    readings = interview.readings_of(goal.item)
    if readings and readings[-1].reason in _UNCLEAR:
        # What one clarifying question did not make clear stays unknown.
        return None if is_repeated(interview, clarifying.text) else clarifying
    unused = (w for w in (again, clarifying) if not is_repeated(interview, w.text))
    return next(unused, None)


def _question(
    protocol: InterviewProtocol, interview: Interview, goal: Goal, wording: _Wording
) -> Question:
    policy = protocol.answers
    anchors = [(anchor.text, AnswerKind.ANCHOR, anchor.score) for anchor in policy.anchors]
    decline = [] if policy.decline is None else [(policy.decline, AnswerKind.DECLINE, None)]
    return Question(
        id=next_question_id(interview),
        text=wording.text,
        goal_id=goal.id,
        options=tuple(
            AnswerOption(id=f"a{number}", text=text, kind=kind, score=score)
            for number, (text, kind, score) in enumerate([*anchors, *decline], start=1)
        ),
        allows_free_text=policy.allows_free_text,
        turn=interview.turn + 1,
        is_clarifying=wording.is_clarifying,
    )
