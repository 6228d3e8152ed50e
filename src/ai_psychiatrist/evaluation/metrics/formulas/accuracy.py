from ai_psychiatrist.evaluation.metrics.binary import AllUnits, DecidedUnits, Rates
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, Scale, metric
from ai_psychiatrist.statistics.measure import Measure, ratio


@metric(
    on={AllUnits: Row(3, "Accuracy"), DecidedUnits: None}, better=Better.HIGHER, scale=Scale.SHARE
)
def accuracy(rates: Rates) -> Measure:
    """(hits + passes) ÷ units."""
    right = rates.hits | rates.passes
    return ratio(right, rates.cases | rates.controls, undefined=rates.no_pair)
