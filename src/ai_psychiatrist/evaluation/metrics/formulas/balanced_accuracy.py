from ai_psychiatrist.evaluation.metrics.binary import ONE_CLASS, AllUnits, DecidedUnits, Rates
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, Scale, metric
from ai_psychiatrist.statistics.arrays import Array
from ai_psychiatrist.statistics.measure import Measure, statistics


@metric(
    on={
        AllUnits: Row(
            2, "Balanced accuracy", "at a total of 10 or more; undecided counts as wrong"
        ),
        DecidedUnits: Row(1, "Balanced accuracy of the decided"),
    },
    source="Brodersen et al. 2010",
    better=Better.HIGHER,
    scale=Scale.SHARE,
)
def balanced_accuracy(rates: Rates) -> Measure:
    """Mean of sensitivity and specificity."""
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
