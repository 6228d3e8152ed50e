"""The mean of sensitivity and specificity."""

from ai_psychiatrist.evaluation.metrics.binary import ONE_CLASS, AllUnits, DecidedUnits, Rates
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, metric
from ai_psychiatrist.evaluation.metrics.scale import Scale
from ai_psychiatrist.statistics.measure import Array, Measure, statistics


@metric(
    on={
        AllUnits: Row(
            title="Balanced accuracy",
            note="at a total of 10 or more; undecided counts as wrong",
            place=2,
        ),
        DecidedUnits: Row(title="Balanced accuracy of the decided", place=1),
    },
    definition="Mean of sensitivity and specificity.",
    source="Brodersen et al. 2010",
    better=Better.HIGHER,
    scale=Scale.SHARE,
)
def balanced_accuracy(rates: Rates) -> Measure:
    """Cases and controls weigh the same, however many there are of each."""
    return Measure(
        statistics=statistics(rates.hits, rates.cases, rates.passes, rates.controls),
        combine=_balanced,
        n=rates.count,
        undefined=ONE_CLASS,
    )


def _balanced(sums: Array) -> Array:
    hits, cases, passes, controls = sums
    balanced: Array = (hits / cases + passes / controls) / 2
    return balanced
