"""How many units carry failures."""

from ai_psychiatrist.evaluation.metrics.accounts import Outcomes, per_unit
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, metric
from ai_psychiatrist.evaluation.metrics.scale import Scale
from ai_psychiatrist.statistics.measure import Measure


@metric(
    on={Outcomes: Row(title="Units with any failure", place=1)},
    definition="Share of units that carry a failure, complete ones among them.",
    better=Better.LOWER,
    scale=Scale.SHARE,
)
def units_with_any(units: Outcomes) -> Measure:
    """Whatever became of the unit."""
    return per_unit(units.carries_failure)
