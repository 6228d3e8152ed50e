"""Classify whatever a call to a model raised."""

from typing import Final

from aiohttp import ClientConnectionError
from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    ModelTimeoutError,
)

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.llm.http_json import failure_of

_CODES: Final[tuple[tuple[type[Exception], FailureCode], ...]] = (
    (TimeoutError, FailureCode.TIMED_OUT),
    (ModelTimeoutError, FailureCode.TIMED_OUT),
    (ModelRequestTimeout, FailureCode.TIMED_OUT),
    (ModelContextWindowExceededError, FailureCode.CONTEXT_TRUNCATED),
    (ModelConnectionError, FailureCode.CONNECTION_FAILED),
    (ModelRateLimitError, FailureCode.RATE_LIMITED),
    (ModelRequestRejectedError, FailureCode.REQUEST_REFUSED),
    (ContentFilterError, FailureCode.CONTENT_FILTERED),
)


def failure_code(error: Exception) -> FailureCode:
    """Classify whatever a call to a backend raised; its text is only searched for known words."""
    if isinstance(error, ModelCallFailed):
        return error.code
    if isinstance(error, ModelHTTPError):
        return failure_of(error.status_code, str(error.body).encode("utf-8", "replace"))
    if _is_connection_lost(error):
        return FailureCode.CONNECTION_FAILED
    for kind, code in _CODES:
        if isinstance(error, kind):
            return code
    return FailureCode.MALFORMED_RESPONSE


def _is_connection_lost(error: BaseException | None) -> bool:
    """Tell a dead backend from a slow one: the transport reports both as time-outs."""
    while error is not None and not isinstance(error, ClientConnectionError):
        error = error.__cause__
    return error is not None and not isinstance(error, TimeoutError)


def call_failure(error: Exception) -> ModelCallFailed:
    """Return the failure that an exception stands for."""
    if isinstance(error, ModelCallFailed):
        return error
    return ModelCallFailed(failure_code(error))
