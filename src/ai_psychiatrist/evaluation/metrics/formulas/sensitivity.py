"""How many of the depressed are found."""

from ai_psychiatrist.evaluation.metrics.binary import NO_CASE, AllUnits, DecidedUnits, Rates
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, metric
from ai_psychiatrist.evaluation.metrics.scale import Scale
from ai_psychiatrist.statistics.measure import Measure, ratio


@metric(
    on={AllUnits: Row(title="Sensitivity", place=4), DecidedUnits: None},
    definition="Hits ÷ units labelled as depressed.",
    better=Better.HIGHER,
    scale=Scale.SHARE,
)
def sensitivity(rates: Rates) -> Measure:
    """Of the cases that count."""
    return ratio(rates.hits, rates.cases, undefined=NO_CASE)
