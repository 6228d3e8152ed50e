"""Where a unit failed: by the codes of its model calls, or by the rules that it breaks."""

from collections.abc import Sequence
from typing import Final

from ai_psychiatrist.agents.contracts.contract import shipped_step
from ai_psychiatrist.domain.failures import (
    Attempt,
    FailureCategory,
    FailureRecord,
    FailureStage,
    stage_of_code,
)
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.scores.prediction import UnitPrediction

ASSESSMENT_STEP: Final = "assessment"
"""The step that stands for a unit as a whole; the others are named like the agents."""


def stage_of_unit(
    attempts: Sequence[Attempt], failures: Sequence[FailureRecord] = ()
) -> FailureStage:
    """Return the stage at which an unfinished unit failed: that of its first agent without output.

    `attempts`: in the order of the agents. Where all of them ended well a lookup of references
    did not, every quote was refused, or the program failed.
    """
    last = {attempt.agent: attempt for attempt in attempts}
    codes = [attempt.code for attempt in last.values()]
    lookups = [one.code for one in failures if one.category is FailureCategory.REFERENCES_FAILED]
    stages = (stage_of_code(code) for code in (*codes, *lookups))
    is_invented = any(one.category is FailureCategory.EVIDENCE_HALLUCINATION for one in failures)
    otherwise = FailureStage.VALIDATION if is_invented else FailureStage.PIPELINE_INTERNAL
    return next((stage for stage in stages if stage is not None), otherwise)


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
