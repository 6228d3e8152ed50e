"""Steps that every interview takes, whatever it is after; each gives the interview that follows."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from ai_psychiatrist.agents.interview.outputs import same_words
from ai_psychiatrist.domain.interview import (
    AnswerKind,
    AnswerOption,
    EndReason,
    GivenAnswer,
    Goal,
    GoalStatus,
    InterviewState,
    Message,
    MessageSpeaker,
    Question,
)
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.protocol.placeholders import filled
from ai_psychiatrist.interview.protocol.records import InterviewProtocol, ProtocolKind
from ai_psychiatrist.interview.record import Danger, GoalProgress, Interview


def say(interview: Interview, text: str, speaker: MessageSpeaker) -> Interview:
    """Add an utterance; an empty one adds nothing."""
    if not text:
        return interview
    message = Message(
        id=f"m{len(interview.messages) + 1}", speaker=speaker, text=text, turn=interview.turn
    )
    return replace(interview, messages=(*interview.messages, message))


class Offered(NamedTuple):
    """An answer that may be chosen."""

    text: str
    kind: AnswerKind
    score: int | None = None
    rationale: str = ""
    item: Item | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """How a goal is asked for."""

    text: str
    offered: tuple[Offered, ...]
    is_clarifying: bool = False
    is_ask: bool = True
    """Whether it asks for the goal itself, and not what an answer was about."""
    rationale: str = ""


def put_question(
    protocol: InterviewProtocol,
    interview: Interview,
    goal_id: str,
    wording: Wording,
    *,
    notice: str = "",
) -> Interview:
    """Ask for a goal; the first time after the protocol's introduction.

    A refusal stands last among the answers where the protocol has one.
    """
    if not interview.messages:
        notice = filled(protocol.texts.introduction, interview.inputs)
    spoken = say(interview, notice, MessageSpeaker.INTERVIEWER)
    spoken = say(spoken, wording.text, MessageSpeaker.INTERVIEWER)
    goal, policy = interview.goal(goal_id), protocol.answers
    decline = [] if policy.decline is None else [Offered(policy.decline, AnswerKind.DECLINE)]
    question = Question(
        id=f"q{interview.turn + 1}",
        text=wording.text,
        goal_id=goal_id,
        options=tuple(
            AnswerOption(id=f"a{number}", **one._asdict())
            for number, one in enumerate([*wording.offered, *decline], start=1)
        ),
        allows_free_text=policy.free_text,
        turn=interview.turn + 1,
        rationale=wording.rationale,
        is_clarifying=wording.is_clarifying,
    )
    return replace(
        with_goals(spoken, [replace(goal, asks=goal.asks + wording.is_ask)]),
        state=InterviewState.AWAITING,
        question=question,
        answer=None,
        answer_key=None,
        failure=None,
    )


def with_answer(interview: Interview, answer: GivenAnswer, key: str) -> Interview:
    """Put an answer down, to be worked in next."""
    taken = replace(
        interview,
        state=InterviewState.DIGESTING,
        turn=answer.turn,
        answer=answer,
        answer_key=key,
        drift=None,
    )
    return say(taken, answer.text, MessageSpeaker.PARTICIPANT)


def end(protocol: InterviewProtocol, interview: Interview, reason: EndReason) -> Interview:
    """Ask nothing more and take leave; a report that a model writes is still to come."""
    closing = filled(protocol.texts.closing, interview.inputs)
    is_items = protocol.kind is ProtocolKind.ITEMS
    return replace(
        _closed(say(interview, closing, MessageSpeaker.INTERVIEWER)),
        state=InterviewState.DONE if is_items else InterviewState.REPORTING,
        end_reason=reason,
    )


def hold(protocol: InterviewProtocol, interview: Interview, danger: Danger) -> Interview:
    """Ask nothing more and say the fixed words for danger; a reopening puts the question again."""
    held = say(interview, protocol.safety.hold, MessageSpeaker.INTERVIEWER)
    return replace(
        _closed(held),
        state=InterviewState.SAFETY_HOLD,
        end_reason=EndReason.SAFETY,
        danger=danger,
        question=interview.question,
    )


def put_again(
    protocol: InterviewProtocol, interview: Interview, question: Question, *, notice: str
) -> Interview:
    """Put a question a second time, which does not count as asked for its goal once more."""
    offered = tuple(
        Offered(one.text, one.kind, one.score, one.rationale, one.item)
        for one in question.options
        if one.kind is not AnswerKind.DECLINE
    )
    wording = Wording(
        text=question.text,
        offered=offered,
        is_clarifying=question.is_clarifying,
        is_ask=False,
        rationale=question.rationale,
    )
    return put_question(protocol, interview, question.goal_id, wording, notice=notice)


def with_goals(interview: Interview, changed: Iterable[Goal]) -> Interview:
    """Put changed goals in the place of those with the same ids."""
    by_id = {goal.id: goal for goal in changed}
    return replace(interview, goals=tuple(by_id.get(goal.id, goal) for goal in interview.goals))


def with_progress(interview: Interview, changed: tuple[Goal, ...]) -> Interview:
    """Put changed goals in place, and count whether any of them gained."""
    gained = any(_gains(interview.goal(goal.id), goal) for goal in changed)
    history = tuple(
        GoalProgress(
            turn=interview.turn, goal_id=goal.id, confidence=goal.confidence, status=goal.status
        )
        for goal in changed
    )
    return replace(
        with_goals(interview, changed),
        progress=(*interview.progress, *history),
        stalled_turns=0 if gained else interview.stalled_turns + 1,
    )


def is_repeated(interview: Interview, text: str) -> bool:
    """Return whether the interviewer has said the same words before."""
    return same_words(text) in map(same_words, said_by_interviewer(interview))


def said_by_interviewer(interview: Interview) -> tuple[str, ...]:
    """Return the interviewer's utterances in their order."""
    return tuple(
        message.text
        for message in interview.messages
        if message.speaker is MessageSpeaker.INTERVIEWER
    )


def _closed(interview: Interview) -> Interview:
    return replace(interview, question=None, answer=None, answer_key=None, failure=None)


def _gains(before: Goal, after: Goal) -> bool:
    is_newly_complete = (
        after.status is GoalStatus.COMPLETE and before.status is not GoalStatus.COMPLETE
    )
    return is_newly_complete or after.confidence > before.confidence
