from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelHTTPError,
    ModelRequestTimeout,
    ModelTimeoutError,
    UnexpectedModelBehavior,
)

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.llm.failures import MOST_WAIT_SECONDS, call_failure, http_failure

SECRET = "I wake up at four every night."


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (401, {"error": {"code": "invalid_api_key"}}, FailureCode.NOT_AUTHORISED),
        (403, "", FailureCode.NOT_AUTHORISED),
        (404, {"error": "model 'gemma3' not found"}, FailureCode.MODEL_NOT_FOUND),
        (404, "<html>", FailureCode.MODEL_NOT_FOUND),
        (400, {"error": {"code": "model_not_found"}}, FailureCode.MODEL_NOT_FOUND),
        (402, "", FailureCode.RATE_LIMITED),
        (429, {"error": {"type": "insufficient_quota"}}, FailureCode.RATE_LIMITED),
        (408, "", FailureCode.TIMED_OUT),
        (400, "the prompt exceeds the context length", FailureCode.CONTEXT_TRUNCATED),
        (500, "input is larger than the context size", FailureCode.CONTEXT_TRUNCATED),
        (400, {"error": {"code": "content_filter"}}, FailureCode.CONTENT_FILTERED),
        (400, SECRET, FailureCode.REQUEST_REFUSED),
        (307, "", FailureCode.REQUEST_REFUSED),
        (500, SECRET, FailureCode.BACKEND_ERROR),
        (503, "", FailureCode.BACKEND_ERROR),
        (529, "", FailureCode.BACKEND_ERROR),
    ],
)
def test_an_error_response_has_a_code_and_its_status(
    status: int, body: object, code: FailureCode
) -> None:
    failure = http_failure(status, body, {})
    assert (failure.code, failure.http_status, failure.retry_after_seconds) == (code, status, None)
    assert SECRET not in repr(failure)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after-ms": "250", "Retry-After": "7"}, 0.25),
        ({"Retry-After": "99999999"}, MOST_WAIT_SECONDS),
        ({"Retry-After": "1" * 400}, None),
        ({"Retry-After": "-1"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "Fri, 01 Jan 1999 00:00:00 GMT"}, 0.0),
    ],
)
def test_the_wait_that_a_backend_asks_for_is_read_and_bounded(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert http_failure(429, "", headers).retry_after_seconds == seconds


def test_the_wait_may_be_a_date() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    wait_seconds = http_failure(503, "", {"Retry-After": date}).retry_after_seconds
    assert wait_seconds is not None
    assert 60 < wait_seconds <= 90


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (TimeoutError(SECRET), FailureCode.TIMED_OUT),
        (ModelTimeoutError("m", SECRET), FailureCode.TIMED_OUT),
        (ModelRequestTimeout("m", 3.0), FailureCode.TIMED_OUT),
        (ModelConnectionError("m", SECRET), FailureCode.CONNECTION_FAILED),
        (ContentFilterError(SECRET), FailureCode.CONTENT_FILTERED),
        (UnexpectedModelBehavior(SECRET), FailureCode.MALFORMED_RESPONSE),
        (
            ModelHTTPError.for_category(
                ModelAuthenticationError, status_code=400, model_name="m", body=SECRET
            ),
            FailureCode.NOT_AUTHORISED,
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_errors_of_the_library_have_a_code(error: Exception, code: FailureCode) -> None:
    failure = call_failure(error)
    assert (failure.code, failure.error_type) == (code, None)
    assert SECRET not in repr(failure)


def test_an_error_that_nobody_foresaw_carries_the_name_of_its_type_alone() -> None:
    failure = call_failure(IndexError(SECRET))
    assert (failure.code, failure.error_type) == (FailureCode.MALFORMED_RESPONSE, "IndexError")
    assert SECRET not in repr(failure)


def test_a_failure_inside_a_library_is_found_and_cut_off_from_what_led_to_it() -> None:
    inner = ModelCallFailed(FailureCode.MALFORMED_RESPONSE, http_status=200)
    inner.__context__ = ValueError(SECRET)
    outer = ModelConnectionError("m", SECRET)
    outer.__cause__ = inner
    failure = call_failure(outer)
    assert (failure.code, failure.http_status) == (FailureCode.MALFORMED_RESPONSE, 200)
    assert failure.__context__ is None
    assert call_failure(inner) is inner
