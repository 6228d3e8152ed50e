"""How many items of a conversation have evidence."""

from ai_psychiatrist.evaluation.metrics.evidence import EvidenceFound
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, metric
from ai_psychiatrist.evaluation.metrics.scale import Scale
from ai_psychiatrist.statistics.measure import Measure


@metric(
    on={
        EvidenceFound: Row(
            title="Items with accepted evidence per conversation",
            note="any quote found in the transcript, of eight",
            place=3,
        )
    },
    definition="Mean number of items with accepted evidence.",
    better=Better.NEITHER,
    scale=Scale.ITEMS,
)
def items_with_evidence_per_unit(found: EvidenceFound) -> Measure:
    """Of units whose scoring finished."""
    return found.mean(found.is_backed.sum(axis=1))
