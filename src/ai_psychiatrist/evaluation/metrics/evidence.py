"""How often symptoms are found at all, for which no label is needed."""

from dataclasses import dataclass

from numpy.typing import ArrayLike

from ai_psychiatrist.evaluation.metrics.items import ITEMS
from ai_psychiatrist.evaluation.metrics.registry import measured
from ai_psychiatrist.evaluation.metrics.tree import Tree
from ai_psychiatrist.evaluation.scores.prediction_columns import PredictionColumns
from ai_psychiatrist.statistics.arrays import BoolArray
from ai_psychiatrist.statistics.measure import Measure, ratio

NO_SCORES = "scoring finished for no unit"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitEvidence:
    """What was found in units, (units, places)."""

    has_scores: BoolArray
    """(units,)"""
    is_found: BoolArray
    """Which items are scored 1 or more."""
    is_backed: BoolArray
    """Which items have accepted evidence."""

    def mean(self, marks: ArrayLike) -> Measure:
        """Return the mean over units whose scoring finished."""
        return ratio(marks, self.has_scores, undefined=NO_SCORES)


class EvidenceFound(UnitEvidence):
    """Of all items."""


class ItemEvidence(UnitEvidence):
    """Of one item."""


def evidence_rates(predictions: PredictionColumns) -> dict[str, Tree]:
    """Return how many units show a symptom, and how many items have accepted evidence.

    Where the conversations do not concern depression, these are rates of false evidence. Units
    whose scoring failed take no part.
    """
    has_scores = predictions.rows.has_items
    found, backed = predictions.rows.scores > 0, predictions.rows.quotes > 0
    return {
        **measured(EvidenceFound(has_scores=has_scores, is_found=found, is_backed=backed)),
        "by_item": {
            item: {
                "label": item.label,
                **measured(
                    ItemEvidence(
                        has_scores=has_scores,
                        is_found=found[:, place : place + 1],
                        is_backed=backed[:, place : place + 1],
                    )
                ),
            }
            for place, item in enumerate(ITEMS)
        },
    }
