"""Where a unit failed, told from the codes that its model calls ended with."""

from collections.abc import Sequence
from typing import Final

from ai_psychiatrist.domain.failures import (
    Attempt,
    FailureCategory,
    FailureRecord,
    FailureStage,
    stage_of_code,
)

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
