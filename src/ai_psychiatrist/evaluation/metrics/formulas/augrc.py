from ai_psychiatrist.evaluation.metrics.items import NO_LABELLED_SCORE
from ai_psychiatrist.evaluation.metrics.registry import Better, metric
from ai_psychiatrist.evaluation.metrics.selective import RankedItems
from ai_psychiatrist.statistics import risk_coverage
from ai_psychiatrist.statistics.measure import Measure


@metric(on={RankedItems: None}, source="Traub et al. 2024", better=Better.LOWER)
def augrc(items: RankedItems) -> Measure:
    """As `charged_augrc` over scored items alone."""
    return items.measure(
        lambda found: risk_coverage.augrc(found.plain), n=items.scored, undefined=NO_LABELLED_SCORE
    )
