"""What a run predicted for each unit: scores, counts and codes, no text."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Final, TypeVar

from pydantic import AfterValidator, Field

from ai_psychiatrist.domain.assessment import Assessment, AssessmentMode, AssessmentStatus
from ai_psychiatrist.domain.belief import BeliefSource, ItemBelief
from ai_psychiatrist.domain.drive import (
    Change,
    DriveReason,
    DriveVerdict,
    ItemDrive,
    ScoringEnd,
)
from ai_psychiatrist.domain.evidence import Frequency, Polarity, Timeframe
from ai_psychiatrist.domain.failures import (
    AttemptOutcome,
    CallPath,
    FailureCategory,
    FailureCode,
    RejectionCode,
)
from ai_psychiatrist.domain.items import (
    ItemAssessment,
    NoReferences,
    PHQ8Assessment,
    ShownReference,
)
from ai_psychiatrist.domain.phq8 import (
    Item,
    NotExaminedCause,
    Severity,
    TotalScore,
    UnknownReason,
    require_score_or_reason,
    total_of,
)
from ai_psychiatrist.domain.risk import RiskLevel, is_to_be_read
from ai_psychiatrist.evaluation.datasets.dataset import ItemScore
from ai_psychiatrist.evaluation.scores.record_lines import StrictRecord

Probability = Annotated[float, Field(ge=0, le=1)]
Confidence = Annotated[int, Field(ge=1, le=5)]
Count = Annotated[int, Field(ge=0)]
_DIGITS: Final = 6
_ROUNDING: Final = 1e-5


def _adding_up(shares: tuple[float, ...]) -> tuple[float, ...]:
    if not math.isclose(math.fsum(shares), 1, abs_tol=_ROUNDING):
        msg = "the probabilities of an item add up to 1"
        raise ValueError(msg)
    return shares


Probabilities = Annotated[
    tuple[Probability, Probability, Probability, Probability, Probability],
    AfterValidator(_adding_up),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPrediction(StrictRecord):
    """A set of neighbouring scores, not determinable among them or not."""

    low: ItemScore | None
    high: ItemScore | None
    not_determinable: bool
    level: Probability


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefPrediction(StrictRecord):
    """How likely each score of an item is, to six decimal places."""

    probabilities: Probabilities
    """Of 0, 1, 2, 3 and not determinable."""
    raw: Probabilities
    """The same before they were recalibrated; what a fit is made from."""
    sources: tuple[BeliefSource, ...]
    calibrated: bool
    set: SetPrediction | None

    def of(self, score: int | None) -> float:
        """Return the probability of a score, or of not determinable for none."""
        return self.probabilities[4 if score is None else score]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedScorePrediction(StrictRecord):
    """What the model said of the item of one changed transcript."""

    end: ScoringEnd
    score: ItemScore | None
    code: FailureCode | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FaithfulnessPrediction(StrictRecord):
    """Whether the evidence drives a score: the verdict, and the score under each change."""

    verdict: DriveVerdict
    reason: DriveReason
    scores: Mapping[Change, ChangedScorePrediction]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSignals(StrictRecord):
    """What the evidence for one item amounts to, by counts of quotes."""

    llm_evidence_count: Count
    """Quotes of the evidence stage that are grounded."""
    llm_evidence_extracted_count: Count
    llm_evidence_rejected_count: Count
    affirmed: Count
    """Grounded quotes that say that the symptom is there; with the next two, all of them."""
    denied: Count
    unclear: Count
    past: Count
    """Those of any of the three that speak of what is over."""
    frequency: Frequency


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemPrediction(StrictRecord):
    """One item: a score 0-3, or unknown with the reason."""

    score: ItemScore | None
    unknown_reason: UnknownReason | None
    proposed_score: ItemScore | None
    confidence: Confidence | None
    """1 (guess) to 5 (certain), as the model said it."""
    signals: ItemSignals
    warnings: tuple[str, ...] = ()
    """Names of the clinical rules that speak against the model's answer."""
    belief: BeliefPrediction | None = None
    """How likely each score is; `None` in runs that were made without it."""
    references: tuple[ShownReference, ...] = ()
    """Examples of other participants that scoring was shown for the item."""
    no_references: NoReferences | None = None
    """Why there are none, in a mode that shows them."""
    drive: FaithfulnessPrediction | None = None
    """Whether the evidence drives the score; `None` in runs that were made without it."""
    not_examined_cause: NotExaminedCause | None = None
    """Why nothing was read, where the item is unknown as not examined."""
    unread_turn: Count | None = None
    """The turn of the question, from 0, whose answer was not read."""

    def __post_init__(self) -> None:
        require_score_or_reason(self.score, self.unknown_reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptSummary(StrictRecord):
    """One model call, without its digest and its duration: those differ from run to run."""

    agent: str
    model: str
    path: CallPath
    outcome: AttemptOutcome
    code: RejectionCode | FailureCode | None
    repaired: bool
    coercions: Count
    input_tokens: Count | None
    output_tokens: Count | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureSummary(StrictRecord):
    """One thing that went wrong with a unit."""

    category: FailureCategory
    stage: str
    code: FailureCode | None


_ITEMS: Final = frozenset(Item)
_NO_SCORE: Final = (None,) * len(Item)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitPrediction(StrictRecord):
    """What the run gave for one unit; totals follow from the items and are written with them."""

    unit_id: Annotated[str, Field(min_length=1)]
    status: AssessmentStatus
    mode: AssessmentMode = AssessmentMode.ZERO_SHOT
    """The only one that there was before predictions told it."""
    items: Mapping[Item, ItemPrediction] = field(default_factory=dict)
    """All eight items, or none when scoring failed."""
    meta_review_severity: Severity | None = None
    risk_level: RiskLevel | None = None
    """`None` when the unit failed before its transcript was read, and the next two with it."""
    signs_to_read: Count | None = None
    """How many signs are affirmed, hypothetical or unclear at moderate or above."""
    turns_not_examined: Count | None = None
    """How many turns are in a language that is not read."""
    attempts: tuple[AttemptSummary, ...] = ()
    failures: tuple[FailureSummary, ...] = ()
    changes: Count = 0
    """After how many accepted changes of what a run is made with the unit was assessed."""

    def __post_init__(self) -> None:
        if self.items and self.items.keys() != _ITEMS:
            msg = "a prediction holds all eight items or none"
            raise ValueError(msg)

    @property
    def range(self) -> TotalScore:
        """The range of the total; 0-24 when scoring failed."""
        return total_of(self.scores())

    def scores(self) -> tuple[int | None, ...]:
        """Return the items' scores, `None` where one is unknown; where scoring failed, all are."""
        return tuple(found.score for found in self.items.values()) or _NO_SCORE

    def score(self, item: Item) -> int | None:
        """Return an item's score, `None` when it is unknown or scoring failed."""
        found = self.items.get(item)
        return None if found is None else found.score

    def unknown_reason(self, item: Item) -> UnknownReason | None:
        """Return why an item has no score, `None` when it has one."""
        found = self.items.get(item)
        return UnknownReason.SCORING_FAILED if found is None else found.unknown_reason


def signs_to_read(count: int | None, level: str | None) -> int | None:
    """Return how many signs a person has to read; `None` where the transcript was not read.

    Of predictions that were made before they were counted, whether their level says that there are.
    """
    if count is not None or level is None:
        return count
    return int(RiskLevel(level).is_urgent)


def prediction_of(assessment: Assessment, unit_id: str) -> UnitPrediction:
    """Return what an assessment says about a unit, without its text."""
    review = assessment.meta_review
    return UnitPrediction(
        unit_id=unit_id,
        status=assessment.status,
        mode=assessment.mode,
        items=_items_of(assessment.quantitative),
        meta_review_severity=None if review is None else review.severity,
        risk_level=assessment.risk.level,
        signs_to_read=sum(map(is_to_be_read, assessment.risk.signals)),
        turns_not_examined=assessment.risk.examined.count_not_examined,
        attempts=tuple(_copied(AttemptSummary, made) for made in assessment.attempts),
        failures=tuple(_copied(FailureSummary, failure) for failure in assessment.failures),
    )


def failed_prediction(
    unit_id: str, *failures: FailureSummary, mode: AssessmentMode = AssessmentMode.ZERO_SHOT
) -> UnitPrediction:
    """Return the prediction of a unit that gave no assessment at all."""
    return UnitPrediction(
        unit_id=unit_id, status=AssessmentStatus.FAILED, mode=mode, failures=failures
    )


Copy = TypeVar("Copy", AttemptSummary, FailureSummary, SetPrediction, ChangedScorePrediction)


def _copied(kind: type[Copy], whole: object) -> Copy:
    """Return those parts of an account that do not differ from run to run."""
    return kind(**{one.name: getattr(whole, one.name) for one in fields(kind)})


def _items_of(scores: PHQ8Assessment | None) -> dict[Item, ItemPrediction]:
    if scores is None or not scores.has_answers:
        return {}
    return {key: _item_of(found) for key, found in scores.items.items()}


def _item_of(found: ItemAssessment) -> ItemPrediction:
    polarities = Counter(quote.polarity for quote in found.evidence)
    return ItemPrediction(
        score=found.score,
        unknown_reason=found.unknown_reason,
        not_examined_cause=found.not_examined_cause,
        unread_turn=None if found.unread_answer is None else found.unread_answer.question_turn,
        proposed_score=found.proposed_score,
        confidence=found.confidence,
        warnings=found.warnings,
        belief=None if found.belief is None else _belief_of(found.belief),
        references=found.references,
        no_references=found.no_references,
        drive=None if found.drive is None else _drive_of(found.drive),
        signals=ItemSignals(
            llm_evidence_count=found.llm_evidence_count,
            llm_evidence_extracted_count=found.llm_evidence_extracted_count,
            llm_evidence_rejected_count=found.llm_evidence_rejected_count,
            affirmed=polarities[Polarity.AFFIRMED],
            denied=polarities[Polarity.DENIED],
            unclear=polarities[Polarity.UNCLEAR],
            past=sum(quote.timeframe is Timeframe.PAST for quote in found.evidence),
            frequency=found.frequency,
        ),
    )


def _belief_of(belief: ItemBelief) -> BeliefPrediction:
    return BeliefPrediction(
        probabilities=_rounded(belief.probabilities),
        raw=_rounded(belief.raw or belief.probabilities),
        sources=belief.sources,
        calibrated=belief.calibrated,
        set=None if belief.set is None else _copied(SetPrediction, belief.set),
    )


def _rounded(shares: tuple[float, ...]) -> tuple[float, float, float, float, float]:
    first, second, third, fourth, last = (round(share, _DIGITS) for share in shares)
    return first, second, third, fourth, last


def _drive_of(drive: ItemDrive) -> FaithfulnessPrediction:
    scores = {
        change: _copied(ChangedScorePrediction, said) for change, said in drive.scores.items()
    }
    return FaithfulnessPrediction(verdict=drive.verdict, reason=drive.reason, scores=scores)
