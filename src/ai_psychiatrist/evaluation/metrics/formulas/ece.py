import numpy as np

from ai_psychiatrist.evaluation.metrics.calibration import TOO_FEW, Forecast
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, Scale, metric
from ai_psychiatrist.statistics.arrays import Array
from ai_psychiatrist.statistics.measure import Measure


@metric(
    on={Forecast: Row(3, "Calibration error (ECE)", "to be read beside the next two")},
    source="Guo et al. 2017",
    better=Better.LOWER,
    scale=Scale.UNIT,
)
def ece(found: Forecast) -> Measure:
    """Mean over items of |mean probability − share right| of the item's bin, 10 bins of equal
    width. Never 0 by chance, so read it beside `ece_of_calibrated`.

    The larger the noise, the larger it is.
    """
    return Measure(
        statistics=found.binned,
        combine=_mean_gap,
        n=int(found.where.sum()),
        undefined=TOO_FEW,
        no_interval="its resamples are further from 0 than itself; see the debiased error",
    )


def _mean_gap(sums: Array) -> Array:
    counts, gaps = np.split(sums, 4)[:2]
    gap: Array = np.abs(gaps).sum(axis=0) / counts.sum(axis=0)
    return gap
