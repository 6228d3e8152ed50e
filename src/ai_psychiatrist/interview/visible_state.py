"""Make what a caller may see out of the whole state."""

import hashlib
from dataclasses import dataclass
from typing import Final

from pydantic import TypeAdapter

from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.interview import (
    EndReason,
    Goal,
    InterviewState,
    Message,
    MessageSpeaker,
    Proposal,
)
from ai_psychiatrist.interview.engine.record import UNDER_WAY, Interview, ItemReading
from ai_psychiatrist.interview.engine.serial import state_hash
from ai_psychiatrist.interview.phq8_update import item_report
from ai_psychiatrist.interview.protocol.placeholders import filled
from ai_psychiatrist.interview.protocol.records import InterviewProtocol, ProtocolKind
from ai_psychiatrist.interview.snapshot import (
    GoalShown,
    InterviewReport,
    InterviewSnapshot,
    OptionShown,
    QuestionShown,
)


def snapshot_of(protocol: InterviewProtocol, interview: Interview) -> InterviewSnapshot:
    """Return an interview as its caller sees it."""
    is_items = protocol.kind is ProtocolKind.ITEMS
    return InterviewSnapshot(
        id=interview.id,
        protocol_id=protocol.id,
        protocol_version=protocol.version,
        kind=protocol.kind.value,
        title=filled(protocol.title, interview.inputs),
        state=interview.state,
        version=interview.version,
        turn=interview.turn,
        notice=_notice(interview),
        question=_question(interview),
        goals=tuple(map(_goal, interview.goals)),
        messages=interview.messages,
        items=item_report(interview).items if is_items else (),
        proposals=interview.proposals,
        end_reason=interview.end_reason,
        danger=interview.danger,
        not_examined=interview.not_examined,
        danger_readings=interview.danger_readings,
        failure=interview.failure,
        is_resumable=is_resumable(interview),
        model_calls=interview.spent.calls,
        state_hash=state_hash(interview),
    )


def is_resumable(interview: Interview) -> bool:
    """Return whether a step was cut short or failed and can be tried again."""
    if interview.state in UNDER_WAY:
        return True
    has_budget = interview.failure is not FailureCode.CALL_BUDGET_SPENT
    return interview.state is InterviewState.FAILED and has_budget


def report_of(protocol: InterviewProtocol, interview: Interview) -> InterviewReport:
    """Return what came out of an interview that is over."""
    is_items = protocol.kind is ProtocolKind.ITEMS
    return InterviewReport(
        interview_id=interview.id,
        protocol_id=protocol.id,
        protocol_version=protocol.version,
        kind=protocol.kind.value,
        state=interview.state,
        end_reason=interview.end_reason,
        items=item_report(interview) if is_items else None,
        proposals=interview.proposals,
        analysis=interview.analysis,
        goals=tuple(map(_goal, interview.goals)),
        facts=interview.facts,
        danger=interview.danger,
        not_examined=interview.not_examined,
        danger_readings=interview.danger_readings,
        inputs_hash=interview.analysis_inputs_hash or report_inputs_hash(interview),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReportInputs:
    protocol_digest: str
    inputs: tuple[tuple[str, str | int], ...]
    goals: tuple[Goal, ...]
    messages: tuple[Message, ...]
    readings: tuple[ItemReading, ...]
    proposals: tuple[Proposal, ...]
    end_reason: EndReason | None


_REPORT_INPUTS: Final = TypeAdapter(_ReportInputs)


def report_inputs_hash(interview: Interview) -> str:
    """Return the SHA-256 of all that a report is made from, in hexadecimal digits."""
    made_from = _ReportInputs(
        protocol_digest=interview.protocol.digest,
        inputs=tuple(interview.inputs.items()),
        goals=interview.goals,
        messages=interview.messages,
        readings=interview.readings,
        proposals=interview.proposals,
        end_reason=interview.end_reason,
    )
    return hashlib.sha256(_REPORT_INPUTS.dump_json(made_from)).hexdigest()


def _goal(goal: Goal) -> GoalShown:
    return GoalShown(
        id=goal.id,
        text=goal.text,
        status=goal.status,
        confidence=goal.confidence,
        asks=goal.asks,
        item=goal.item,
    )


def _question(interview: Interview) -> QuestionShown | None:
    """Return the question that waits for an answer; one that is being worked on is not shown."""
    question = interview.question
    if question is None or interview.state not in {
        InterviewState.AWAITING,
        InterviewState.PAUSED,
    }:
        return None
    return QuestionShown(
        id=question.id,
        text=question.text,
        goal_id=question.goal_id,
        item=interview.goal(question.goal_id).item,
        options=tuple(
            OptionShown(id=option.id, text=option.text, kind=option.kind)
            for option in question.options
        ),
        allows_free_text=question.allows_free_text,
        is_clarifying=question.is_clarifying,
        turn=question.turn,
    )


def _notice(interview: Interview) -> str:
    """Return what the interviewer has said since the last answer, but for the question."""
    said: list[str] = []
    for message in reversed(interview.messages):
        if message.speaker is MessageSpeaker.PARTICIPANT:
            break
        said.append(message.text)
    if interview.question is not None and said:
        said.pop(0)
    if interview.end_reason is EndReason.STOPPED:
        # Nobody answered what was asked before the stop.
        said = said[:1]
    return "\n".join(reversed(said))
