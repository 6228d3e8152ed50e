"""The verdicts on answers that hold no object which could be checked."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ParamSpec

from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.validation.checks.schema.compiled import non_finite_errors
from ai_psychiatrist.validation.checks.verdict import FailureStage, UnitError, Verdict
from ai_psychiatrist.validation.reply.json_decoder import ParsedObject
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


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadAnswer:
    """A refused answer, and what can be read of it all the same."""

    value: dict[str, object] = field(repr=False)
    """Empty when nothing can; with NaN and infinities where these are why it was refused."""
    verdict: Verdict


def unread_answer(text: str, rejection: OutputRejected, limits: ParseLimits) -> UnreadAnswer:
    """Return the verdict on a text that was refused as an answer.

    Numbers that are not finite are errors in their places; anything else is one error of parsing.
    """
    parsed = None
    if rejection.code is RejectionCode.NOT_FINITE:
        parsed = _with_non_finite(text, limits)
    if parsed is None:
        rule = f"parse_{rejection.code.value}"
        return UnreadAnswer(value={}, verdict=refusal(FailureStage.PARSE, rule, rejection.feedback))
    errors = tuple(non_finite_errors(parsed.value))
    verdict = Verdict(value=None, stage=FailureStage.SCHEMA_VALIDATION, errors=errors)
    return UnreadAnswer(value=parsed.value, verdict=verdict)


def _with_non_finite(text: str, limits: ParseLimits) -> ParsedObject | None:
    try:
        parsed = parse_object(text, replace(limits, keeps_non_finite=True))
    except OutputRejected:
        return None
    return None if parsed.repaired else parsed
