"""How often a run finds a symptom at all, right or wrong."""

from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.metrics.evidence import EvidenceFound
from ai_psychiatrist.evaluation.report.figures import Metrics, Scale
from ai_psychiatrist.evaluation.report.rows import Group, Line, group, lines_of

_BY_ITEM: Final = tuple(
    Line(
        path=f"evidence.by_item.{item.value}.units_with_the_symptom",
        name=item.label,
        scale=Scale.SHARE,
    )
    for item in Item
)
_FALSE: Final = (
    "These conversations do not concern depression: each symptom that is found is false evidence."
)
_NEUTRAL: Final = (
    "How often a symptom is found, whether or not it is there. No label is needed for this. On "
    "conversations that do not concern depression it is the rate of false evidence."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRates:
    """The section on what was found."""

    title: str
    note: str
    groups: tuple[Group, ...]


def evidence_of(metrics: Metrics, *, concerns_depression: bool) -> EvidenceRates:
    """Return the rates; where the subject is another, they are called false evidence."""
    return EvidenceRates(
        title="Evidence found" if concerns_depression else "False evidence",
        note=_NEUTRAL if concerns_depression else _FALSE,
        groups=(
            group(metrics, "Symptoms found, over all items", lines_of("evidence", EvidenceFound)),
            group(metrics, "Conversations in which the item is scored 1 or more", _BY_ITEM),
        ),
    )
