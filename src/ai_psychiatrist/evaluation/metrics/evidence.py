"""How often symptoms are found at all, for which no label is needed."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ai_psychiatrist.evaluation.metrics.measure import BoolArray, Measure, ratio
from ai_psychiatrist.evaluation.metrics.scores import ITEMS
from ai_psychiatrist.evaluation.metrics.tree import Tree
from ai_psychiatrist.evaluation.prediction import ItemPrediction, UnitPrediction

NO_SCORES = "scoring finished for no unit"


def evidence_rates(predictions: Sequence[UnitPrediction]) -> dict[str, Tree]:
    """Return how many units show a symptom, and how many items have accepted evidence.

    Where the conversations do not concern depression, these are rates of false evidence. Units
    whose scoring failed take no part.
    """
    has_scores = np.array([bool(unit.items) for unit in predictions], dtype=np.bool_)
    is_found = _marked(predictions, lambda item: bool(item.score))
    is_backed = _marked(predictions, lambda item: item.signals.llm_evidence_count > 0)

    def mean(marks: ArrayLike) -> Measure:
        return ratio(marks, has_scores, undefined=NO_SCORES)

    return {
        "units_with_a_symptom": mean(is_found.any(axis=1)),
        "symptoms_per_unit": mean(is_found.sum(axis=1)),
        "items_with_evidence_per_unit": mean(is_backed.sum(axis=1)),
        "by_item": {
            item.value: {
                "label": item.label,
                "units_with_the_symptom": mean(is_found[:, place]),
                "units_with_evidence": mean(is_backed[:, place]),
            }
            for place, item in enumerate(ITEMS)
        },
    }


def _marked(
    predictions: Sequence[UnitPrediction], is_marked: Callable[[ItemPrediction], bool]
) -> BoolArray:
    """Return which items of which unit are marked, (units, 8)."""
    rows = [
        [item in unit.items and is_marked(unit.items[item]) for item in ITEMS]
        for unit in predictions
    ]
    return np.array(rows, dtype=np.bool_).reshape(len(rows), len(ITEMS))
