from ai_psychiatrist.evaluation.metrics.calibration import TOO_FEW, Forecast
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, Scale, metric
from ai_psychiatrist.statistics.measure import Measure, ratio


@metric(
    on={Forecast: Row(1, "Brier score", "out of sample; less is better")},
    source="Brier 1950",
    better=Better.LOWER,
    scale=Scale.UNIT,
)
def brier(found: Forecast) -> Measure:
    """Mean squared distance of probability and outcome."""
    return ratio(found.squared_miss(found.probability), found.count, undefined=TOO_FEW)
