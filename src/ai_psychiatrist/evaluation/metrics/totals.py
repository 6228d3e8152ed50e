"""How near the totals are: exact ones alone, and the ranges of all units."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from ai_psychiatrist.domain.phq8 import Severity
from ai_psychiatrist.evaluation.metrics.measure import (
    Array,
    BoolArray,
    ratio,
    root_of_ratio,
)
from ai_psychiatrist.evaluation.metrics.moments import pearson, quadratic_kappa
from ai_psychiatrist.evaluation.metrics.scores import Scores
from ai_psychiatrist.evaluation.metrics.tree import Tree
from ai_psychiatrist.evaluation.prediction import UnitPrediction

NO_TOTAL: Final = "no unit has a labelled total"
NO_EXACT_TOTAL: Final = "no unit has both a labelled total and an exact one"
NO_SEVERITY: Final = "no unit has both a labelled total and a range within one band"
UNDECIDABLE: Final = "undecidable"


def total_section(scores: Scores) -> dict[str, Tree]:
    """Return errors of exact totals, and how well the ranges hold the truth."""
    truth, known = _column(scores.totals)
    exact, is_exact = _column([unit.total for unit in scores.predictions])
    low = np.array([unit.total_min for unit in scores.predictions], dtype=np.float64)
    high = np.array([unit.total_max for unit in scores.predictions], dtype=np.float64)
    both = known & is_exact
    error = np.where(both, np.abs(exact - truth), 0.0)
    off_middle = np.where(known, np.abs((low + high) / 2 - truth), 0.0)
    within = known & (low <= truth) & (truth <= high)
    return {
        "exact": {
            "mae": ratio(error, both, undefined=NO_EXACT_TOTAL),
            "rmse": root_of_ratio(error**2, both, undefined=NO_EXACT_TOTAL),
            "pearson": pearson(exact, truth, both),
            "coverage": ratio(both, known, undefined=NO_TOTAL),
        },
        "range": {
            "holds_truth": ratio(within, known, undefined=NO_TOTAL),
            "mean_width": ratio(np.where(known, high - low, 0.0), known, undefined=NO_TOTAL),
            "midpoint_mae": ratio(off_middle, known, undefined=NO_TOTAL),
            "midpoint_rmse": root_of_ratio(off_middle**2, known, undefined=NO_TOTAL),
        },
    }


def severity_section(scores: Scores) -> dict[str, Tree]:
    """Return how often the band is right, and which band is taken for which.

    A unit whose range spans several bands is undecidable; it has no error and is counted apart.
    """
    truth, known = _column(scores.severities)
    band, is_decided = _column([decided_severity(unit) for unit in scores.predictions])
    both = known & is_decided
    distance = np.abs(band - truth)
    right = both & (distance == 0)
    return {
        "exact": ratio(right, both, undefined=NO_SEVERITY),
        "adjacent": ratio(both & (distance <= 1), both, undefined=NO_SEVERITY),
        "exact_undecidable_as_wrong": ratio(right, known, undefined=NO_TOTAL),
        "coverage": ratio(both, known, undefined=NO_TOTAL),
        "quadratic_kappa": quadratic_kappa(band, truth, both),
        "confusion": {
            "rows": [severity.label for severity in Severity],
            "columns": [*(severity.label for severity in Severity), UNDECIDABLE],
            "counts": _confusion(truth[known], np.where(is_decided, band, len(Severity))[known]),
        },
    }


def decided_severity(unit: UnitPrediction) -> Severity | None:
    """Return the band that all totals of the range share, `None` when they do not."""
    lower, upper = unit.severity_lower_bound, unit.severity_upper_bound
    return lower if lower is upper else None


def _confusion(truth: Array, columns: Array) -> list[list[int]]:
    width = len(Severity) + 1
    cells = (truth * width + columns).astype(np.intp)
    counts = np.bincount(cells, minlength=len(Severity) * width)
    return [[int(count) for count in row] for row in counts.reshape(len(Severity), width)]


def _column(values: Sequence[int | None]) -> tuple[Array, BoolArray]:
    """Return values, 0 where unknown, and where they are known."""
    known = np.array([value is not None for value in values], dtype=np.bool_)
    return np.array([value or 0 for value in values], dtype=np.float64), known
