import numpy as np

from ai_psychiatrist.evaluation.metrics.items import AllItems, RatedItems, ScoredItems
from ai_psychiatrist.evaluation.metrics.pairs import Pairs
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, Scale, metric
from ai_psychiatrist.evaluation.metrics.totals import ExactTotals
from ai_psychiatrist.statistics.arrays import Array
from ai_psychiatrist.statistics.measure import Measure


@metric(
    on={
        AllItems: Row(8, "Concordance", "of the scored items; a shift lowers it, too"),
        ScoredItems: None,
        RatedItems: Row(5, "Concordance"),
        ExactTotals: Row(5, "Concordance", "a shift lowers it, too"),
    },
    source="Lin 1989",
    better=Better.HIGHER,
    scale=Scale.AGREEMENT,
)
def ccc(pairs: Pairs) -> Measure:
    """Concordance: 2·cov(x, y) ÷ (var x + var y + (mean x − mean y)²), all over n.

    Unlike a correlation it falls when one side is shifted or stretched.
    """
    return pairs.of_moments(_concordance, undefined="neither side varies")


def _concordance(sums: Array) -> Array:
    count, x, y, xx, yy, xy = sums
    spread = count * xx - x * x + count * yy - y * y + (x - y) ** 2
    found: Array = 2 * (count * xy - x * y) / np.where(spread > 0, spread, np.nan)
    return found
