from ai_psychiatrist.evaluation.metrics.items import AllItems, RatedItems, ScoredItems
from ai_psychiatrist.evaluation.metrics.pairs import Pairs
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, metric
from ai_psychiatrist.evaluation.metrics.totals import ExactTotals
from ai_psychiatrist.statistics.measure import Measure, ratio


@metric(
    on={
        AllItems: Row(4, "Mean signed error", "of the scored items; above 0 is scored too high"),
        ScoredItems: None,
        RatedItems: None,
        ExactTotals: Row(4, "Mean signed error", "above 0 is scored too high"),
    },
    source="Bland & Altman 1986",
    better=Better.NEITHER,
    is_signed=True,
)
def bias(pairs: Pairs) -> Measure:
    """Mean of prediction − truth where there is a prediction; errors of both signs cancel out."""
    apart = (pairs.said - pairs.truth) * pairs.is_both
    return ratio(apart.sum(axis=1), pairs.answered, undefined=pairs.no_pair)
