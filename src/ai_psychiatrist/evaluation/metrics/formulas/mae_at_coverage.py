from collections.abc import Callable, Mapping
from typing import Final

from ai_psychiatrist.evaluation.metrics.registry import Better, metric
from ai_psychiatrist.evaluation.metrics.selective import Accepted, RankedItems
from ai_psychiatrist.statistics.arrays import Array
from ai_psychiatrist.statistics.measure import Measure
from ai_psychiatrist.statistics.risk_coverage import risk_at

COVERAGES: Final = tuple(tenth / 10 for tenth in range(1, 11))


@metric(on={RankedItems: None}, source="Geifman & El-Yaniv 2017", better=Better.LOWER)
def mae_at_coverage(items: RankedItems) -> Mapping[str, Measure]:
    """Mean loss of the surest scored items, as many as 0.1, 0.2, … 1.0 of the labelled ones;
    undefined beyond the `largest_coverage`.
    """
    return {
        str(coverage): items.measure(
            _risk_at(coverage), n=items.scored, undefined="fewer items than this have a score"
        )
        for coverage in COVERAGES
    }


def _risk_at(coverage: float) -> Callable[[Accepted], Array]:
    return lambda found: risk_at(found.plain, coverage * found.asked)
