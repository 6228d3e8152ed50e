import numpy as np

from ai_psychiatrist.evaluation.metrics.calibration import TOO_FEW, Forecast
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, Scale, metric
from ai_psychiatrist.statistics.arrays import Array
from ai_psychiatrist.statistics.measure import Measure


@metric(
    on={
        Forecast: Row(
            5,
            "Squared calibration error, debiased",
            "out of sample; noise is centred on 0 and may be below",
        )
    },
    source="Kumar, Liang & Ma 2019; Bröcker 2012",
    better=Better.LOWER,
    scale=Scale.UNIT,
)
def debiased_calibration_error(found: Forecast) -> Measure:
    """Mean over items of the squared gap of the item's bin, from products of different
    participants alone: (g² − Σ s²) ÷ (n² − Σ m²), with the bin's summed gap g and n items, and
    each participant's own s and m.

    In the units of the Brier score, whose part it is; bins of one participant take no part.
    """
    return Measure(
        statistics=found.binned,
        combine=lambda sums: _squared_gap(sums, taken_out=1),
        # Two copies of a participant in a resample are no pair of different ones either.
        combine_resampled=lambda sums: _squared_gap(sums, taken_out=2),
        n=int(found.where.sum()),
        undefined=TOO_FEW,
    )


def _squared_gap(sums: Array, *, taken_out: int) -> Array:
    counts, gaps, squared_counts, squared_gaps = np.split(sums, 4)
    pairs = counts**2 - squared_counts
    is_shared = pairs > 0
    squares = (gaps**2 - taken_out * squared_gaps) / np.where(is_shared, pairs, 1)
    weights = np.where(is_shared, counts, 0)
    mean: Array = (weights * squares).sum(axis=0) / weights.sum(axis=0)
    return mean
