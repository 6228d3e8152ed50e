from ai_psychiatrist.evaluation.metrics.binary import AllUnits, DecidedUnits, Rates
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, Scale, metric
from ai_psychiatrist.statistics.arrays import Array
from ai_psychiatrist.statistics.measure import Measure, statistics


@metric(
    on={AllUnits: Row(6, "F1"), DecidedUnits: None},
    source="van Rijsbergen 1979",
    better=Better.HIGHER,
    scale=Scale.SHARE,
)
def f1(rates: Rates) -> Measure:
    """2·hits ÷ (2·hits + misses + false alarms)."""
    everyone = rates.cases | rates.controls
    return Measure(
        statistics=statistics(rates.hits, rates.misses, rates.alarms, everyone),
        combine=_f1,
        n=rates.count,
        undefined="no unit is labelled or predicted as depressed",
    )


def _f1(sums: Array) -> Array:
    hits, misses, alarms, _ = sums
    found: Array = 2 * hits / (2 * hits + misses + alarms)
    return found
