from ai_psychiatrist.evaluation.metrics.evidence import ItemEvidence
from ai_psychiatrist.evaluation.metrics.registry import Better, Scale, metric
from ai_psychiatrist.statistics.measure import Measure


@metric(on={ItemEvidence: None}, better=Better.NEITHER, scale=Scale.SHARE)
def units_with_evidence(found: ItemEvidence) -> Measure:
    """Share of units with accepted evidence of the item."""
    return found.mean(found.is_backed.any(axis=1))
