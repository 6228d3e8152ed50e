"""The mean absolute error."""

from ai_psychiatrist.evaluation.metrics.items import AllItems, RatedItems, ScoredItems
from ai_psychiatrist.evaluation.metrics.pairs import Pairs
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, metric
from ai_psychiatrist.evaluation.metrics.totals import ExactTotals
from ai_psychiatrist.statistics.measure import Measure, ratio


@metric(
    on={
        AllItems: Row(title="Mean error of the scored items", place=2),
        ScoredItems: Row(title="Mean error", place=2),
        RatedItems: Row(title="Mean distance of the raters", place=2),
        ExactTotals: Row(title="Mean error", place=2),
    },
    definition="Mean absolute error where there is a prediction; never read it without `coverage`.",
    better=Better.LOWER,
)
def mae(pairs: Pairs) -> Measure:
    """Each place counts once."""
    return ratio(pairs.distance.sum(axis=1), pairs.answered, undefined=pairs.no_pair)
