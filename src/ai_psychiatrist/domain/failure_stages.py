"""The stage at which a model call failed, told from the code that it ended with."""

from typing import Final

from ai_psychiatrist.domain.failures import FailureCode, FailureStage, RejectionCode

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
