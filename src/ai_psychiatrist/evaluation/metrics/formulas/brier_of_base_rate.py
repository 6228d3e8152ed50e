from ai_psychiatrist.evaluation.metrics.calibration import TOO_FEW, Forecast
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, Scale, metric
from ai_psychiatrist.statistics.measure import Measure, ratio


@metric(
    on={Forecast: Row(2, "Brier score of the base rate", "what one gets without the signal")},
    source="Brier 1950",
    better=Better.NEITHER,
    scale=Scale.UNIT,
)
def brier_of_base_rate(found: Forecast) -> Measure:
    """`brier` when every probability is the share of right scores in the fit."""
    return ratio(found.squared_miss(found.base_rate), found.count, undefined=TOO_FEW)
