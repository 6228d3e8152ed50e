from ai_psychiatrist.evaluation.metrics.binary import NO_CASE, AllUnits, DecidedUnits, Rates
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, Scale, metric
from ai_psychiatrist.statistics.measure import Measure, ratio


@metric(
    on={AllUnits: Row(4, "Sensitivity"), DecidedUnits: None},
    better=Better.HIGHER,
    scale=Scale.SHARE,
)
def sensitivity(rates: Rates) -> Measure:
    """Hits ÷ units labelled as depressed."""
    return ratio(rates.hits, rates.cases, undefined=NO_CASE)
