from ai_psychiatrist.evaluation.metrics.items import NO_LABELLED_SCORE
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, metric
from ai_psychiatrist.evaluation.metrics.selective import RankedItems
from ai_psychiatrist.statistics import risk_coverage
from ai_psychiatrist.statistics.measure import Measure


@metric(
    on={RankedItems: Row(3, "AURC of the scored items")},
    source="Geifman, Uziel & El-Yaniv 2019",
    better=Better.LOWER,
)
def aurc(items: RankedItems) -> Measure:
    """As `charged_aurc` over scored items alone; comparable only at equal `largest_coverage`."""
    return items.measure(
        lambda found: risk_coverage.aurc(found.plain), n=items.scored, undefined=NO_LABELLED_SCORE
    )
