"""Cohen's kappa with quadratic weights."""

import numpy as np

from ai_psychiatrist.evaluation.metrics.items import AllItems, RatedItems, ScoredItems
from ai_psychiatrist.evaluation.metrics.pairs import Pairs
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, metric
from ai_psychiatrist.evaluation.metrics.scale import Scale
from ai_psychiatrist.evaluation.metrics.totals import Severities
from ai_psychiatrist.statistics.measure import Array, Measure


@metric(
    on={
        AllItems: Row(title="Quadratic kappa", note="of the scored items; 0 is chance", place=7),
        ScoredItems: Row(title="Quadratic kappa", place=3),
        RatedItems: Row(title="Quadratic kappa", place=4),
        Severities: Row(title="Quadratic kappa", place=5),
    },
    definition="Agreement beyond chance with quadratic weights: "
    "1 − n·Σ(x−y)² ÷ (n·Σx² + n·Σy² − 2·Σx·Σy).",
    source="Cohen 1968",
    better=Better.HIGHER,
    scale=Scale.AGREEMENT,
)
def quadratic_kappa(pairs: Pairs) -> Measure:
    """With squared distances as weights the table of agreement counts through its moments only."""
    return Measure(
        statistics=pairs.moments,
        combine=_kappa,
        n=pairs.count,
        undefined=pairs.reason(
            "only one value occurs, so there is no agreement beyond chance to measure"
        ),
    )


def _kappa(sums: Array) -> Array:
    count, x, y, xx, yy, xy = sums
    observed = count * (xx + yy - 2 * xy)
    expected = count * (xx + yy) - 2 * x * y
    kappa: Array = 1 - observed / np.where(expected > 0, expected, np.nan)
    return kappa
