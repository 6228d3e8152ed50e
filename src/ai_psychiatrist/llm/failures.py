"""What a failed call was: one code, the HTTP status, and how long the backend asks to wait."""

import re
from collections.abc import Mapping
from typing import Final

import httpx2
from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
    UnexpectedModelBehavior,
    UserError,
)

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import FailureCode

MOST_WAIT_SECONDS: Final = 3_600.0
"""A backend that asks for more is waited for no longer than this."""

_CODES: Final[tuple[tuple[type[Exception], FailureCode], ...]] = (
    (ModelTimeoutError, FailureCode.TIMED_OUT),
    (ModelRequestTimeout, FailureCode.TIMED_OUT),
    (TimeoutError, FailureCode.TIMED_OUT),
    (httpx2.TimeoutException, FailureCode.TIMED_OUT),
    (httpx2.HTTPError, FailureCode.CONNECTION_FAILED),
    (httpx2.InvalidURL, FailureCode.CONNECTION_FAILED),
    (ModelConnectionError, FailureCode.CONNECTION_FAILED),
    (ModelContextWindowExceededError, FailureCode.CONTEXT_TRUNCATED),
    (ModelAuthenticationError, FailureCode.NOT_AUTHORISED),
    (ModelNotFoundError, FailureCode.MODEL_NOT_FOUND),
    (ModelQuotaExceededError, FailureCode.RATE_LIMITED),
    (ModelRateLimitError, FailureCode.RATE_LIMITED),
    (ModelUnavailableError, FailureCode.BACKEND_ERROR),
    (ModelServerError, FailureCode.BACKEND_ERROR),
    (ModelRequestRejectedError, FailureCode.REQUEST_REFUSED),
    (ContentFilterError, FailureCode.CONTENT_FILTERED),
    # A model that cannot do what was asked, such as keep to a schema.
    (UserError, FailureCode.REQUEST_REFUSED),
    (UnexpectedModelBehavior, FailureCode.MALFORMED_RESPONSE),
    (ModelAPIError, FailureCode.MALFORMED_RESPONSE),
)
_CODE_OF_STATUS: Final = {
    401: FailureCode.NOT_AUTHORISED,
    402: FailureCode.RATE_LIMITED,
    403: FailureCode.NOT_AUTHORISED,
    404: FailureCode.MODEL_NOT_FOUND,
    408: FailureCode.TIMED_OUT,
    409: FailureCode.BACKEND_ERROR,
    429: FailureCode.RATE_LIMITED,
}
_STATUS: Final = re.compile(r"[45]\d\d")
_STATUS_OF_WORD: Final = (("rate_limit", 429), ("overloaded", 529), ("timeout", 504))
"""What an error is called that has no number."""
_MARKS: Final = (
    ("insufficient_quota", FailureCode.RATE_LIMITED),
    ("model_not_found", FailureCode.MODEL_NOT_FOUND),
    ("invalid_api_key", FailureCode.NOT_AUTHORISED),
    ("content_filter", FailureCode.CONTENT_FILTERED),
    ("content_policy_violation", FailureCode.CONTENT_FILTERED),
    ("context_length", FailureCode.CONTEXT_TRUNCATED),
    ("context length", FailureCode.CONTEXT_TRUNCATED),
    ("context size", FailureCode.CONTEXT_TRUNCATED),
    ("context window", FailureCode.CONTEXT_TRUNCATED),
    ("requires more system memory", FailureCode.MODEL_TOO_LARGE),
)
"""Words of an error body that say more than its status does."""


def call_failure(error: Exception) -> ModelCallFailed:
    """Classify whatever a call to a backend raised; of its text only known words are looked for."""
    link: BaseException | None = error
    while link is not None:
        if isinstance(link, ModelCallFailed):
            return link if link is error else _without_history(link)
        link = link.__cause__
    if isinstance(error, ModelHTTPError):
        return _of_response(error)
    response = getattr(error, "response", None)
    if isinstance(response, httpx2.Response):
        # The status errors of all SDKs hold the response.
        return http_failure(response.status_code, response.text, response.headers)
    for kind, code in _CODES:
        if isinstance(error, kind):
            return ModelCallFailed(code)
    return ModelCallFailed(FailureCode.MALFORMED_RESPONSE, error_type=type(error).__name__)


def http_failure(status: int, body: object, headers: Mapping[str, str]) -> ModelCallFailed:
    """Classify an error response of a backend."""
    return _of_response(ModelHTTPError(status, "", body, headers=headers))


def told_failure(error: object, headers: Mapping[str, str]) -> ModelCallFailed:
    """Classify an error that came in place of an answer, whatever the status of the response."""
    told = error if isinstance(error, dict) else {}
    code = told.get("code", told.get("status"))
    status = int(code) if isinstance(code, int | str) and _STATUS.fullmatch(str(code)) else None
    words = f"{code} {told.get('type')}".lower()
    status = status or next((one for word, one in _STATUS_OF_WORD if word in words), None)
    failure = http_failure(status or 500, {"error": error}, headers)
    failure.http_status = status
    return failure


def _without_history(error: ModelCallFailed) -> ModelCallFailed:
    """Return a failure without the exceptions that led to it: they may quote a reply."""
    return ModelCallFailed(
        error.code,
        http_status=error.http_status,
        retry_after_seconds=error.retry_after_seconds,
        error_type=error.error_type,
        is_adjusted=error.is_adjusted,
    )


def _of_response(error: ModelHTTPError) -> ModelCallFailed:
    wait_seconds = error.retry_after
    return ModelCallFailed(
        _code_of_response(error),
        http_status=error.status_code,
        retry_after_seconds=None if wait_seconds is None else min(wait_seconds, MOST_WAIT_SECONDS),
    )


def _code_of_response(error: ModelHTTPError) -> FailureCode:
    if error.status_code in _CODE_OF_STATUS:
        return _CODE_OF_STATUS[error.status_code]
    words = f"{error.provider_error_code} {error.provider_error_type} {error.body}".lower()
    for mark, code in _MARKS:
        if mark in words:
            return code
    for kind, code in _CODES:
        # Whatever names a cause of its own goes before the status, such as a key refused with 400.
        if kind is not ModelAPIError and isinstance(error, kind):
            return code
    return FailureCode.BACKEND_ERROR if error.status_code >= 500 else FailureCode.REQUEST_REFUSED
