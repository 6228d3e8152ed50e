from ai_psychiatrist.evaluation.metrics.registry import Better, Row, metric
from ai_psychiatrist.evaluation.metrics.totals import TotalRanges
from ai_psychiatrist.statistics.measure import Measure, ratio


@metric(on={TotalRanges: Row(3, "Mean error of the range's midpoint")}, better=Better.LOWER)
def midpoint_mae(ranges: TotalRanges) -> Measure:
    """Mean absolute error of the middle of the range."""
    return ratio(ranges.off_middle, ranges.is_true, undefined=ranges.no_truth)
