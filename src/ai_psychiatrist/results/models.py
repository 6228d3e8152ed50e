"""What a caller gets back, as Pydantic models: they check nothing, they document."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Final, Literal

from pydantic import BeforeValidator, Field

from ai_psychiatrist.domain.assessment import AssessmentStatus, Metric, MetricScore
from ai_psychiatrist.domain.belief import BeliefSource, ScoreSet, TotalInterval
from ai_psychiatrist.domain.evidence import (
    Frequency,
    Match,
    Polarity,
    Quote,
    QuoteRejection,
    Segment,
    Timeframe,
    UnreadAnswer,
    UnverifiedQuote,
)
from ai_psychiatrist.domain.failures import Attempt, FailureRecord, UnreadPart
from ai_psychiatrist.domain.phq8 import NotExaminedCause, UnknownReason
from ai_psychiatrist.domain.references import NoReferences, ShownReference
from ai_psychiatrist.results.account_result import AgentModels, CertificateResult, GroundingResult
from ai_psychiatrist.results.drive_result import DriveResult
from ai_psychiatrist.results.frozen_table import FrozenTable
from ai_psychiatrist.results.result import Result, called
from ai_psychiatrist.results.risk_result import RiskResult
from ai_psychiatrist.results.transcript_result import TranscriptResult

SCHEMA_VERSION: Final = "5"
NOTICE: Final = (
    "For research and engineering. Not a medical device, not a diagnosis, and no substitute for "
    "the judgement of a clinician."
)
BASELINE_NOTICE: Final = (
    "Made by a rule baseline: fixed phrase rules, not a language model and not a clinical "
    "instrument."
)


def by_item(items: object) -> object:
    """Name each of the domain's items by its key."""
    return {one.item.value: one for one in items} if isinstance(items, tuple) else items


class SupportingQuoteResult(Result):
    """A quote of the narrative, verified or not."""

    text: str
    """The words of the quote."""
    verified: bool = Field(validation_alias=called("is_verified", "verified"))
    """Whether the participant said them."""
    match: Match | None = None
    """How they were found; null where they were not."""
    polarity: Polarity | None = None
    """Whether the clause says that the symptom is there; null where it was not found."""
    frequency: Frequency | None = None
    """How often, as the clause states it; null where it was not found."""
    timeframe: Timeframe | None = None
    """When, as the clause states it; null where it was not found."""
    reason: QuoteRejection | None = None
    """Why it does not count; null where it does, or where no check was made."""
    segments: tuple[Segment, ...] = ()
    """Where the words stand; empty where they were not found."""


class BeliefResult(Result):
    """How likely each score of an item is."""

    scores: tuple[float, float, float, float]
    """Probabilities of the scores 0 to 3."""
    not_determinable: float
    """Probability that no score can be told; with the scores' it adds up to 1."""
    sources: tuple[BeliefSource, ...]
    """What the probabilities were made from."""
    calibrated: bool = Field(validation_alias=called("is_calibrated", "calibrated"))
    """Whether it was recalibrated on labelled participants; if not, it is no observed rate."""
    set: ScoreSet | None = Field(None, validation_alias=called("score_set", "set"))
    """Null where no fit is configured."""


class ItemResult(Result):
    """One item of the PHQ-8."""

    label: str = Field(validation_alias=called("item", "label", "label"))
    """The item in words."""
    score: int | None = Field(ge=0, le=3)
    """0-3, or null for unknown."""
    unknown_reason: UnknownReason | None
    """Why there is no score."""
    not_examined_cause: NotExaminedCause | None = None
    """Why nothing was read, where the reason is `not_examined`."""
    unread_answer: UnreadAnswer | None = None
    """The question for the item and the answer from which nothing was read."""
    proposed_score: int | None
    """The model's own score, kept when the evidence does not carry it."""
    evidence: tuple[Quote, ...] = Field(validation_alias=called("quotes", "evidence"))
    """The participant's words that carry the score."""
    frequency: Frequency
    """The highest frequency that affirming quotes state; unstated when they state none."""
    unverified_quotes: tuple[UnverifiedQuote, ...]
    """Quotes that the model gave and that do not count as the participant's words."""
    reason: str
    """The model's own words for its score."""
    confidence: int | None
    """1-5, as the model says it; null where it says none that can be read."""
    warnings: tuple[str, ...]
    """Names of the clinical rules that speak against the model's answer to this item, and of parts
    of the answer that could not be read (`confidence_not_read` and the like)."""
    llm_evidence_count: int
    """How many quotes of the evidence stage are kept."""
    llm_evidence_extracted_count: int
    """How many the model gave."""
    llm_evidence_rejected_count: int
    """How many were refused."""
    belief: BeliefResult | None = None
    """Null in results that were made without it."""
    references: tuple[ShownReference, ...] = ()
    """Examples of other participants that scoring was shown, in the modes that show any."""
    no_references: NoReferences | None = None
    """Why there are none, in such a mode."""
    drive: DriveResult | None = None
    """Whether the evidence drives the score; null where that was not asked for, or none is."""

    shown_texts: ClassVar[frozenset[str]] = frozenset({"label"})


TOTAL: Final = {
    name: called("total", place, name)
    for name, place in {
        "total_score": "exact",
        "total_score_min": "minimum",
        "total_score_max": "maximum",
        "severity": "severity",
        "severity_label": "severity_label",
        "severity_lower_bound": "severity_lower_bound",
        "severity_upper_bound": "severity_upper_bound",
    }.items()
}
"""Where the total is, of an assessment's items as of an interview's."""


class QuantitativePart(Result):
    """Item scores and what the total can be; null where a part has no result."""

    total_score: int | None = Field(None, validation_alias=TOTAL["total_score"])
    """Null while an item is unknown."""
    total_score_min: int | None = Field(None, validation_alias=TOTAL["total_score_min"])
    """The total if every unknown item were 0."""
    total_score_max: int | None = Field(None, validation_alias=TOTAL["total_score_max"])
    """The total if every unknown item were 3."""
    severity: int | None = Field(None, validation_alias=TOTAL["severity"])
    """0 minimal to 4 severe; null while an item is unknown."""
    severity_label: str | None = Field(None, validation_alias=TOTAL["severity_label"])
    """The severity in a word; null while an item is unknown."""
    severity_lower_bound: int | None = Field(None, validation_alias=TOTAL["severity_lower_bound"])
    """Severity at the lowest total, 0-4."""
    severity_upper_bound: int | None = Field(None, validation_alias=TOTAL["severity_upper_bound"])
    """Severity at the highest total, 0-4."""
    na_count: int | None = None
    """How many items are unknown."""
    accepted: bool = Field(default=True, validation_alias=called("is_accepted", "accepted"))
    """Whether a reply answers each item; items without an answer keep the evidence."""
    total_interval: TotalInterval | None = None
    """Where the beliefs of the items let the total lie; the items are taken as independent."""
    items: Annotated[FrozenTable[str, ItemResult] | None, BeforeValidator(by_item)] = None
    """Key of the item → its result."""

    shown_texts: ClassVar[frozenset[str]] = frozenset({"severity_label"})

    @property
    def has_answers(self) -> bool:
        """Whether a reply answers any of the items."""
        reasons = {item.unknown_reason for item in (self.items or {}).values()}
        return bool(reasons - {UnknownReason.SCORING_FAILED})

    def shown_total(self) -> Iterator[tuple[str, object]]:
        """Yield the total, or its range, with its label and how many items are unknown."""
        if self.total_score is not None:
            yield "total_score", self.total_score
            yield "severity", self.severity_label
        elif self.total_score_min is not None:
            yield "total_score_min", self.total_score_min
            yield "total_score_max", self.total_score_max
            yield "unknown_items", self.na_count


class QualitativePart(Result):
    """The narrative; null where there is none."""

    overall: str | None = None
    """The narrative of the whole."""
    phq8_symptoms: str | None = None
    """What was said of the symptoms of the PHQ-8."""
    social_factors: str | None = None
    """What was said of people, work and living."""
    biological_factors: str | None = None
    """What was said of body, illness and medicine."""
    risk_factors: str | None = None
    """What was said of risk."""
    supporting_quotes: tuple[SupportingQuoteResult, ...] | None = None
    """Quotes that the narrative gives, each checked."""
    dropped_quotes: int | None = None
    """How many unverified quotes were removed, when that is switched on."""


class RoundResult(Result):
    """One version of the narrative and how it was judged."""

    round: int
    """Counted from 0."""
    scores: FrozenTable[Metric, MetricScore]
    """Metric → the judge's score."""
    average_score: float | None = Field(validation_alias=called("average", "average_score"))
    """Mean of the metrics, 1-5."""
    qualitative: QualitativePart = Field(validation_alias=called("findings", "qualitative"))
    """The narrative of this round."""


class EvaluationPart(Result):
    """The judge's verdict on the narrative that was kept, and every round before and after it."""

    coherence: MetricScore | None
    """Whether the narrative hangs together; null where it was not judged."""
    completeness: MetricScore | None
    """Whether it covers what was said; null where it was not judged."""
    specificity: MetricScore | None
    """Whether it is specific to this participant; null where it was not judged."""
    accuracy: MetricScore | None
    """Whether it agrees with the transcript; null where it was not judged."""
    average_score: float | None
    """Mean of the metrics, 1-5; null while one is missing."""
    iteration: int
    """The round that was kept, counted from 0."""
    rounds: tuple[RoundResult, ...]
    """Every version of the narrative that was judged."""


class MetaReviewPart(Result):
    """The severity read from everything together."""

    severity: int | None
    """0 minimal to 4 severe; null where the model's could not be read, or the words are in a
    language that is not."""
    severity_label: str | None
    """The severity in a word."""
    explanation: str
    """The model's own words for it; empty where they could not be read."""
    is_mdd: bool | None
    """Moderate or above."""
    contradicts_item_scores: bool
    """True when the item scores do not allow this severity."""
    warnings: tuple[UnreadPart, ...] = ()
    """What of the model's reply could not be read."""


class Envelope(Result):
    """What every result says about itself."""

    assessment_id: str
    """Made anew for each assessment; log lines carry it."""
    schema_version: Literal["5"] = SCHEMA_VERSION
    """The shape of the result."""
    status: AssessmentStatus
    """How much of it finished."""
    risk: RiskResult
    """Signs of danger, whatever else finished."""
    notice: str = NOTICE
    """What the result is not."""
    participant_id: int | None
    """Whose stored transcript was assessed; null for one that was sent."""
    mode: str
    """What scoring saw beside the transcript."""
    speakers_assumed: bool
    """True when the transcript has no speaker labels, so that all of it counts as the patient's."""
    transcript: TranscriptResult
    """How the transcript was read."""
    models: FrozenTable[str, AgentModels]
    """Agent → its models."""
    prompts: FrozenTable[str, str]
    """Prompt name → digest of its wording."""
    references: str | None = None
    """Digest of all references that there were to show; null in a mode that shows none."""
    grounding: GroundingResult | None
    """How many quotes held; null where none were extracted."""
    hosts: tuple[str, ...]
    """Where words of the transcript were sent, as `host:port` of the addresses: servers of models
    and embedders, whether or not they answered, and a proxy that could read the words. Empty where
    none left this process."""
    attempts: tuple[Attempt, ...]
    """Every call of a model, in order."""
    failures: tuple[FailureRecord, ...]
    """What is missing, and why."""
    transcript_text: str | None
    """The text that offsets count in, where it was made from a file; null for a text as sent."""
    certificate: CertificateResult | None = None
    """Null unless it was asked for."""


class QuantitativeResult(QuantitativePart, Envelope):
    """Result of a quantitative assessment."""


class QualitativeResult(QualitativePart, Envelope):
    """Result of a qualitative assessment."""
