from ai_psychiatrist.evaluation.metrics.outcomes import Outcomes, per_unit
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, Scale, metric
from ai_psychiatrist.statistics.measure import Measure


@metric(on={Outcomes: Row(1, "Units with any failure")}, better=Better.LOWER, scale=Scale.SHARE)
def units_with_any(units: Outcomes) -> Measure:
    """Share of units that carry a failure, complete ones among them."""
    return per_unit(units.carries_failure)
