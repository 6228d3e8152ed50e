from ai_psychiatrist.evaluation.metrics.evidence import EvidenceFound
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, Scale, metric
from ai_psychiatrist.statistics.measure import Measure


@metric(
    on={EvidenceFound: Row(1, "Conversations with a symptom", "any item scored 1 or more")},
    better=Better.NEITHER,
    scale=Scale.SHARE,
)
def units_with_a_symptom(found: EvidenceFound) -> Measure:
    """Share of units with at least one item scored 1 or more."""
    return found.mean(found.is_found.any(axis=1))
