"""The root mean squared error of the range's middle."""

from ai_psychiatrist.evaluation.metrics.registry import Better, metric
from ai_psychiatrist.evaluation.metrics.totals import TotalRanges
from ai_psychiatrist.statistics.measure import Measure, root_of_ratio


@metric(
    on={TotalRanges: None},
    definition="Root of the mean squared error of the middle of the range.",
    better=Better.LOWER,
)
def midpoint_rmse(ranges: TotalRanges) -> Measure:
    """Over all labelled units, a failed one with the middle of the scale."""
    return root_of_ratio(ranges.off_middle**2, ranges.is_true, undefined=ranges.no_truth)
