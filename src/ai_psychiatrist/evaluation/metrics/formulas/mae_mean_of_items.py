import numpy as np

from ai_psychiatrist.evaluation.metrics.items import AllItems
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, metric
from ai_psychiatrist.statistics.arrays import Array
from ai_psychiatrist.statistics.measure import Measure, statistics


@metric(
    on={AllItems: Row(4, "Mean error by item", "scored items; each of the eight weighs the same")},
    better=Better.LOWER,
)
def mae_mean_of_items(items: AllItems) -> Measure:
    """Mean over the eight items of each item's `mae`; items never scored take no part.

    Its n counts the items that have any score.
    """
    return Measure(
        statistics=statistics(items.distance, items.is_both),
        combine=_mean_of_means,
        n=int(items.is_both.any(axis=0).sum()),
        undefined=items.no_pair,
    )


def _mean_of_means(sums: Array) -> Array:
    losses, counts = np.split(sums, 2)
    has_any = counts > 0
    means = losses / np.where(has_any, counts, 1)
    average: Array = means.sum(axis=0) / has_any.sum(axis=0)
    return average
