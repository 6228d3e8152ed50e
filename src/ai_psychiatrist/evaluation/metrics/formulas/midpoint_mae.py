"""The mean error of the range's middle."""

from ai_psychiatrist.evaluation.metrics.registry import Better, Row, metric
from ai_psychiatrist.evaluation.metrics.totals import TotalRanges
from ai_psychiatrist.statistics.measure import Measure, ratio


@metric(
    on={TotalRanges: Row(title="Mean error of the range's midpoint", place=3)},
    definition="Mean absolute error of the middle of the range.",
    better=Better.LOWER,
)
def midpoint_mae(ranges: TotalRanges) -> Measure:
    """Over all labelled units, a failed one with the middle of the scale."""
    return ratio(ranges.off_middle, ranges.is_true, undefined=ranges.no_truth)
