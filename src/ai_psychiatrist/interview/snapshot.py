"""What a caller may see of an interview: nothing of why a model asks or offers something."""

from dataclasses import dataclass, field

from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.interview import (
    Analysis,
    AnswerKind,
    EndReason,
    Fact,
    Goal,
    InterviewState,
    ItemOutcome,
    ItemReport,
    Message,
    MessageSpeaker,
    Proposal,
)
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.engine.record import (
    AnswerReading,
    Danger,
    Interview,
    UnexaminedAnswer,
)
from ai_psychiatrist.interview.item_outcomes import item_report
from ai_psychiatrist.interview.protocol.placeholders import filled
from ai_psychiatrist.interview.protocol.records import InterviewProtocol, ProtocolKind
from ai_psychiatrist.interview.store.serialization import report_inputs_hash, state_hash


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedOption:
    """One answer that may be chosen."""

    id: str
    """To be sent as option_id."""
    text: str = field(repr=False)
    kind: AnswerKind


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """The question that waits for an answer."""

    id: str
    """To be sent as question_id."""
    text: str = field(repr=False)
    goal_id: str
    item: Item | None
    """The item that the answer scores, in a protocol of items."""
    options: tuple[AskedOption, ...]
    allows_free_text: bool
    is_clarifying: bool
    """Whether the last answer left open how often, so that this is asked once more."""
    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfAnInterview:
    protocol_id: str
    protocol_version: str
    kind: str
    """`items` or `goals`."""
    state: InterviewState
    end_reason: EndReason | None
    goals: tuple[Goal, ...]
    proposals: tuple[Proposal, ...]
    """What a model took unclear answers for."""
    unknown_updates: int
    """Changes that a model proposed for goals that there are not; each was dropped."""
    danger: Danger | None
    not_examined: tuple[UnexaminedAnswer, ...]
    danger_readings: tuple[AnswerReading, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InterviewSnapshot(_OfAnInterview):
    """An interview as its caller sees it."""

    id: str = field(repr=False)
    """Whoever knows it may answer and read: it is a secret."""
    title: str = field(repr=False)
    version: int
    """To be sent with the next answer."""
    turn: int
    """How many answers were taken."""
    notice: str = field(repr=False)
    """What is to be said before the question, or at the end; may be empty."""
    question: AskedQuestion | None
    messages: tuple[Message, ...]
    items: tuple[ItemOutcome, ...]
    """The eight items as they stand now, in a protocol of items; else none."""
    failure: FailureCode | None
    """Why the last step did not succeed."""
    is_resumable: bool
    """Whether a step is open that a retry takes again."""
    model_calls: int
    state_hash: str
    """SHA-256 of the whole state, hidden parts included."""

    @property
    def is_over(self) -> bool:
        """Whether no answer is taken any more."""
        return self.state.is_over


@dataclass(frozen=True, slots=True, kw_only=True)
class InterviewReport(_OfAnInterview):
    """What came out of an interview: updated items, or the analysis of an incident."""

    interview_id: str = field(repr=False)
    items: ItemReport | None
    analysis: Analysis | None
    """`None` for items, and where the interview was held before anything could be analysed."""
    facts: tuple[Fact, ...]
    inputs_hash: str
    """SHA-256 of what the report was made from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InterviewListing:
    """One row of the list of interviews."""

    id: str = field(repr=False)
    protocol_id: str
    state: InterviewState
    version: int
    created_at: str
    updated_at: str
    is_readable: bool
    """False when what is stored of it cannot be read; it can still be deleted."""


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
        question=_asked(interview),
        goals=interview.goals,
        messages=interview.messages,
        items=item_report(interview).items if is_items else (),
        proposals=interview.proposals,
        unknown_updates=interview.unknown_updates,
        end_reason=interview.end_reason,
        danger=interview.danger,
        not_examined=interview.not_examined,
        danger_readings=interview.danger_readings,
        failure=interview.failure,
        is_resumable=_is_resumable(interview),
        model_calls=interview.spent.calls,
        state_hash=state_hash(interview),
    )


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
        unknown_updates=interview.unknown_updates,
        analysis=interview.analysis,
        goals=interview.goals,
        facts=interview.facts,
        danger=interview.danger,
        not_examined=interview.not_examined,
        danger_readings=interview.danger_readings,
        inputs_hash=interview.analysis_inputs_hash or report_inputs_hash(interview),
    )


def _is_resumable(interview: Interview) -> bool:
    """Return whether a step was cut short or failed and can be tried again."""
    if interview.state is InterviewState.FAILED:
        return interview.failure is not FailureCode.CALL_BUDGET_SPENT
    return interview.state in {InterviewState.PREPARING, InterviewState.DIGESTING}


def _asked(interview: Interview) -> AskedQuestion | None:
    """Return the question that waits for an answer, and not one that is being worked on."""
    question = interview.question
    waits = interview.state in {InterviewState.AWAITING, InterviewState.PAUSED}
    if question is None or not waits:
        return None
    return AskedQuestion(
        id=question.id,
        text=question.text,
        goal_id=question.goal_id,
        item=interview.goal(question.goal_id).item,
        options=tuple(
            AskedOption(id=option.id, text=option.text, kind=option.kind)
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
