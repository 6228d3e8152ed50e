"""What a run left unknown, where it failed, and what it cost; no label is needed."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_psychiatrist.domain.assessment import AssessmentStatus
from ai_psychiatrist.domain.failures import AttemptOutcome, CallPath
from ai_psychiatrist.evaluation.metrics.agreement import ITEMS
from ai_psychiatrist.evaluation.metrics.metric import Row, measured, metric
from ai_psychiatrist.evaluation.metrics.run_metrics import SCORED
from ai_psychiatrist.evaluation.metrics.scale import Better, Scale
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


def _account(attempts: _Attempts) -> dict[str, Tree]:
    every = [sums for _, sums in attempts]
    outcomes: Counter[str] = Counter()
    for kind, sums in attempts:
        outcomes[kind.outcome] += sums.calls
    return {
        "calls": sum(one.calls for one in every),
        **{outcome.value: outcomes[outcome.value] for outcome in AttemptOutcome},
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
