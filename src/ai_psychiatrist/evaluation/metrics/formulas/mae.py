from ai_psychiatrist.evaluation.metrics.items import AllItems, RatedItems, ScoredItems
from ai_psychiatrist.evaluation.metrics.pairs import Pairs
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, metric
from ai_psychiatrist.evaluation.metrics.totals import ExactTotals
from ai_psychiatrist.statistics.measure import Measure, ratio


@metric(
    on={
        AllItems: Row(2, "Mean error of the scored items"),
        ScoredItems: Row(2, "Mean error"),
        RatedItems: Row(2, "Mean distance of the raters"),
        ExactTotals: Row(2, "Mean error"),
    },
    better=Better.LOWER,
)
def mae(pairs: Pairs) -> Measure:
    """Mean absolute error where there is a prediction; never read it without `coverage`."""
    return ratio(pairs.distance.sum(axis=1), pairs.answered, undefined=pairs.no_pair)
