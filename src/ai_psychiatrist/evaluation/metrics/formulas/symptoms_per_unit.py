from ai_psychiatrist.evaluation.metrics.evidence import EvidenceFound
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, Scale, metric
from ai_psychiatrist.statistics.measure import Measure


@metric(
    on={EvidenceFound: Row(2, "Symptoms per conversation", "items scored 1 or more, of eight")},
    better=Better.NEITHER,
    scale=Scale.ITEMS,
)
def symptoms_per_unit(found: EvidenceFound) -> Measure:
    """Mean number of items scored 1 or more."""
    return found.mean(found.is_found.sum(axis=1))
