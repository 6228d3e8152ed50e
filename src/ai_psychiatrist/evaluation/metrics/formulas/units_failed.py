from ai_psychiatrist.evaluation.metrics.outcomes import Outcomes, per_unit
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, Scale, metric
from ai_psychiatrist.statistics.measure import Measure


@metric(on={Outcomes: Row(2, "Units that failed")}, better=Better.LOWER, scale=Scale.SHARE)
def units_failed(units: Outcomes) -> Measure:
    """Share of units that failed as a whole."""
    return per_unit(units.is_failed)
