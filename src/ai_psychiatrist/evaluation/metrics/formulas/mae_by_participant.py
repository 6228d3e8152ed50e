"""The mean error with units of equal weight."""

import numpy as np

from ai_psychiatrist.evaluation.metrics.items import AllItems
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, metric
from ai_psychiatrist.statistics.measure import Measure, ratio


@metric(
    on={
        AllItems: Row(
            title="Mean error by unit", note="scored items; each unit weighs the same", place=3
        )
    },
    definition="Mean over units of each unit's own mean error; units without a scored item take no "
    "part.",
    better=Better.LOWER,
)
def mae_by_participant(items: AllItems) -> Measure:
    """A unit is one interview."""
    has_any = items.answered > 0
    means = items.distance.sum(axis=1) / np.where(has_any, items.answered, 1)
    return ratio(means, has_any, undefined=items.no_pair)
