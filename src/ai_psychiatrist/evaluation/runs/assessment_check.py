"""Hold a unit's result against the contract of a whole assessment before it is written down."""

from ai_psychiatrist.agents.contracts.contract import shipped_step
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.scores.prediction import UnitPrediction


def broken_rules(prediction: UnitPrediction) -> tuple[str, ...]:
    """Return the names of the contract's rules that a prediction with items breaks.

    There are none unless this program is broken: totals and bands follow from the items.
    """
    if not prediction.items:
        return ()
    severity = prediction.severity
    verdict = shipped_step("assessment").check_object(
        {
            "items": [_item(prediction, item) for item in Item],
            "total": prediction.total,
            "total_min": prediction.total_min,
            "total_max": prediction.total_max,
            "severity": None if severity is None else int(severity),
        }
    )
    return tuple(dict.fromkeys(error.rule for error in verdict.errors))


def _item(prediction: UnitPrediction, item: Item) -> dict[str, object]:
    found = prediction.items[item]
    return {
        "item": item.value,
        "status": "na" if found.score is None else "scored",
        "score": found.score,
        "unknown_reason": found.unknown_reason,
    }
