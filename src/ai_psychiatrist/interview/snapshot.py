"""What a caller may see of an interview: nothing of why a model asks or offers something."""

from dataclasses import dataclass, field

from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.interview import (
    Analysis,
    AnswerKind,
    EndReason,
    Fact,
    GoalStatus,
    InterviewState,
    ItemOutcome,
    ItemReport,
    Message,
    Proposal,
)
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.risk import ReadingStatus, RiskCategory, RiskLevel, RiskSource


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionShown:
    """One answer that may be chosen."""

    id: str
    """To be sent as option_id."""
    text: str = field(repr=False)
    kind: AnswerKind


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionShown:
    """The question that waits for an answer."""

    id: str
    """To be sent as question_id."""
    text: str = field(repr=False)
    goal_id: str
    item: Item | None
    """The item that the answer scores, in a protocol of items."""
    options: tuple[OptionShown, ...]
    allows_free_text: bool
    is_clarifying: bool
    """Whether the last answer left open how often, so that this is asked once more."""
    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalShown:
    """One thing to find out, and how far it is."""

    id: str
    text: str = field(repr=False)
    status: GoalStatus
    confidence: int
    """0-100."""
    asks: int
    """How many questions were put for it."""
    item: Item | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DangerPlace:
    """Where a sign of danger stands; characters of the answer, end exclusive."""

    turn: int
    """The turn of the answer."""
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Danger:
    """What the risk channel found in the answer that held the interview."""

    level: RiskLevel
    categories: tuple[RiskCategory, ...]
    places: tuple[DangerPlace, ...] = ()
    source: RiskSource = RiskSource.RULES
    """A model only where the rules found nothing that holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerReading:
    """What became of a model that was to read a free answer for danger, as the rules always do."""

    turn: int
    """From 1."""
    status: ReadingStatus
    code: FailureCode | None = None
    """Why it failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnexaminedAnswer:
    """A free answer in a language that is not read: nothing is known of danger in it."""

    turn: int
    """From 1."""
    language: str
    """A BCP 47 code; `und` for one that is not told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InterviewSnapshot:
    """An interview as its caller sees it."""

    id: str = field(repr=False)
    """Whoever knows it may answer and read: it is a secret."""
    protocol_id: str
    protocol_version: str
    kind: str
    """`items` or `goals`."""
    title: str = field(repr=False)
    state: InterviewState
    version: int
    """To be sent with the next answer."""
    turn: int
    """How many answers were taken."""
    notice: str = field(repr=False)
    """What is to be said before the question, or at the end; may be empty."""
    question: QuestionShown | None
    goals: tuple[GoalShown, ...]
    messages: tuple[Message, ...]
    items: tuple[ItemOutcome, ...]
    """The eight items as they stand now, in a protocol of items; else none."""
    proposals: tuple[Proposal, ...]
    """What a model took unclear answers for."""
    end_reason: EndReason | None
    danger: Danger | None
    not_examined: tuple[UnexaminedAnswer, ...]
    danger_readings: tuple[AnswerReading, ...]
    failure: FailureCode | None
    """Why the last step did not succeed, in the state `failed`."""
    is_resumable: bool
    """Whether a step is open that resuming the interview tries again."""
    model_calls: int
    state_hash: str
    """SHA-256 of the whole state, hidden parts included."""

    @property
    def is_over(self) -> bool:
        """Whether no answer is taken any more."""
        return self.state.is_over


@dataclass(frozen=True, slots=True, kw_only=True)
class InterviewReport:
    """What came out of an interview: updated items, or the analysis of an incident."""

    interview_id: str = field(repr=False)
    protocol_id: str
    protocol_version: str
    kind: str
    state: InterviewState
    end_reason: EndReason | None
    items: ItemReport | None
    proposals: tuple[Proposal, ...]
    """What a model took unclear answers for."""
    analysis: Analysis | None
    """`None` for items, and where the interview was held before anything could be analysed."""
    goals: tuple[GoalShown, ...]
    facts: tuple[Fact, ...]
    danger: Danger | None
    not_examined: tuple[UnexaminedAnswer, ...]
    danger_readings: tuple[AnswerReading, ...]
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
