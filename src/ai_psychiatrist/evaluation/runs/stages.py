"""Where a unit failed, told from the codes that its model calls ended with."""

from collections.abc import Sequence
from typing import Final

from ai_psychiatrist.domain.failures import Attempt, FailureCode, FailureStage, RejectionCode

ASSESSMENT_STEP: Final = "assessment"
"""The step that stands for a unit as a whole; the others are named like the agents."""

_STAGE_OF_REJECTION: Final = {
    RejectionCode.EMPTY_REPLY: FailureStage.PARSE,
    RejectionCode.REPLY_TOO_LARGE: FailureStage.PARSE,
    RejectionCode.TRUNCATED: FailureStage.PARSE,
    RejectionCode.NO_JSON: FailureStage.PARSE,
    RejectionCode.NOT_AN_OBJECT: FailureStage.PARSE,
    RejectionCode.NOT_FINITE: FailureStage.PARSE,
    RejectionCode.TOO_DEEP: FailureStage.PARSE,
    RejectionCode.DUPLICATE_KEY: FailureStage.PARSE,
    RejectionCode.UNREPAIRABLE: FailureStage.PARSE,
    RejectionCode.SEVERAL_ANSWERS: FailureStage.PARSE,
    RejectionCode.UNEXPECTED_TOOL_CALL: FailureStage.PARSE,
    RejectionCode.NO_TOOL_CALL: FailureStage.PARSE,
    RejectionCode.RULE_BROKEN: FailureStage.VALIDATION,
    RejectionCode.UNKNOWN_ID: FailureStage.VALIDATION,
}
_INTERNAL: Final = frozenset(
    {
        FailureCode.INTERNAL_ERROR,
        FailureCode.CALL_BUDGET_SPENT,
        FailureCode.DEADLINE_EXCEEDED,
        FailureCode.MISSING_INPUT,
    }
)


def stage_of_code(code: RejectionCode | FailureCode | None) -> FailureStage | None:
    """Return the stage at which a model call failed; `None` for one that was accepted."""
    if code is None:
        return None
    if isinstance(code, RejectionCode):
        return _STAGE_OF_REJECTION.get(code, FailureStage.SCHEMA_VALIDATION)
    return FailureStage.PIPELINE_INTERNAL if code in _INTERNAL else FailureStage.PROVIDER


def stage_of_unit(attempts: Sequence[Attempt]) -> FailureStage:
    """Return the stage at which an unfinished unit failed: that of its first agent without output.

    `attempts`: in the order of the agents. Where all of them ended well the program failed.
    """
    last = {attempt.agent: attempt for attempt in attempts}
    stages = (stage_of_code(attempt.code) for attempt in last.values())
    return next((stage for stage in stages if stage is not None), FailureStage.PIPELINE_INTERNAL)
