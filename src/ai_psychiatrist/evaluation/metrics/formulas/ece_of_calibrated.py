import numpy as np

from ai_psychiatrist.evaluation.metrics.calibration import TOO_FEW, Forecast
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, Scale, metric
from ai_psychiatrist.statistics.arrays import Array
from ai_psychiatrist.statistics.measure import Measure


@metric(
    on={Forecast: Row(4, "The same of a calibrated signal", "what noise alone gives")},
    source="Bröcker & Smith 2007",
    better=Better.NEITHER,
    scale=Scale.UNIT,
)
def ece_of_calibrated(found: Forecast) -> Measure:
    """The mean of `ece` were the probabilities right: each bin's summed gap g is then about normal
    around 0, so E|g| = √(2/π · Σ s²) over the participants' own gaps s.

    The spread is taken between participants, whose items go together.
    """
    return Measure(
        statistics=found.binned,
        combine=_mean_gap_of_noise,
        n=int(found.where.sum()),
        undefined=TOO_FEW,
        no_interval="it is the expectation under a hypothesis",
    )


def _mean_gap_of_noise(sums: Array) -> Array:
    counts, _, _, squared_gaps = np.split(sums, 4)
    mean: Array = np.sqrt(2 / np.pi * squared_gaps).sum(axis=0) / counts.sum(axis=0)
    return mean
