"""What a run left unknown, where it failed, and what it cost; no label is needed."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ai_psychiatrist.domain.assessment import AssessmentStatus
from ai_psychiatrist.domain.failures import AttemptOutcome, CallPath
from ai_psychiatrist.evaluation.metrics.items import ITEMS
from ai_psychiatrist.evaluation.metrics.registry import measured
from ai_psychiatrist.evaluation.metrics.tree import Tree
from ai_psychiatrist.evaluation.scores.prediction import FailureSummary
from ai_psychiatrist.evaluation.scores.prediction_columns import (
    REASONS,
    STATUSES,
    AttemptKind,
    AttemptSums,
    Bytes,
    PredictionColumns,
)
from ai_psychiatrist.statistics.arrays import BoolArray
from ai_psychiatrist.statistics.figure import Figure
from ai_psychiatrist.statistics.measure import Measure, ratio

FREQUENT_FAILURES: Final = 0.05
"""A failure in more units than this share deserves a look before the scores do."""
NO_UNITS: Final = "there are no units"
NO_TOKENS: Final = "no call reports its tokens"
SCORED: Final = "scored"

Predictions = PredictionColumns
_Attempts: TypeAlias = tuple[AttemptKind, AttemptSums]


def status_counts(predictions: Predictions) -> dict[str, Tree]:
    """Return how many units ended in each way."""
    counts = np.bincount(predictions.rows.status, minlength=len(STATUSES))
    return {status.value: int(counts[place]) for place, status in enumerate(STATUSES)}


def coverage_by_reason(predictions: Predictions) -> dict[str, Tree]:
    """Return, by item and over all, how many are scored and why the others are not."""
    reasons = predictions.rows.reasons
    return {
        "all": _reasons(reasons),
        "by_item": {
            item: {"label": item.label, **_reasons(reasons[:, place])}
            for place, item in enumerate(ITEMS)
        },
    }


def _reasons(places: Bytes) -> dict[str, Tree]:
    scored, *others = np.bincount(places.ravel() + 1, minlength=1 + len(REASONS)).tolist()
    return {SCORED: scored, **dict(zip((one.value for one in REASONS), others, strict=True))}


def warning_counts(predictions: Predictions) -> dict[str, Tree]:
    """Return how many items each clinical rule speaks against, by the rule's name."""
    return {rule: predictions.warnings[rule] for rule in sorted(predictions.warnings)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """How units ended, (units,)."""

    carries_failure: BoolArray
    is_failed: BoolArray


def failure_section(predictions: Predictions) -> dict[str, Tree]:
    """Return each kind of failure with the share of units that it befell, most frequent first."""
    befallen = {}
    for failure, places in predictions.failures.items():
        befallen[failure] = np.zeros(len(predictions), dtype=np.bool_)
        befallen[failure][places] = True
    units = {failure: int(marks.sum()) for failure, marks in befallen.items()}
    outcomes = Outcomes(
        carries_failure=predictions.rows.carries_failure,
        is_failed=predictions.rows.status == STATUSES.index(AssessmentStatus.FAILED),
    )
    return {
        "frequent_above": FREQUENT_FAILURES,
        **measured(outcomes),
        "kinds": [
            {
                "category": failure.category.value,
                "stage": failure.stage,
                "code": None if failure.code is None else failure.code.value,
                "events": len(predictions.failures[failure]),
                "units": units[failure],
                "rate": per_unit(befallen[failure]),
                "is_frequent": units[failure] > FREQUENT_FAILURES * len(predictions),
            }
            for failure in sorted(befallen, key=lambda one: (-units[one], _name(one)))
        ],
    }


def _name(failure: FailureSummary) -> tuple[str, str, str]:
    return (failure.category.value, failure.stage, failure.code.value if failure.code else "")


def per_unit(values: ArrayLike) -> Measure:
    """Return the mean of a value of each unit."""
    return ratio(values, np.ones(len(np.asarray(values))), undefined=NO_UNITS)


def cost_section(predictions: Predictions) -> dict[str, Tree]:
    """Return calls and tokens: by unit, by agent and model, and why replies were not taken."""
    attempts = list(predictions.attempts.items())
    by_caller: dict[tuple[str, str], list[_Attempts]] = defaultdict(list)
    codes: Counter[str] = Counter()
    for kind, sums in attempts:
        by_caller[kind.agent, kind.model].append((kind, sums))
        if kind.code is not None:
            codes[kind.code] += sums.calls
    return {
        "calls_per_unit": per_unit(predictions.rows.calls),
        "all": _account(attempts),
        "by_agent_and_model": [
            {"agent": agent, "model": model, **_account(by_caller[agent, model])}
            for agent, model in sorted(by_caller)
        ],
        "by_code": {code: codes[code] for code in sorted(codes)},
    }


def _account(attempts: Sequence[_Attempts]) -> dict[str, Tree]:
    outcomes: Counter[str] = Counter()
    whole = AttemptSums()
    for kind, sums in attempts:
        outcomes[kind.outcome] += sums.calls
        whole.add(sums)
    return {
        "calls": whole.calls,
        **{outcome.value: outcomes[outcome.value] for outcome in AttemptOutcome},
        "plain_path": sum(sums.calls for kind, sums in attempts if kind.path == CallPath.PLAIN),
        "repaired": sum(sums.calls for kind, sums in attempts if kind.repaired),
        "coercions": sum(sums.calls * kind.coercions for kind, sums in attempts),
        "input_tokens": _tokens(whole.input_tokens, whole.input_told),
        "output_tokens": _tokens(whole.output_tokens, whole.output_told),
    }


def _tokens(tokens: int, told: int) -> Figure:
    """Return the tokens of the calls that tell them; n is how many do."""
    return Figure(value=tokens, n=told) if told else Figure(value=None, reason=NO_TOKENS, n=0)
