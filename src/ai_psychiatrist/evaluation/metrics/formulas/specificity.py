from ai_psychiatrist.evaluation.metrics.binary import NO_CONTROL, AllUnits, DecidedUnits, Rates
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, Scale, metric
from ai_psychiatrist.statistics.measure import Measure, ratio


@metric(
    on={AllUnits: Row(5, "Specificity"), DecidedUnits: None},
    better=Better.HIGHER,
    scale=Scale.SHARE,
)
def specificity(rates: Rates) -> Measure:
    """Passes ÷ units labelled as not depressed."""
    return ratio(rates.passes, rates.controls, undefined=NO_CONTROL)
