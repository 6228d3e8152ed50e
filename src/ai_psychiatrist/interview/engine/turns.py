"""Steps that every interview takes, whatever it is after; each gives the interview that follows."""

from collections.abc import Iterable
from dataclasses import replace

from ai_psychiatrist.domain.interview import (
    EndReason,
    GivenAnswer,
    Goal,
    GoalStatus,
    InterviewState,
    Message,
    MessageSpeaker,
    Question,
)
from ai_psychiatrist.domain.normal_form import nfkc
from ai_psychiatrist.interview.engine.record import GoalProgress, Interview
from ai_psychiatrist.interview.protocol.placeholders import filled
from ai_psychiatrist.interview.protocol.records import InterviewProtocol, ProtocolKind
from ai_psychiatrist.interview.snapshot import Danger


def say(interview: Interview, text: str, speaker: MessageSpeaker) -> Interview:
    """Add an utterance; an empty one adds nothing."""
    if not text:
        return interview
    message = Message(
        id=f"m{len(interview.messages) + 1}", speaker=speaker, text=text, turn=interview.turn
    )
    return replace(interview, messages=(*interview.messages, message))


def put_question(
    protocol: InterviewProtocol, interview: Interview, question: Question, *, notice: str = ""
) -> Interview:
    """Ask a question; the first one after the protocol's introduction."""
    if not interview.messages:
        notice = filled(protocol.texts.introduction, interview.inputs)
    spoken = say(interview, notice, MessageSpeaker.INTERVIEWER)
    spoken = say(spoken, question.text, MessageSpeaker.INTERVIEWER)
    goal = interview.goal(question.goal_id)
    return replace(
        with_goals(spoken, [replace(goal, asks=goal.asks + 1)]),
        state=InterviewState.AWAITING,
        question=question,
        answer=None,
        answer_key=None,
        failure=None,
        failed_from=None,
    )


def take_answer(interview: Interview, answer: GivenAnswer, key: str) -> Interview:
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
    """Ask nothing more and say the fixed words for danger."""
    held = say(interview, protocol.safety.hold, MessageSpeaker.INTERVIEWER)
    return replace(
        _closed(held),
        state=InterviewState.SAFETY_HOLD,
        end_reason=EndReason.SAFETY,
        danger=danger,
    )


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
    asked = {
        _compared(message.text)
        for message in interview.messages
        if message.speaker is MessageSpeaker.INTERVIEWER
    }
    return _compared(text) in asked


def next_question_id(interview: Interview) -> str:
    """Return the id of the question that is put next."""
    return f"q{sum(goal.asks for goal in interview.goals) + 1}"


def _closed(interview: Interview) -> Interview:
    return replace(
        interview, question=None, answer=None, answer_key=None, failure=None, failed_from=None
    )


def _gains(before: Goal, after: Goal) -> bool:
    is_newly_complete = (
        after.status is GoalStatus.COMPLETE and before.status is not GoalStatus.COMPLETE
    )
    return is_newly_complete or after.confidence > before.confidence


def _compared(text: str) -> str:
    """Return a text as it is compared: without case, and with one space between words."""
    return " ".join(nfkc(text).casefold().split())
