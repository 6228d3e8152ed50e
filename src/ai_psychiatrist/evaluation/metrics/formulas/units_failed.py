"""How many units failed."""

from ai_psychiatrist.evaluation.metrics.accounts import Outcomes, per_unit
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, metric
from ai_psychiatrist.evaluation.metrics.scale import Scale
from ai_psychiatrist.statistics.measure import Measure


@metric(
    on={Outcomes: Row(title="Units that failed", place=2)},
    definition="Share of units that failed as a whole.",
    better=Better.LOWER,
    scale=Scale.SHARE,
)
def units_failed(units: Outcomes) -> Measure:
    """Those in part are not among them."""
    return per_unit(units.is_failed)
