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
    """The words of the answer."""
    kind: AnswerKind
    """What choosing it means."""


class QuestionResult(Result):
    """The question that waits for an answer."""

    id: str
    """To be sent as question_id."""
    text: str
    """The question as it is put."""
    goal_id: str
    """The goal that it serves."""
    item: Item | None
    """The item that the answer scores, in a protocol of items."""
    options: tuple[OptionResult, ...]
    """Answers that may be chosen; may be empty."""
    allows_free_text: bool
    """Whether words of the person's own are taken."""
    is_clarifying: bool
    """Whether the last answer left open how often, so that this is asked once more."""
    turn: int
    """The turn that its answer will be."""


class ItemOutcomeResult(Result):
    """One item: a score and where it comes from, or why there is none."""

    label: str = Field(validation_alias=called("item", "label", "label"))
    """The item in words."""
    score: int | None = Field(ge=0, le=3)
    """0-3, or null for unknown."""
    source: ItemSource
    """Where the score comes from."""
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
    """The total if every unknown item were 0."""
    total_score_max: int = Field(validation_alias=TOTAL["total_score_max"])
    """The total if every unknown item were 3."""
    severity: int | None = Field(validation_alias=TOTAL["severity"])
    """0 minimal to 4 severe; null while an item is unknown."""
    severity_label: str | None = Field(validation_alias=TOTAL["severity_label"])
    """The severity in a word; null while an item is unknown."""
    severity_lower_bound: int = Field(validation_alias=TOTAL["severity_lower_bound"])
    """Severity at the lowest total, 0-4."""
    severity_upper_bound: int = Field(validation_alias=TOTAL["severity_upper_bound"])
    """Severity at the highest total, 0-4."""
    na_count: int
    """How many items are unknown."""


class DangerResult(Result):
    """Signs of danger in the answer that held the interview: for the operator."""

    level: RiskLevel
    """The highest level of the signs."""
    categories: tuple[RiskCategory, ...]
    """What kinds of danger are spoken of."""
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
    """The shape of the result."""
    notice: str = NOTICE
    """What the result is not."""
    protocol: str
    """Name of the protocol."""
    protocol_version: str
    """The version that the interview was begun with."""
    kind: str
    """`items` or `goals`."""


class OperatorResult(Result):
    """How the interview stands, for whoever holds it: not for the person's eyes."""

    goals: tuple[Goal, ...]
    """What is to be found out, and how far it is."""
    items: Items
    """The eight items as they stand, in a protocol of items."""
    proposals: tuple[Proposal, ...]
    """What a model took unclear answers for, and whether the person confirmed it."""
    unknown_goal_updates: int
    """Changes that models named for goals that there are not; each was dropped."""
    total: TotalResult | None
    """What the total can be; null in a protocol of goals."""
    danger: DangerResult | None
    """Signs of danger, where an answer held the interview."""
    not_examined: tuple[UnexaminedAnswer, ...]
    """The answers in a language that is not read: a person has to read them."""
    danger_readings: tuple[DangerReading, ...]
    """The free answers that a model was to read for danger; where it failed the rules are alone."""
    transcript_risk: RiskResult | None
    """Signs of danger in the transcript that was assessed first; in the first answer alone."""
    model_calls: int
    """How many calls of models were made."""


class InterviewResult(_OfAnInterview):
    """An interview as it stands: the words for the person, and beside them the operator's part."""

    title: str
    """The protocol's own name for the interview."""
    state: InterviewState
    """Where the interview stands."""
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
    """All that was said, in order."""
    end_reason: EndReason | None
    """Why no further question is asked; null while it goes on."""
    failure: FailureCode | None
    """Why the last step did not succeed."""
    is_resumable: bool
    """Whether a step is open that a retry takes again."""
    state_hash: str
    """Digest of the state: two snapshots with the same one say the same."""
    operator: OperatorResult
    """What is not for the person's eyes."""


class InterviewReportResult(_OfAnInterview):
    """What came out of an interview, for the operator: the updated items, or the analysis."""

    state: InterviewState
    """Where the interview stands."""
    end_reason: EndReason | None
    """Why no further question was asked."""
    items: Items
    """Key of the item → its outcome; null in a protocol of goals."""
    proposals: tuple[Proposal, ...]
    """What a model took unclear answers for, and whether the person confirmed it."""
    unknown_goal_updates: int
    """Changes that models named for goals that there are not; each was dropped."""
    total: TotalResult | None
    """What the total can be; null in a protocol of goals."""
    analysis: AnalysisReply | None
    """The report on an incident; null in a protocol of items."""
    goals: tuple[Goal, ...]
    """What was to be found out, and how far it came."""
    facts: tuple[Fact, ...]
    """What the person said."""
    danger: DangerResult | None
    """Signs of danger, where an answer held the interview."""
    not_examined: tuple[UnexaminedAnswer, ...]
    """The answers in a language that is not read: a person has to read them."""
    danger_readings: tuple[DangerReading, ...]
    """The free answers that a model was to read for danger; where it failed the rules are alone."""
    inputs_hash: str
    """The same inputs give the same report."""
