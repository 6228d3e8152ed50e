"""How often the decision is right."""

from ai_psychiatrist.evaluation.metrics.binary import AllUnits, DecidedUnits, Rates
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, metric
from ai_psychiatrist.evaluation.metrics.scale import Scale
from ai_psychiatrist.statistics.measure import Measure, ratio


@metric(
    on={AllUnits: Row(title="Accuracy", place=3), DecidedUnits: None},
    definition="(hits + passes) ÷ units.",
    better=Better.HIGHER,
    scale=Scale.SHARE,
)
def accuracy(rates: Rates) -> Measure:
    """Of the units that count."""
    right = rates.hits | rates.passes
    return ratio(right, rates.cases | rates.controls, undefined=rates.no_pair)
