"""How near the totals are: exact ones alone, the ranges of all units, and the bands."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ai_psychiatrist.domain.phq8 import MAX_TOTAL_SCORE, Severity, severity_of
from ai_psychiatrist.evaluation.metrics.kinds import ExactTotals, Severities, TotalRanges
from ai_psychiatrist.evaluation.metrics.labelled_units import LabelledUnits
from ai_psychiatrist.evaluation.metrics.metric import Row, measured, metric
from ai_psychiatrist.evaluation.metrics.scale import Better, Scale
from ai_psychiatrist.evaluation.metrics.tree import Tree
from ai_psychiatrist.evaluation.scores.predicted_units import UNKNOWN
from ai_psychiatrist.statistics.arrays import Array
from ai_psychiatrist.statistics.measure import Measure, ratio, root_of_ratio

UNDECIDABLE: Final = "undecidable"


def total_section(labelled: LabelledUnits) -> dict[str, Tree]:
    """Return errors of exact totals, and how well the ranges hold the truth."""
    low, high = labelled.low, labelled.high
    ranges = TotalRanges(
        low=low.astype(np.float64),
        high=high.astype(np.float64),
        truth=labelled.totals.astype(np.float64),
    )
    pairs = ExactTotals.beside(np.where(low == high, low, UNKNOWN), labelled.totals)
    return {"exact": measured(pairs), "range": measured(ranges)}


def severity_section(labelled: LabelledUnits) -> dict[str, Tree]:
    """Return how often the band is right, and which band is taken for which.

    A unit whose range spans several bands is undecidable; it has no error and is counted apart.
    """
    lower, upper = bands_of(labelled.low), bands_of(labelled.high)
    pairs = Severities.beside(np.where(lower == upper, lower, UNKNOWN), bands_of(labelled.totals))
    columns = np.where(pairs.said < 0, len(Severity), pairs.said)
    return {
        "confusion": {
            "rows": [severity.label for severity in Severity],
            "columns": [*(severity.label for severity in Severity), UNDECIDABLE],
            "counts": _confusion(pairs.truth[pairs.is_true], columns[pairs.is_true]),
        },
        **measured(pairs),
    }


def bands_of(totals: NDArray[np.integer]) -> NDArray[np.intp]:
    """Return the bands of totals, `UNKNOWN` where these are."""
    bands = np.array([*map(severity_of, range(MAX_TOTAL_SCORE + 1)), UNKNOWN], dtype=np.intp)
    return np.asarray(bands[totals], dtype=np.intp)


def _confusion(truth: Array, columns: Array) -> list[Tree]:
    width = len(Severity) + 1
    cells = (truth * width + columns).astype(np.intp)
    counts = np.bincount(cells, minlength=len(Severity) * width)
    return [[int(count) for count in row] for row in counts.reshape(len(Severity), width)]


@metric(on={ExactTotals: Row(3, "Root mean squared error")}, better=Better.LOWER)
def rmse(totals: ExactTotals) -> Measure:
    """Root of the mean squared error of exact totals."""
    squares = (totals.distance**2).sum(axis=1)
    return root_of_ratio(squares, totals.answered, undefined=totals.no_pair)


@metric(
    on={TotalRanges: Row(1, "Range holds the true total", "all units; wide ranges do so easily")},
    better=Better.HIGHER,
    scale=Scale.SHARE,
)
def holds_truth(ranges: TotalRanges) -> Measure:
    """Share of labelled totals within the smallest and the largest possible total."""
    within = ranges.is_true & (ranges.low <= ranges.truth) & (ranges.truth <= ranges.high)
    return ratio(within, ranges.is_true, undefined=ranges.no_truth)


@metric(on={TotalRanges: Row(2, "Mean width of the range")}, better=Better.LOWER)
def mean_width(ranges: TotalRanges) -> Measure:
    """Mean distance of the largest from the smallest possible total."""
    width = np.where(ranges.is_true, ranges.high - ranges.low, 0.0)
    return ratio(width, ranges.is_true, undefined=ranges.no_truth)


@metric(on={TotalRanges: Row(3, "Mean error of the range's midpoint")}, better=Better.LOWER)
def midpoint_mae(ranges: TotalRanges) -> Measure:
    """Mean absolute error of the middle of the range."""
    return ratio(ranges.off_middle, ranges.is_true, undefined=ranges.no_truth)


@metric(on={TotalRanges: None}, better=Better.LOWER)
def midpoint_rmse(ranges: TotalRanges) -> Measure:
    """Root of the mean squared error of the middle of the range."""
    return root_of_ratio(ranges.off_middle**2, ranges.is_true, undefined=ranges.no_truth)


@metric(
    on={Severities: Row(1, "Severity band right, of all", "an undecidable band counts as wrong")},
    source="Kroenke et al. 2009",
    better=Better.HIGHER,
    scale=Scale.SHARE,
)
def exact_undecidable_as_wrong(bands: Severities) -> Measure:
    """Share of all labelled units with the right band."""
    return ratio(bands.is_right.sum(axis=1), bands.asked, undefined=bands.no_truth)


@metric(
    on={Severities: Row(3, "Band right, of the decided")},
    source="Kroenke et al. 2009",
    better=Better.HIGHER,
    scale=Scale.SHARE,
)
def exact(bands: Severities) -> Measure:
    """Share of decided units with the right band."""
    return ratio(bands.is_right.sum(axis=1), bands.answered, undefined=bands.no_pair)


@metric(
    on={Severities: Row(4, "Right or one band off, of the decided")},
    source="Kroenke et al. 2009",
    better=Better.HIGHER,
    scale=Scale.SHARE,
)
def adjacent(bands: Severities) -> Measure:
    """Share of decided units whose band is at most one off."""
    near = (bands.is_both & (bands.distance <= 1)).sum(axis=1)
    return ratio(near, bands.answered, undefined=bands.no_pair)
