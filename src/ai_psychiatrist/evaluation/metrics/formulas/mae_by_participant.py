import numpy as np

from ai_psychiatrist.evaluation.metrics.items import AllItems
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, metric
from ai_psychiatrist.statistics.measure import Measure, ratio


@metric(
    on={AllItems: Row(3, "Mean error by unit", "scored items; each unit weighs the same")},
    better=Better.LOWER,
)
def mae_by_participant(items: AllItems) -> Measure:
    """Mean over units of each unit's own mean error; units without a scored item take no part."""
    has_any = items.answered > 0
    means = items.distance.sum(axis=1) / np.where(has_any, items.answered, 1)
    return ratio(means, has_any, undefined=items.no_pair)
