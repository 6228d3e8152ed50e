from ai_psychiatrist.domain.phq8 import MAX_ITEM_SCORE
from ai_psychiatrist.evaluation.metrics.items import AllItems, ScoredItems
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, metric
from ai_psychiatrist.statistics.measure import Measure, ratio


@metric(
    on={
        AllItems: Row(
            1, "Mean error, unknown items charged", "every unknown item counts as 3 points off"
        ),
        ScoredItems: None,
    },
    better=Better.LOWER,
)
def mae_charged(items: ScoredItems) -> Measure:
    """Mean absolute error of all labelled items, an unknown one charged 3, the largest error of
    the scale.
    """
    unknown = items.asked - items.answered
    charged = items.distance.sum(axis=1) + MAX_ITEM_SCORE * unknown
    return ratio(charged, items.asked, undefined=items.no_truth)
