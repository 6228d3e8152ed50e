import numpy as np

from ai_psychiatrist.evaluation.metrics.items import RatedItems
from ai_psychiatrist.evaluation.metrics.pairs import Pairs
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, Scale, metric
from ai_psychiatrist.evaluation.metrics.totals import ExactTotals
from ai_psychiatrist.statistics.arrays import Array
from ai_psychiatrist.statistics.measure import Measure


@metric(
    on={ExactTotals: Row(4, "Correlation"), RatedItems: None},
    source="Pearson 1896",
    better=Better.HIGHER,
    scale=Scale.AGREEMENT,
)
def pearson(pairs: Pairs) -> Measure:
    """Correlation; blind to a shift or stretch of one side."""
    return pairs.of_moments(correlation, undefined="one side does not vary")


def correlation(sums: Array) -> Array:
    """Return the correlation of the sums of `Pairs.moments`."""
    count, x, y, xx, yy, xy = sums
    spread = (count * xx - x * x) * (count * yy - y * y)
    found: Array = (count * xy - x * y) / np.sqrt(np.where(spread > 0, spread, np.nan))
    return found
