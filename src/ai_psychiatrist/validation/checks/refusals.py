"""The verdicts on answers that hold no object which could be checked."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import ParamSpec

from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import FailureStage, RejectionCode
from ai_psychiatrist.validation.checks.schema.compiled import non_finite_errors
from ai_psychiatrist.validation.checks.verdict import UnitError, Verdict
from ai_psychiatrist.validation.reply.limits import ParseLimits
from ai_psychiatrist.validation.reply.parse import parse_object

Given = ParamSpec("Given")


def refusal(stage: FailureStage, rule: str, message: str, *parts: str) -> Verdict:
    """Return the verdict on an answer with one thing wrong and nothing to keep."""
    error = UnitError(parts=parts, rule=rule, message=message)
    return Verdict(value=None, stage=stage, errors=(error,))


def guarded(check: Callable[Given, Verdict], *given: Given.args, **named: Given.kwargs) -> Verdict:
    """Return what a check says, or the type of error and no more with which it failed itself."""
    try:
        return check(*given, **named)
    except Exception as error:  # noqa: BLE001 - one unit must not end the others
        return internal_error(error)


def internal_error(error: Exception) -> Verdict:
    """Return the verdict on a unit whose check failed itself."""
    message = f"the check failed with {type(error).__name__}"
    return refusal(FailureStage.PIPELINE_INTERNAL, "internal_error", message)


def unread_answer(text: str, rejection: OutputRejected, limits: ParseLimits) -> Verdict:
    """Return the verdict on a text that was refused as an answer.

    Numbers that are not finite are errors in their places, and the object is kept with them;
    anything else is one error of parsing.
    """
    if rejection.code is RejectionCode.NOT_FINITE:
        with suppress(OutputRejected):
            parsed = parse_object(text, replace(limits, keeps_non_finite=True))
            if not parsed.repaired:
                return not_finite(parsed.value) or _unparsed(rejection)
    return _unparsed(rejection)


def not_finite(value: dict[str, object]) -> Verdict | None:
    """Return the verdict on an object that holds NaN or infinities, `None` for any other."""
    errors = tuple(non_finite_errors(value))
    stage = FailureStage.SCHEMA_VALIDATION
    return Verdict(value=value, stage=stage, errors=errors) if errors else None


def _unparsed(rejection: OutputRejected) -> Verdict:
    return refusal(FailureStage.PARSE, f"parse_{rejection.code.value}", rejection.feedback)
