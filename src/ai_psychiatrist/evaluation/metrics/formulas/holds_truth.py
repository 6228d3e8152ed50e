from ai_psychiatrist.evaluation.metrics.registry import Better, Row, Scale, metric
from ai_psychiatrist.evaluation.metrics.totals import TotalRanges
from ai_psychiatrist.statistics.measure import Measure, ratio


@metric(
    on={TotalRanges: Row(1, "Range holds the true total", "all units; wide ranges do so easily")},
    better=Better.HIGHER,
    scale=Scale.SHARE,
)
def holds_truth(ranges: TotalRanges) -> Measure:
    """Share of labelled totals within the smallest and the largest possible total."""
    within = ranges.is_true & (ranges.low <= ranges.truth) & (ranges.truth <= ranges.high)
    return ratio(within, ranges.is_true, undefined=ranges.no_truth)
