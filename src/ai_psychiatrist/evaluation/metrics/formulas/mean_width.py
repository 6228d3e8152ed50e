import numpy as np

from ai_psychiatrist.evaluation.metrics.registry import Better, Row, metric
from ai_psychiatrist.evaluation.metrics.totals import TotalRanges
from ai_psychiatrist.statistics.measure import Measure, ratio


@metric(on={TotalRanges: Row(2, "Mean width of the range")}, better=Better.LOWER)
def mean_width(ranges: TotalRanges) -> Measure:
    """Mean distance of the largest from the smallest possible total."""
    width = np.where(ranges.is_true, ranges.high - ranges.low, 0.0)
    return ratio(width, ranges.is_true, undefined=ranges.no_truth)
