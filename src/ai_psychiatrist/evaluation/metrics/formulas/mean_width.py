"""How wide the ranges of totals are."""

import numpy as np

from ai_psychiatrist.evaluation.metrics.registry import Better, Row, metric
from ai_psychiatrist.evaluation.metrics.totals import TotalRanges
from ai_psychiatrist.statistics.measure import Measure, ratio


@metric(
    on={TotalRanges: Row(title="Mean width of the range", place=2)},
    definition="Mean distance of the largest from the smallest possible total.",
    better=Better.LOWER,
)
def mean_width(ranges: TotalRanges) -> Measure:
    """Of units with a labelled total."""
    width = np.where(ranges.is_true, ranges.high - ranges.low, 0.0)
    return ratio(width, ranges.is_true, undefined=ranges.no_truth)
