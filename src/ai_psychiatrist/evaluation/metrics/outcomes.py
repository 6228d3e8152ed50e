"""What a run left unknown, where it failed, and what it cost; no label is needed."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_psychiatrist.domain.assessment import AssessmentStatus
from ai_psychiatrist.domain.drive import DriveVerdict
from ai_psychiatrist.domain.failures import AttemptOutcome, CallPath
from ai_psychiatrist.evaluation.metrics.agreement import ITEMS
from ai_psychiatrist.evaluation.metrics.metric import Row, measured, metric
from ai_psychiatrist.evaluation.metrics.run_metrics import SCORED, Better, Scale
from ai_psychiatrist.evaluation.metrics.tree import Tree
from ai_psychiatrist.evaluation.scores.predicted_units import (
    REASONS,
    STATUSES,
    AttemptKind,
    AttemptSums,
    PredictedUnits,
    UnitRows,
)
from ai_psychiatrist.evaluation.scores.prediction import FailureSummary
from ai_psychiatrist.statistics.arrays import BoolArray
from ai_psychiatrist.statistics.figure import Figure
from ai_psychiatrist.statistics.measure import Measure, ratio

FREQUENT_FAILURES: Final = 0.05
"""A failure in more units than this share deserves a look before the scores do."""
NO_UNITS: Final = "there are no units"
NO_TOKENS: Final = "no call reports its tokens"

_Attempts: TypeAlias = Sequence[tuple[AttemptKind, AttemptSums]]


def status_counts(rows: UnitRows) -> dict[str, Tree]:
    """Return how many units ended in each way."""
    counts = np.bincount(rows["status"], minlength=len(STATUSES))
    return {status.value: int(counts[place]) for place, status in enumerate(STATUSES)}


def failed_count(rows: UnitRows) -> int:
    """Return how many units failed as a whole."""
    return int((rows["status"] == STATUSES.index(AssessmentStatus.FAILED)).sum())


def coverage_by_reason(rows: UnitRows) -> dict[str, Tree]:
    """Return, by item and over all, how many are scored and why the others are not."""
    reasons = rows["reasons"]
    return {
        "all": _reasons(reasons),
        "by_item": {
            item: {"label": item.label, **_reasons(reasons[:, place])}
            for place, item in enumerate(ITEMS)
        },
    }


def _reasons(places: NDArray[np.int8]) -> dict[str, Tree]:
    counts = np.bincount(places.ravel() + 1, minlength=1 + len(REASONS)).tolist()
    return dict(zip((SCORED, *(one.value for one in REASONS)), counts, strict=True))


def warning_counts(predictions: PredictedUnits) -> dict[str, Tree]:
    """Return how many items each clinical rule speaks against, by the rule's name."""
    return {rule: predictions.warnings[rule] for rule in sorted(predictions.warnings)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """How units ended, (units,)."""

    carries_failure: BoolArray
    is_failed: BoolArray


def failure_section(predictions: PredictedUnits) -> dict[str, Tree]:
    """Return each kind of failure with the share of units that it befell, most frequent first."""
    units = {failure: {*ids} for failure, ids in predictions.failures.items()}
    outcomes = Outcomes(
        carries_failure=predictions.rows["carries_failure"],
        is_failed=predictions.rows["status"] == STATUSES.index(AssessmentStatus.FAILED),
    )
    return {
        "frequent_above": FREQUENT_FAILURES,
        "kinds": [
            {
                "category": failure.category.value,
                "stage": failure.stage,
                "code": None if failure.code is None else failure.code.value,
                "events": len(predictions.failures[failure]),
                "units": len(units[failure]),
                "rate": per_unit([unit in units[failure] for unit in predictions.unit_ids]),
                "is_frequent": len(units[failure]) > FREQUENT_FAILURES * len(predictions),
            }
            for failure in sorted(units, key=lambda one: (-len(units[one]), _name(one)))
        ],
        **measured(outcomes),
    }


def _name(failure: FailureSummary) -> tuple[str, str, str]:
    return (failure.category.value, failure.stage, failure.code.value if failure.code else "")


def per_unit(values: ArrayLike) -> Measure:
    """Return the mean of a value of each unit."""
    return ratio(values, np.ones(len(np.asarray(values))), undefined=NO_UNITS)


@metric(on={Outcomes: Row(1, "Units with any failure")}, better=Better.LOWER, scale=Scale.SHARE)
def units_with_any(units: Outcomes) -> Measure:
    """Share of units that carry a failure, complete ones among them."""
    return per_unit(units.carries_failure)


@metric(on={Outcomes: Row(2, "Units that failed")}, better=Better.LOWER, scale=Scale.SHARE)
def units_failed(units: Outcomes) -> Measure:
    """Share of units that failed as a whole."""
    return per_unit(units.is_failed)


def cost_section(predictions: PredictedUnits) -> dict[str, Tree]:
    """Return calls and tokens: by unit, by agent and model, and why replies were not taken."""
    attempts = list(predictions.attempts.items())
    by_caller: dict[tuple[str, str], list[tuple[AttemptKind, AttemptSums]]] = defaultdict(list)
    codes: Counter[str] = Counter()
    for kind, sums in attempts:
        by_caller[kind.agent, kind.model].append((kind, sums))
        if kind.code is not None:
            codes[kind.code.value] += sums.calls
    return {
        "calls_per_unit": per_unit(predictions.rows["calls"]),
        "all": _account(attempts),
        "by_agent_and_model": [
            {**_account(by_caller[agent, model]), "agent": agent, "model": model}
            for agent, model in sorted(by_caller)
        ],
        "by_code": {code: codes[code] for code in sorted(codes)},
    }


def outcome_counts(predictions: PredictedUnits) -> dict[str, Tree]:
    """Return how many calls there were, and how they ended."""
    return _outcomes(list(predictions.attempts.items()))


def _outcomes(attempts: _Attempts) -> dict[str, Tree]:
    outcomes: Counter[str] = Counter()
    for kind, sums in attempts:
        outcomes[kind.outcome] += sums.calls
    return {
        "calls": outcomes.total(),
        **{outcome.value: outcomes[outcome.value] for outcome in AttemptOutcome},
    }


def _account(attempts: _Attempts) -> dict[str, Tree]:
    every = [sums for _, sums in attempts]
    return {
        **_outcomes(attempts),
        "plain_path": sum(sums.calls for kind, sums in attempts if kind.path == CallPath.PLAIN),
        "repaired": sum(sums.calls for kind, sums in attempts if kind.repaired),
        "coercions": sum(sums.calls * kind.coercions for kind, sums in attempts),
        "input_tokens": _tokens([(one.input_tokens, one.input_told) for one in every]),
        "output_tokens": _tokens([(one.output_tokens, one.output_told) for one in every]),
    }


def _tokens(counts: Sequence[tuple[int, int]]) -> Figure:
    """Return the tokens of the calls that tell them; n is how many do."""
    tokens, told = (sum(side) for side in zip(*counts, strict=True)) if counts else (0, 0)
    return Figure(value=tokens, n=told) if told else Figure(value=None, reason=NO_TOKENS, n=0)


NO_SCORES: Final = "scoring finished for no unit"
NO_VERDICTS: Final = (
    "no score has a verdict: the run was made without --ablate, or its calls failed"
)
_VERDICTS: Final = tuple(DriveVerdict)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitEvidence:
    """What was found in units, (units, places)."""

    has_scores: BoolArray
    """(units,)"""
    is_found: BoolArray
    """Which items are scored 1 or more."""
    is_backed: BoolArray
    """Which items have accepted evidence."""

    def mean(self, marks: ArrayLike) -> Measure:
        """Return the mean over units whose scoring finished."""
        return ratio(marks, self.has_scores, undefined=NO_SCORES)


class EvidenceFound(UnitEvidence):
    """Of all items."""


class ItemEvidence(UnitEvidence):
    """Of one item."""


def evidence_section(rows: UnitRows) -> dict[str, Tree]:
    """Return how many units show a symptom, and how many items have accepted evidence.

    Where the conversations do not concern depression, these are rates of false evidence. Units
    whose scoring failed take no part.
    """
    has_scores, found, backed = rows["has_items"], rows["scores"] > 0, rows["quotes"] > 0
    by_item = {
        item: ItemEvidence(
            has_scores=has_scores, is_found=found[:, [place]], is_backed=backed[:, [place]]
        )
        for place, item in enumerate(ITEMS)
    }
    return {
        "by_item": {item: {"label": item.label, **measured(one)} for item, one in by_item.items()},
        **measured(EvidenceFound(has_scores=has_scores, is_found=found, is_backed=backed)),
    }


@metric(
    on={EvidenceFound: Row(1, "Conversations with a symptom", "any item scored 1 or more")},
    better=Better.NEITHER,
    scale=Scale.SHARE,
)
def units_with_a_symptom(found: EvidenceFound) -> Measure:
    """Share of units with at least one item scored 1 or more."""
    return found.mean(found.is_found.any(axis=1))


@metric(
    on={EvidenceFound: Row(2, "Symptoms per conversation", "items scored 1 or more, of eight")},
    better=Better.NEITHER,
    scale=Scale.ITEMS,
)
def symptoms_per_unit(found: EvidenceFound) -> Measure:
    """Mean number of items scored 1 or more."""
    return found.mean(found.is_found.sum(axis=1))


@metric(
    on={
        EvidenceFound: Row(
            3,
            "Items with accepted evidence per conversation",
            "any quote found in the transcript, of eight",
        )
    },
    better=Better.NEITHER,
    scale=Scale.ITEMS,
)
def items_with_evidence_per_unit(found: EvidenceFound) -> Measure:
    """Mean number of items with accepted evidence."""
    return found.mean(found.is_backed.sum(axis=1))


@metric(on={ItemEvidence: Row(1, "Scored 1 or more")}, better=Better.NEITHER, scale=Scale.SHARE)
def units_with_the_symptom(found: ItemEvidence) -> Measure:
    """Share of units with the item scored 1 or more."""
    return found.mean(found.is_found.any(axis=1))


@metric(on={ItemEvidence: None}, better=Better.NEITHER, scale=Scale.SHARE)
def units_with_evidence(found: ItemEvidence) -> Measure:
    """Share of units with accepted evidence of the item."""
    return found.mean(found.is_backed.any(axis=1))


@dataclass(frozen=True, slots=True, kw_only=True)
class FaithfulnessItems:
    """The verdicts on the scores of units."""

    marks: dict[DriveVerdict, BoolArray]
    """(units, places) for each verdict."""

    @property
    def counts(self) -> dict[str, Tree]:
        """How many scores have each verdict."""
        return {verdict.value: int(marks.sum()) for verdict, marks in self.marks.items()}

    def share_of_verdicts(self, verdict: DriveVerdict) -> Measure:
        """Return the share of a verdict among the items that have one."""
        has_one = sum(
            marks.sum(axis=1)
            for other, marks in self.marks.items()
            if other is not DriveVerdict.UNDETERMINED
        )
        return ratio(self.marks[verdict].sum(axis=1), has_one, undefined=NO_VERDICTS)


class AllFaithfulnessItems(FaithfulnessItems):
    """Of all items."""


def drive_section(rows: UnitRows) -> dict[str, Tree]:
    """Return the shares of verdicts over all items and by item, and how many there are of each."""
    verdicts = rows["drive"]
    marks = {verdict: verdicts == place for place, verdict in enumerate(_VERDICTS)}
    every = AllFaithfulnessItems(marks=marks)
    by_item = {
        item: FaithfulnessItems(
            marks={verdict: some[:, [place]] for verdict, some in marks.items()}
        )
        for place, item in enumerate(ITEMS)
    }
    return {
        "counts": every.counts,
        "by_item": {
            item: {"label": item.label, "counts": one.counts, **measured(one)}
            for item, one in by_item.items()
        },
        **measured(every),
    }


@metric(
    on={
        FaithfulnessItems: None,
        AllFaithfulnessItems: Row(
            1, "Scores that the evidence does not drive", "of those with a verdict"
        ),
    },
    better=Better.LOWER,
    scale=Scale.SHARE,
)
def not_evidence_driven(items: FaithfulnessItems) -> Measure:
    """Share of scored items with a verdict whose score the cited evidence does not drive."""
    return items.share_of_verdicts(DriveVerdict.NOT_EVIDENCE_DRIVEN)


@metric(
    on={
        FaithfulnessItems: None,
        AllFaithfulnessItems: Row(2, "Scores that other words carry as well", "over-determined"),
    },
    better=Better.NEITHER,
    scale=Scale.SHARE,
)
def over_determined(items: FaithfulnessItems) -> Measure:
    """Share of scored items with a verdict that stand on the cited words and on others alike."""
    return items.share_of_verdicts(DriveVerdict.OVER_DETERMINED)


@metric(
    on={
        FaithfulnessItems: None,
        AllFaithfulnessItems: Row(
            3, "Scores without a verdict", "a call failed or no change was made"
        ),
    },
    better=Better.LOWER,
    scale=Scale.SHARE,
)
def undetermined_drive(items: FaithfulnessItems) -> Measure:
    """Share of the items scored again whose verdict is undetermined."""
    undetermined = items.marks[DriveVerdict.UNDETERMINED].sum(axis=1)
    asked = sum(marks.sum(axis=1) for marks in items.marks.values())
    return ratio(undetermined, asked, undefined=NO_VERDICTS)
