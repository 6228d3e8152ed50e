from ai_psychiatrist.evaluation.metrics.registry import Better, metric
from ai_psychiatrist.evaluation.metrics.totals import TotalRanges
from ai_psychiatrist.statistics.measure import Measure, root_of_ratio


@metric(on={TotalRanges: None}, better=Better.LOWER)
def midpoint_rmse(ranges: TotalRanges) -> Measure:
    """Root of the mean squared error of the middle of the range."""
    return root_of_ratio(ranges.off_middle**2, ranges.is_true, undefined=ranges.no_truth)
