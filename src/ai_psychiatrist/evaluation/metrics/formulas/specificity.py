"""How many of the others are cleared."""

from ai_psychiatrist.evaluation.metrics.binary import NO_CONTROL, AllUnits, DecidedUnits, Rates
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, metric
from ai_psychiatrist.evaluation.metrics.scale import Scale
from ai_psychiatrist.statistics.measure import Measure, ratio


@metric(
    on={AllUnits: Row(title="Specificity", place=5), DecidedUnits: None},
    definition="Passes ÷ units labelled as not depressed.",
    better=Better.HIGHER,
    scale=Scale.SHARE,
)
def specificity(rates: Rates) -> Measure:
    """Of the controls that count."""
    return ratio(rates.passes, rates.controls, undefined=NO_CONTROL)
