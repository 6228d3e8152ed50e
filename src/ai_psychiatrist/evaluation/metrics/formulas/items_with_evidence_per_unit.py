from ai_psychiatrist.evaluation.metrics.evidence import EvidenceFound
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, Scale, metric
from ai_psychiatrist.statistics.measure import Measure


@metric(
    on={
        EvidenceFound: Row(
            3,
            "Items with accepted evidence per conversation",
            "any quote found in the transcript, of eight",
        )
    },
    better=Better.NEITHER,
    scale=Scale.ITEMS,
)
def items_with_evidence_per_unit(found: EvidenceFound) -> Measure:
    """Mean number of items with accepted evidence."""
    return found.mean(found.is_backed.sum(axis=1))
