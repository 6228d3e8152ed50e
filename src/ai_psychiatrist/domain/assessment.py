"""What an assessment holds: findings, the judge's verdict, item scores and the meta-review."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from ai_psychiatrist.domain.belief import ItemBelief, TotalInterval
from ai_psychiatrist.domain.drive import ItemDrive
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.evidence import (
    Frequency,
    Grounding,
    Quote,
    UnreadAnswer,
    UnverifiedQuote,
)
from ai_psychiatrist.domain.failures import Attempt, FailureRecord, UnreadPart
from ai_psychiatrist.domain.phq8 import (
    Item,
    NotExaminedCause,
    Severity,
    TotalScore,
    UnknownReason,
    require_score_or_reason,
    total_of,
)
from ai_psychiatrist.domain.references import NoReferences, ShownReference
from ai_psychiatrist.domain.risk import RiskReport
from ai_psychiatrist.domain.transcript import Transcript


class AssessmentMode(StrEnum):
    """What scoring sees beside the transcript."""

    ZERO_SHOT = "zero_shot"
    """Nothing."""
    FEW_SHOT = "few_shot"
    """Scored examples of other participants that are like the evidence."""
    RANDOM_REFERENCES = "random_references"
    """Scored examples of other participants, drawn by chance."""
    DESCRIPTIONS_ONLY = "descriptions_only"
    """What each item is about, in more words, and no example."""

    @property
    def shows_references(self) -> bool:
        """Whether scored examples of other participants are needed."""
        return self in {AssessmentMode.FEW_SHOT, AssessmentMode.RANDOM_REFERENCES}

    @classmethod
    def named(cls, name: str) -> "AssessmentMode":
        """Return the mode of a name, in which `-` may stand for `_`; raises `InputError`."""
        wanted = name.strip().casefold().replace("-", "_")
        for mode in cls:
            if mode == wanted:
                return mode
        msg = f"mode has to be {', '.join(list(cls)[:-1])} or {list(cls)[-1]}"
        raise InputError(msg, field="mode")


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedScoring:
    """How a caller wants the items scored."""

    mode: AssessmentMode = AssessmentMode.ZERO_SHOT
    ablates: bool = False
    """Whether to score again with the evidence changed, to tell whether it drives the scores."""
    participant: int | str | None = None
    """Whose references are never shown, and with the next those of whoever said the same words."""
    session: str | None = None


AS_SET: Final = WantedScoring()
"""Nothing wanted but what is configured."""


class AssessmentStatus(StrEnum):
    """How much of an assessment finished."""

    COMPLETE = "complete"
    PARTIAL = "partial"
    FAILED = "failed"


class Metric(StrEnum):
    """What the judge scores in the findings."""

    COHERENCE = "coherence"
    COMPLETENESS = "completeness"
    SPECIFICITY = "specificity"
    ACCURACY = "accuracy"


@dataclass(frozen=True, slots=True, kw_only=True)
class QualitativeAssessment:
    """The narrative findings; each quote is grounded or marked unverified."""

    overall: str = field(repr=False)
    phq8_symptoms: str = field(repr=False)
    social_factors: str = field(repr=False)
    biological_factors: str = field(repr=False)
    risk_factors: str = field(repr=False)
    supporting_quotes: tuple[Quote | UnverifiedQuote, ...] = ()
    dropped_quotes: int = 0
    """How many unverified quotes the quote check removed; 0 unless it is switched on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricScore:
    """The judge's score for one metric."""

    score: int
    """1 (poor) to 5 (very good)."""
    explanation: str = field(repr=False)
    """The judge's own words for it; empty where they could not be read."""
    warnings: tuple[UnreadPart, ...] = ()
    """What of the judge's reply could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRound:
    """One version of the findings and its scores; a metric whose call failed is absent."""

    round: int
    """0 for the first findings, then one more per refinement."""
    findings: QualitativeAssessment
    scores: Mapping[Metric, MetricScore]

    @property
    def average(self) -> float | None:
        """The mean of the metrics that were scored, or `None` when none was."""
        if not self.scores:
            return None
        return sum(metric.score for metric in self.scores.values()) / len(self.scores)


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrative:
    """The rounds of findings and judgement, and which of them was kept."""

    rounds: tuple[JudgedRound, ...]
    kept: int
    """Position in `rounds` of the best round."""

    @property
    def best(self) -> JudgedRound:
        """The round that was kept."""
        return self.rounds[self.kept]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemAssessment:
    """One item: a score 0-3 with its evidence, or unknown with the reason."""

    item: Item
    score: int | None
    unknown_reason: UnknownReason | None
    proposed_score: int | None
    """The score that the model gave, kept when the evidence does not carry it."""
    quotes: tuple[Quote, ...]
    frequency: Frequency
    """How often, as the quotes that affirm the symptom state it."""
    unverified_quotes: tuple[UnverifiedQuote, ...]
    reason: str = field(repr=False)
    confidence: int | None
    """1 (guess) to 5 (certain), as the model said it."""
    warnings: tuple[str, ...]
    """Names of the clinical rules that speak against the model's answer to this item, and of what
    of it could not be read."""
    llm_evidence_count: int
    """Quotes of the evidence stage that are grounded."""
    llm_evidence_extracted_count: int
    llm_evidence_rejected_count: int
    belief: ItemBelief | None = None
    """How likely each score is; `None` where nobody was asked."""
    drive: ItemDrive | None = None
    """Whether the evidence drives the score, where that was asked for and there is a score."""
    references: tuple[ShownReference, ...] = ()
    """Examples of other participants that scoring was shown for the item."""
    no_references: NoReferences | None = None
    """Why there are none, in a mode that shows them."""
    unread_answer: UnreadAnswer | None = None
    """The question for the item and its answer, where nothing was read from that."""
    not_examined_cause: NotExaminedCause | None = None
    """Why nothing was read, where the item is unknown as not examined."""

    def __post_init__(self) -> None:
        require_score_or_reason(self.score, self.unknown_reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class PHQ8Assessment:
    """The eight items in the order of the instrument."""

    items: tuple[ItemAssessment, ...]
    is_accepted: bool = True
    """Whether a reply answers each item; items without an answer keep what was found."""
    grounding: Grounding
    extracted_count: int
    validated_count: int
    rejected_count: int
    unknown_keys: int
    total_interval: TotalInterval | None = None
    """Where the beliefs of the items let the total lie; `None` where there are none."""

    @property
    def total(self) -> TotalScore:
        """The total, as a range while items are unknown."""
        return total_of(item.score for item in self.items)

    @property
    def is_scored(self) -> bool:
        """Whether any model gave scores, accepted or not."""
        return any(item.unknown_reason is not UnknownReason.SCORING_FAILED for item in self.items)

    @property
    def lost_all_evidence(self) -> bool:
        """Whether the model gave quotes and every one of them was refused."""
        return self.validated_count == 0 and self.rejected_count > 0

    @property
    def has_scores(self) -> bool:
        """Whether any item has a score."""
        return any(item.score is not None for item in self.items)

    @property
    def na_count(self) -> int:
        """How many items are unknown."""
        return sum(item.score is None for item in self.items)

    @property
    def rejected_by_domain(self) -> dict[str, int]:
        """Item key → how many of its quotes were refused."""
        return {item.item.value: item.llm_evidence_rejected_count for item in self.items}


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaReview:
    """The severity read from transcript, findings and scores together."""

    severity: Severity | None
    """`None` where the model's could not be read, or the words that tell it are in a language that
    is not."""
    explanation: str = field(repr=False)
    """Empty where it could not be read."""
    contradicts_item_scores: bool
    """True when the severity lies outside the bands that the item scores allow."""
    warnings: tuple[UnreadPart, ...] = ()
    """What of the model's reply could not be read."""

    @property
    def is_whole(self) -> bool:
        """Whether it says what it is made for: a severity, or why there can be none."""
        return UnreadPart.SEVERITY not in self.warnings

    @property
    def is_mdd(self) -> bool | None:
        """Whether the severity is moderate or above, `None` while it is unknown."""
        return None if self.severity is None else self.severity.is_mdd

    @property
    def severity_label(self) -> str | None:
        """The name of the severity, `None` while it is unknown."""
        return None if self.severity is None else self.severity.label


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """Everything that one run over one transcript gave, finished parts and failures alike."""

    transcript: Transcript
    risk: RiskReport
    """Found by the rules, whatever became of the rest; a model may have added to it."""
    participant_id: int | None
    mode: AssessmentMode
    status: AssessmentStatus
    narrative: Narrative | None
    quantitative: PHQ8Assessment | None
    meta_review: MetaReview | None
    attempts: tuple[Attempt, ...]
    failures: tuple[FailureRecord, ...]
    references: str | None = None
    """Digest of all references that there were to show, 64 hexadecimal digits."""
    hosts: tuple[str, ...] = ()
    """Those that words of the transcript were sent to."""
