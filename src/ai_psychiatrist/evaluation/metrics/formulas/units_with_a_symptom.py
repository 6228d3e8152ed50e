"""How many conversations have a symptom."""

from ai_psychiatrist.evaluation.metrics.evidence import EvidenceFound
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, metric
from ai_psychiatrist.evaluation.metrics.scale import Scale
from ai_psychiatrist.statistics.measure import Measure


@metric(
    on={
        EvidenceFound: Row(
            title="Conversations with a symptom", note="any item scored 1 or more", place=1
        )
    },
    definition="Share of units with at least one item scored 1 or more.",
    better=Better.NEITHER,
    scale=Scale.SHARE,
)
def units_with_a_symptom(found: EvidenceFound) -> Measure:
    """Of units whose scoring finished."""
    return found.mean(found.is_found.any(axis=1))
