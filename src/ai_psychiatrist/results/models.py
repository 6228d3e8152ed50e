"""What a caller gets back, as Pydantic models: they check nothing, they document."""

from typing import Annotated, Final, Literal

from pydantic import AliasChoices, AliasPath, BaseModel, BeforeValidator, ConfigDict, Field

from ai_psychiatrist.domain.assessment import AssessmentStatus, Metric, MetricScore
from ai_psychiatrist.domain.evidence import (
    Frequency,
    Grounding,
    Match,
    Polarity,
    Quote,
    QuoteRejection,
    Segment,
    Timeframe,
    UnverifiedQuote,
)
from ai_psychiatrist.domain.failures import Attempt, FailureCode, FailureRecord
from ai_psychiatrist.domain.phq8 import UnknownReason
from ai_psychiatrist.domain.risk import (
    ReadingStatus,
    RiskCategory,
    RiskKind,
    RiskLevel,
    RiskPolarity,
    RiskSource,
)
from ai_psychiatrist.domain.transcript import Speaker

SCHEMA_VERSION: Final = "1"
NOTICE: Final = (
    "For research and engineering. Not a medical device, not a diagnosis, and no substitute for "
    "the judgement of a clinician."
)
RISK_STATEMENT: Final = (
    "Found by fixed phrases in the participant's words, not by a model and not by a person. It can "
    "miss danger and can raise false alarms; it is no assessment of risk. A person has to read the "
    "interview."
)
RISK_STATEMENT_WITH_MODEL: Final = (
    "Found by fixed phrases and by a model in the participant's words, not by a person. Both can "
    "miss danger and can raise false alarms; it is no assessment of risk. A person has to read the "
    "interview."
)
BASELINE_NOTICE: Final = (
    "Made by a rule baseline: fixed phrase rules, not a language model and not a clinical "
    "instrument."
)


class Result(BaseModel):
    """A part of what a caller gets; made from the domain's values by their names."""

    # Built with the first result that is made, and the parts with the whole alone.
    model_config = ConfigDict(
        frozen=True, use_attribute_docstrings=True, from_attributes=True, defer_build=True
    )


def called(*path: str) -> AliasChoices:
    """Say where a value of the domain is that results give another name; the last is theirs."""
    *places, name = path
    return AliasChoices(name, AliasPath(*places))


def by_item(items: object) -> object:
    """Name each of the domain's items by its key."""
    return {one.item.value: one for one in items} if isinstance(items, tuple) else items


class SupportingQuoteResult(Result):
    """A quote of the narrative, verified or not."""

    text: str
    verified: bool = Field(validation_alias=called("is_verified", "verified"))
    match: Match | None = None
    polarity: Polarity | None = None
    frequency: Frequency | None = None
    timeframe: Timeframe | None = None
    reason: QuoteRejection | None = None
    segments: tuple[Segment, ...] = ()


class ItemResult(Result):
    """One item of the PHQ-8."""

    label: str = Field(validation_alias=called("item", "label", "label"))
    score: int | None = Field(ge=0, le=3)
    """0-3, or null for unknown."""
    unknown_reason: UnknownReason | None
    """Why there is no score."""
    proposed_score: int | None
    """The model's own score, kept when the evidence does not carry it."""
    evidence: tuple[Quote, ...] = Field(validation_alias=called("quotes", "evidence"))
    frequency: Frequency
    """The highest frequency that affirming quotes state; unstated when they state none."""
    unverified_quotes: tuple[UnverifiedQuote, ...]
    reason: str
    confidence: int | None
    """1-5, as the model says it."""
    warnings: tuple[str, ...]
    """Names of the clinical rules that speak against the model's answer to this item."""
    llm_evidence_count: int
    llm_evidence_extracted_count: int
    llm_evidence_rejected_count: int


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
    total_score_max: int | None = Field(None, validation_alias=TOTAL["total_score_max"])
    severity: int | None = Field(None, validation_alias=TOTAL["severity"])
    """0 minimal to 4 severe; null while an item is unknown."""
    severity_label: str | None = Field(None, validation_alias=TOTAL["severity_label"])
    severity_lower_bound: int | None = Field(None, validation_alias=TOTAL["severity_lower_bound"])
    severity_upper_bound: int | None = Field(None, validation_alias=TOTAL["severity_upper_bound"])
    na_count: int | None = None
    """How many items are unknown."""
    accepted: bool = Field(default=True, validation_alias=called("is_accepted", "accepted"))
    """Whether a reply with scores was accepted; if not, the items keep the evidence."""
    items: Annotated[dict[str, ItemResult] | None, BeforeValidator(by_item)] = None


class QualitativePart(Result):
    """The narrative; null where there is none."""

    overall: str | None = None
    phq8_symptoms: str | None = None
    social_factors: str | None = None
    biological_factors: str | None = None
    risk_factors: str | None = None
    supporting_quotes: tuple[SupportingQuoteResult, ...] | None = None
    dropped_quotes: int | None = None
    """How many unverified quotes were removed, when that is switched on."""


class RoundResult(Result):
    """One version of the narrative and how it was judged."""

    round: int
    scores: dict[Metric, MetricScore]
    average_score: float | None = Field(validation_alias=called("average", "average_score"))
    qualitative: QualitativePart = Field(validation_alias=called("findings", "qualitative"))


class EvaluationPart(Result):
    """The judge's verdict on the narrative that was kept, and every round before and after it."""

    coherence: MetricScore | None
    completeness: MetricScore | None
    specificity: MetricScore | None
    accuracy: MetricScore | None
    average_score: float | None
    iteration: int
    """The round that was kept, counted from 0."""
    rounds: tuple[RoundResult, ...]


class MetaReviewPart(Result):
    """The severity read from everything together."""

    severity: int | None
    """0 minimal to 4 severe; null where the words are in a language that is not read."""
    severity_label: str | None
    explanation: str
    is_mdd: bool | None
    """Moderate or above."""
    contradicts_item_scores: bool
    """True when the item scores do not allow this severity."""


class AgentModels(Result):
    """Which models an agent may ask, and which answered."""

    chain: tuple[str, ...]
    answered_by: tuple[str, ...]
    rule_baseline: bool
    """True when an answer came from the rule baseline."""


class GroundingResult(Result):
    """How many quotes of the evidence stage were the participant's words."""

    grounding: Grounding
    extracted_count: int
    validated_count: int
    rejected_count: int
    rejected_by_domain: dict[str, int]
    unknown_keys: int


class RiskSignalResult(Result):
    """A sign of danger in the participant's words."""

    category: RiskCategory
    kind: RiskKind
    polarity: RiskPolarity
    level: RiskLevel
    source: RiskSource
    """Whether rules or a model found it."""
    text: str
    turn: int
    start: int
    """First character, in code points of the transcript."""
    end: int


class UnexaminedTurnResult(Result):
    """A turn in a language that is not read."""

    turn: int
    """From 0, as everywhere."""
    language: str
    """A BCP 47 code, such as `es`; `und` where it is not told."""
    is_whole: bool
    """False where a stretch of the turn is in a language that is read."""


class ExaminedResult(Result):
    """Which words were read at all: rules read English alone."""

    languages: dict[str, int] = Field(validation_alias=called("words", "languages"))
    """Language → how many of the participant's words are in it."""
    share: float | None
    """The part of the participant's words that was read, 0-1; null where there are no words."""
    turns_not_examined: tuple[UnexaminedTurnResult, ...]
    """The first 200 turns of anybody but the interviewer that were not read."""
    count_not_examined: int
    """How many turns were not read, listed or not."""
    statement: str
    """What was not read and what to do; empty when everything was."""


class RiskModelResult(Result):
    """The model that reads for danger beside the fixed phrases, and only adds to what they find."""

    status: ReadingStatus
    """`off` where there is none; what the phrases found stands in any case."""
    code: FailureCode | None
    """Why it failed."""
    sign_count: int
    """How many signs it gave in words that were said; those that the phrases mark just as urgently
    are listed once."""
    refused_count: int
    """How many signs it gave in words that nobody said, or the interviewer; none is listed."""


class RiskResult(Result):
    """Signs of danger, found by fixed phrases before any model was asked, and by a model."""

    level: RiskLevel
    """The highest level of any signal; none means only that nothing was found, and not_examined
    that there are words in a language that the phrases do not read."""
    signals: tuple[RiskSignalResult, ...]
    """At most 200 in the order of the transcript, those of the highest level before others."""
    signal_count: int
    """How many were found, listed or not."""
    examined: ExaminedResult
    """Which words the phrases read for them."""
    model: RiskModelResult
    statement: str
    """What this is and is not."""
    resources: str
    """Where to turn, as the operator of the service set it."""


class SpeakerResult(Result):
    """Whom a label of the transcript stands for."""

    label: str | None
    """As the transcript has it; null for words that no label names a speaker for."""
    role: Speaker
    turns: int


class NoteResult(Result):
    """Something odd or assumed about what was read."""

    code: str
    count: int
    line: int | None
    """The first line concerned, from 1."""


class TranscriptResult(Result):
    """How the transcript was read."""

    form: str
    """Such as text, webvtt, whisper or docx; told by the content."""
    encoding: str | None
    """Of a file; null for what was sent as text."""
    turns: int
    turn_seconds: tuple[float | None, ...]
    """When each turn begins in the recording; empty for a transcript without times."""
    speakers: tuple[SpeakerResult, ...]
    """In the order in which they first speak."""
    notes: tuple[NoteResult, ...]
    """What was assumed, left out or odd."""


class Envelope(Result):
    """What every result says about itself."""

    assessment_id: str
    schema_version: Literal["1"] = SCHEMA_VERSION
    status: AssessmentStatus
    risk: RiskResult
    notice: str = NOTICE
    participant_id: int | None
    mode: str
    speakers_assumed: bool
    """True when the transcript has no speaker labels, so that all of it counts as the patient's."""
    transcript: TranscriptResult
    models: dict[str, AgentModels]
    prompts: dict[str, str]
    """Prompt name → digest of its wording."""
    grounding: GroundingResult | None
    attempts: tuple[Attempt, ...]
    failures: tuple[FailureRecord, ...]
    transcript_text: str | None
    """The text that offsets count in, where it was made from a file; null for a text as sent."""


class QuantitativeResult(QuantitativePart, Envelope):
    """Result of a quantitative assessment."""


class QualitativeResult(QualitativePart, Envelope):
    """Result of a qualitative assessment."""


class FullResult(Envelope):
    """Result of a whole assessment; a part that has no result is null and listed in failures."""

    quantitative: QuantitativePart | None
    qualitative: QualitativePart | None
    evaluation: EvaluationPart | None
    meta_review: MetaReviewPart | None
