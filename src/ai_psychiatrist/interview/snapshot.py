"""What a caller gets of an interview: nothing of why a model asks or offers something."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Final

from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.interview import EndReason, InterviewState, MessageSpeaker, Question
from ai_psychiatrist.domain.interview_items import ItemOutcome
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.domain.shape import Shape
from ai_psychiatrist.interview.item_outcomes import item_outcomes
from ai_psychiatrist.interview.protocol.placeholders import filled
from ai_psychiatrist.interview.protocol.records import InterviewProtocol, ProtocolKind
from ai_psychiatrist.interview.record import Interview
from ai_psychiatrist.interview.serialization import report_inputs_hash, state_hash


@dataclass(frozen=True, slots=True, kw_only=True)
class InterviewSnapshot(Interview):
    """An interview without its hidden reasons, and what follows from it.

    `question` is there only while it waits for an answer.
    """

    kind: ProtocolKind
    title: str = field(repr=False)
    notice: str = field(repr=False)
    """What is to be said before the question, or at the end; may be empty."""
    spoken: str = field(repr=False)
    """The notice and, where the interview is held, also where to turn, and who reads it when."""
    resources: str = field(repr=False)
    """Where to turn in danger, as the operator of the service set it."""
    items: tuple[ItemOutcome, ...]
    """The eight items as they stand now, in a protocol of items; else none."""
    state_hash: str
    """SHA-256 of the whole state, hidden parts included."""
    inputs_hash: str
    """SHA-256 of what the report was, or would be, made from."""

    @property
    def is_over(self) -> bool:
        """Whether no answer is taken any more."""
        return self.state.is_over and self.question is None

    @property
    def is_resumable(self) -> bool:
        """Whether a step is open that a retry takes again."""
        if self.state is InterviewState.FAILED:
            return self.failure is not FailureCode.CALL_BUDGET_SPENT
        return self.state in {InterviewState.PREPARING, InterviewState.DIGESTING}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class InterviewListing(Shape):
    """An interview in a list, without a word of it."""

    interview_id: str | None
    """Whoever knows it may answer and read: keep it secret. Null where it cannot be read."""
    protocol: str
    """Name of the protocol."""
    state: InterviewState
    """Where the interview stands."""
    version: int
    """Grows by one with every step."""
    created_at: str
    """When it was begun, in UTC."""
    updated_at: str
    """When it changed last."""
    is_readable: bool
    """False when what is stored of it cannot be read; it can still be deleted."""
    assessment_id: str | None
    """The stored assessment that it is about; null without one."""
    subject: str | None
    """The study id of that assessment."""
    danger: RiskLevel | None
    """The gravest level of danger that held it; null where nothing did."""
    to_read: int
    """How many statements of danger a person is to read."""
    unread: int
    """How many of those nobody has confirmed to have read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WordsInDanger:
    """What an operator has a person told whose interview is held."""

    resources: str = ""
    """Where to turn."""
    notice: str = ""
    """Who reads the interview, and when; where it is empty, the protocol says that nobody may."""


_WAITING: Final = frozenset(
    {InterviewState.AWAITING, InterviewState.PAUSED, InterviewState.SAFETY_HOLD}
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class InterviewPage(Shape):
    """A part of the list of interviews."""

    interviews: tuple[InterviewListing, ...]
    """Those that are held first, then the newest."""
    next: str | None
    """To be sent as `cursor` for the part after it; null at the end."""
    total: int
    """How many the whole list has."""


def snapshot_of(
    protocol: InterviewProtocol,
    interview: Interview,
    earlier: Sequence[Interview],
    in_danger: WordsInDanger,
) -> InterviewSnapshot:
    """Return an interview as its caller gets it; `earlier`: as for `item_outcomes`."""
    is_items = protocol.kind is ProtocolKind.ITEMS
    notice = _notice(interview)
    held = (in_danger.resources, in_danger.notice or protocol.safety.unread)
    is_held = interview.state is InterviewState.SAFETY_HOLD
    open_part = replace(interview, question=_waiting_question(interview), behind=None, drift=None)
    return InterviewSnapshot(
        **{one.name: getattr(open_part, one.name) for one in fields(Interview)},
        kind=protocol.kind,
        title=filled(protocol.title, interview.inputs),
        notice=notice,
        spoken="\n".join([notice, *held]) if is_held else notice,
        resources=in_danger.resources,
        items=item_outcomes(interview, earlier) if is_items else (),
        state_hash=state_hash(interview, earlier),
        inputs_hash=interview.analysis_inputs_hash or report_inputs_hash(interview, earlier),
    )


def _waiting_question(interview: Interview) -> Question | None:
    question = interview.question
    if question is None or interview.state not in _WAITING:
        return None
    return replace(
        question,
        item=interview.goal(question.goal_id).item,
        rationale="",
        options=tuple(replace(option, rationale="") for option in question.options),
    )


def _notice(interview: Interview) -> str:
    """Return what the interviewer has said since the last answer or reopening.

    The question is left out.
    """
    said: list[str] = []
    before = {one.after for one in interview.reopenings}
    for message in reversed(interview.messages):
        if message.speaker is MessageSpeaker.PARTICIPANT or message.id in before:
            break
        said.append(message.text)
    question = interview.question
    if question is not None and said[:1] == [question.text]:
        said.pop(0)
    if interview.end_reason is EndReason.STOPPED:
        # Nobody answered what was asked before the stop.
        said = said[:1]
    return "\n".join(reversed(said))
