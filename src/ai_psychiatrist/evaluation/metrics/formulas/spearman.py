import numpy as np

from ai_psychiatrist.evaluation.metrics.items import AllItems, RatedItems, ScoredItems
from ai_psychiatrist.evaluation.metrics.pairs import Pairs
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, Scale, metric
from ai_psychiatrist.evaluation.metrics.totals import ExactTotals
from ai_psychiatrist.statistics.arrays import Array
from ai_psychiatrist.statistics.measure import Measure, statistics
from ai_psychiatrist.statistics.parts import tally_of


@metric(
    on={
        AllItems: Row(9, "Rank correlation", "of the scored items"),
        ScoredItems: None,
        RatedItems: Row(6, "Rank correlation"),
        ExactTotals: Row(6, "Rank correlation"),
    },
    source="Spearman 1904",
    better=Better.HIGHER,
    scale=Scale.AGREEMENT,
)
def spearman(pairs: Pairs) -> Measure:
    """Correlation of mid-ranks, ties sharing the mean of their ranks.

    Ranks follow from how often each pair of values occurs, so that sums are enough.
    """
    # A cell is a pair of values; cells come in the order of both.
    width = int(pairs.truth.max(initial=0)) + 1
    every = (pairs.said * width + pairs.truth).astype(np.intp)
    cells = np.unique(every[pairs.is_both])
    (counts,) = tally_of(every, pairs.is_both)
    sides = [np.unique(side, return_inverse=True)[1] for side in (cells // width, cells % width)]
    is_level = [side == np.arange(len(cells))[:, None] for side in sides]
    return Measure(
        statistics=statistics(counts),
        combine=lambda sums: _rank_correlation(sums, *is_level),
        n=pairs.count,
        undefined=pairs.reason("one side does not vary"),
    )


def _rank_correlation(sums: Array, is_x: Array, is_y: Array) -> Array:
    """`sums`: (cells, samples); `is_x`, `is_y`: which cells have which value, (values, cells)."""
    x, y = _centred_ranks(sums, is_x), _centred_ranks(sums, is_y)
    spread = (sums * x * x).sum(axis=0) * (sums * y * y).sum(axis=0)
    found: Array = (sums * x * y).sum(axis=0) / np.sqrt(np.where(spread > 0, spread, np.nan))
    return found


def _centred_ranks(sums: Array, is_level: Array) -> Array:
    """Return each cell's mid-rank less the mean rank."""
    weight = is_level.astype(np.float64)
    counts = weight @ sums
    ranks = np.cumsum(counts, axis=0) - counts / 2
    centred: Array = weight.T @ ranks - sums.sum(axis=0) / 2
    return centred
