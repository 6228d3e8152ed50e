"""What a caller gets back of an interview, as Pydantic models: they check nothing."""

from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from ai_psychiatrist.agents.interview.outputs import AnalysisReply
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.interview import (
    AnswerKind,
    EndReason,
    Fact,
    Goal,
    InterviewState,
    Message,
)
from ai_psychiatrist.domain.interview_items import (
    AnswerQuote,
    ItemSource,
    Proposal,
    UnansweredReason,
)
from ai_psychiatrist.domain.phq8 import Item, UnknownReason
from ai_psychiatrist.domain.risk import RiskCategory, RiskLevel, RiskSource
from ai_psychiatrist.interview.record import DangerPlace, DangerReading, UnexaminedAnswer
from ai_psychiatrist.results.models import NOTICE, TOTAL, by_item
from ai_psychiatrist.results.result import Result, called
from ai_psychiatrist.results.risk_result import RiskResult


class OptionResult(Result):
    """One answer that may be chosen."""

    id: str
    """To be sent as option_id."""
    text: str
    kind: AnswerKind


class QuestionResult(Result):
    """The question that waits for an answer."""

    id: str
    """To be sent as question_id."""
    text: str
    goal_id: str
    item: Item | None
    """The item that the answer scores, in a protocol of items."""
    options: tuple[OptionResult, ...]
    allows_free_text: bool
    is_clarifying: bool
    """Whether the last answer left open how often, so that this is asked once more."""
    turn: int


class ItemOutcomeResult(Result):
    """One item: a score and where it comes from, or why there is none."""

    label: str = Field(validation_alias=called("item", "label", "label"))
    score: int | None = Field(ge=0, le=3)
    """0-3, or null for unknown."""
    source: ItemSource
    answer_turn: int | None
    """The turn of the answer that scored it."""
    quote: AnswerQuote | None
    """The words of that answer."""
    confirmed_turn: int | None
    """The turn in which the person confirmed what a model took that answer for."""
    evidence: tuple[str, ...]
    """The quotes of the transcript, where the score comes from it."""
    unknown_reason: UnansweredReason | None
    """Why there is no score."""
    transcript_reason: UnknownReason | None
    """Why the transcript left it unknown, where there was an assessment."""


Items: TypeAlias = Annotated[dict[str, ItemOutcomeResult] | None, BeforeValidator(by_item)]


class TotalResult(Result):
    """What the total can be: a range while items are unknown."""

    total_score: int | None = Field(validation_alias=TOTAL["total_score"])
    """Null while an item is unknown."""
    total_score_min: int = Field(validation_alias=TOTAL["total_score_min"])
    total_score_max: int = Field(validation_alias=TOTAL["total_score_max"])
    severity: int | None = Field(validation_alias=TOTAL["severity"])
    """0 minimal to 4 severe; null while an item is unknown."""
    severity_label: str | None = Field(validation_alias=TOTAL["severity_label"])
    severity_lower_bound: int = Field(validation_alias=TOTAL["severity_lower_bound"])
    severity_upper_bound: int = Field(validation_alias=TOTAL["severity_upper_bound"])
    na_count: int
    """How many items are unknown."""


class DangerResult(Result):
    """Signs of danger in the answer that held the interview: for the operator."""

    level: RiskLevel
    categories: tuple[RiskCategory, ...]
    places: tuple[DangerPlace, ...]
    """Where the signs stand in the answer."""
    source: RiskSource
    """Whether rules or a model found them; a model where the rules found nothing that holds."""
    statement: str
    """What this is and is not."""
    resources: str
    """Where to turn, as the operator of the service set it."""


class _OfAnInterview(Result):
    interview_id: str
    """Whoever knows it may answer and read: keep it secret."""
    schema_version: Literal["1"] = "1"
    notice: str = NOTICE
    protocol: str
    protocol_version: str
    kind: str
    """`items` or `goals`."""


class OperatorResult(Result):
    """How the interview stands, for whoever holds it: not for the person's eyes."""

    goals: tuple[Goal, ...]
    items: Items
    """The eight items as they stand, in a protocol of items."""
    proposals: tuple[Proposal, ...]
    """What a model took unclear answers for, and whether the person confirmed it."""
    unknown_goal_updates: int
    """Changes that models named for goals that there are not; each was dropped."""
    total: TotalResult | None
    danger: DangerResult | None
    not_examined: tuple[UnexaminedAnswer, ...]
    """The answers in a language that is not read: a person has to read them."""
    danger_readings: tuple[DangerReading, ...]
    """The free answers that a model was to read for danger; where it failed the rules are alone."""
    transcript_risk: RiskResult | None
    """Signs of danger in the transcript that was assessed first; in the first answer alone."""
    model_calls: int


class InterviewResult(_OfAnInterview):
    """An interview as it stands: the words for the person, and beside them the operator's part."""

    title: str
    state: InterviewState
    version: int
    """To be sent with the next answer."""
    turn: int
    """How many answers were taken."""
    spoken: str
    """What is to be said to the person before the question, or at the end; may be empty.

    Where the interview is held it says where to turn.
    """
    question: QuestionResult | None
    """Null when no answer is awaited."""
    messages: tuple[Message, ...]
    end_reason: EndReason | None
    failure: FailureCode | None
    """Why the last step did not succeed."""
    is_resumable: bool
    """Whether a step is open that a retry takes again."""
    state_hash: str
    operator: OperatorResult


class InterviewReportResult(_OfAnInterview):
    """What came out of an interview, for the operator: the updated items, or the analysis."""

    state: InterviewState
    end_reason: EndReason | None
    items: Items
    proposals: tuple[Proposal, ...]
    """What a model took unclear answers for, and whether the person confirmed it."""
    unknown_goal_updates: int
    """Changes that models named for goals that there are not; each was dropped."""
    total: TotalResult | None
    analysis: AnalysisReply | None
    goals: tuple[Goal, ...]
    facts: tuple[Fact, ...]
    danger: DangerResult | None
    not_examined: tuple[UnexaminedAnswer, ...]
    """The answers in a language that is not read: a person has to read them."""
    danger_readings: tuple[DangerReading, ...]
    """The free answers that a model was to read for danger; where it failed the rules are alone."""
    inputs_hash: str
    """The same inputs give the same report."""
