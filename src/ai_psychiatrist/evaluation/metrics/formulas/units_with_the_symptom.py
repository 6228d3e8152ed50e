from ai_psychiatrist.evaluation.metrics.evidence import ItemEvidence
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, Scale, metric
from ai_psychiatrist.statistics.measure import Measure


@metric(on={ItemEvidence: Row(1, "Scored 1 or more")}, better=Better.NEITHER, scale=Scale.SHARE)
def units_with_the_symptom(found: ItemEvidence) -> Measure:
    """Share of units with the item scored 1 or more."""
    return found.mean(found.is_found.any(axis=1))
