"""How many symptoms a conversation has."""

from ai_psychiatrist.evaluation.metrics.evidence import EvidenceFound
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, metric
from ai_psychiatrist.evaluation.metrics.scale import Scale
from ai_psychiatrist.statistics.measure import Measure


@metric(
    on={
        EvidenceFound: Row(
            title="Symptoms per conversation", note="items scored 1 or more, of eight", place=2
        )
    },
    definition="Mean number of items scored 1 or more.",
    better=Better.NEITHER,
    scale=Scale.ITEMS,
)
def symptoms_per_unit(found: EvidenceFound) -> Measure:
    """Of units whose scoring finished."""
    return found.mean(found.is_found.sum(axis=1))
