"""Errors as RFC 9457 problems: codes, counts and the cure, never anything of the request."""

from collections import Counter
from collections.abc import Iterable, Mapping

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from ai_psychiatrist.api.risk import kept_risk, risk_field
from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.errors import (
    AgentFailed,
    AssessmentServiceError,
    ConfigurationError,
    InputError,
    ParticipantNotFound,
    RequestConflict,
)
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.risk import RiskReport
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.interview.errors import (
    InterviewNotFound,
    InterviewOver,
    InterviewUnfinished,
    InterviewUnreadable,
    KeyReused,
    ProtocolChanged,
    StoreUnusable,
    VersionConflict,
)
from ai_psychiatrist.interview.snapshot import InterviewSnapshot
from ai_psychiatrist.llm.cures import Cause

logger = get_logger(__name__)

_MEDIA_TYPE = "application/problem+json"
_TITLES = {
    400: "The request cannot be read",
    404: "Not found",
    405: "Method not allowed",
    409: "Not possible as things stand",
    413: "Too large",
    415: "Wrong media type",
    422: "The input cannot be used",
    500: "Internal error",
    502: "The model backend failed",
    503: "Busy",
    504: "Deadline exceeded",
}
_CURES = {
    "participant_id": "participant_id has to be a whole number from 1 to 999999.",
    "transcript_text": "transcript_text has to be a string.",
    "mode": 'mode has to be "zero_shot", "few_shot", 0, 1 or null.',
    "protocol": 'protocol has to be the name of a protocol, such as "phq8".',
    "inputs": "inputs has to be an object whose values are strings or whole numbers.",
    "assessment": "assessment has to be the JSON of an assessment: its item scores, 0-3 or null.",
    "question_id": "question_id has to be the id of the question that is answered, a string.",
    "option_id": "option_id has to be the id of an option of the question, a string.",
    "text": "text has to be a string.",
    "stop": "stop has to be true or false.",
    "idempotency_key": "idempotency_key has to be a string, a new one for each answer.",
    "version": "version has to be the whole number that the snapshot says.",
    "body": "Send a JSON object, with the header Content-Type: application/json.",
}
_FIELDS = {
    "/v1/interviews": "protocol, inputs, assessment, transcript_text and participant_id",
    "/v1/interviews/{interview_id}/answers": (
        "question_id, option_id, text, stop, idempotency_key and version"
    ),
}
_ASSESSMENT_FIELDS = "participant_id, transcript_text and mode"
_CONFLICTS: Mapping[type[AssessmentServiceError], str] = {
    VersionConflict: "version_conflict",
    InterviewOver: "interview_over",
    InterviewUnfinished: "interview_unfinished",
    KeyReused: "key_reused",
    InterviewUnreadable: "interview_unreadable",
    ProtocolChanged: "protocol_changed",
}
_UNKNOWN = "unknown"
"""Stands for a field that the caller made up."""
_RETRY_AFTER_SECONDS = 5
_TOO_LATE = frozenset({FailureCode.DEADLINE_EXCEEDED, FailureCode.TIMED_OUT})


def problem(
    status: int,
    code: str,
    detail: str,
    *,
    headers: Mapping[str, str] | None = None,
    more: Mapping[str, object] | None = None,
) -> JSONResponse:
    """Return a problem response.

    `detail` is a fixed sentence that names field and cure; `more` are further members of the body.
    """
    body = {
        "type": f"urn:ai-psychiatrist:problem:{code}",
        "title": _TITLES.get(status, "Error"),
        "status": status,
        "code": code,
        "detail": detail,
        **(more or {}),
    }
    return JSONResponse(body, status, dict(headers or {}), media_type=_MEDIA_TYPE)


def nothing_finished(
    assessment: Assessment,
    causes: Iterable[Cause] = (),
    *,
    assessment_id: str | None = None,
) -> JSONResponse:
    """Return the problem of an assessment without any finished part."""
    codes = {failure.code for failure in assessment.failures if failure.code is not None}
    is_late = bool(codes) and codes - {FailureCode.MISSING_INPUT} <= _TOO_LATE
    status, causes = 504 if is_late else 502, tuple(causes)
    named = f" --model {causes[0].model}" if causes else ""
    return problem(
        status,
        "deadline_exceeded" if is_late else "backend_failed",
        "No part of the assessment was finished. The causes say why calls failed and what to do; "
        f"ai-psychiatrist doctor{named} looks closer.",
        more={
            **({} if assessment_id is None else {"assessment_id": assessment_id}),
            "failures": [
                {"stage": failure.stage, "code": failure.code and failure.code.value}
                for failure in assessment.failures
            ],
            "attempts": Counter(
                attempt.code.value for attempt in assessment.attempts if attempt.code
            ),
            "causes": [
                {
                    "model": cause.model,
                    "code": cause.code.value,
                    "http_status": cause.http_status,
                    "cure": cause.cure,
                }
                for cause in causes
            ],
            **risk_field(assessment.risk),
        },
    )


def interview_step_failed(snapshot: InterviewSnapshot) -> JSONResponse:
    """Return the problem of an interview whose model failed; what was answered is kept."""
    return _model_failed(
        snapshot.failure,
        "A model gave nothing that can be used. What was answered is kept: read the interview to "
        "try this step again. For a closer look: ai-psychiatrist doctor",
        more={
            "interview_id": snapshot.id,
            "state": snapshot.state.value,
            "version": snapshot.version,
            "is_resumable": snapshot.is_resumable,
        },
    )


def _model_failed(
    failure: FailureCode | None, detail: str, *, more: Mapping[str, object]
) -> JSONResponse:
    is_late = failure in _TOO_LATE
    return problem(
        504 if is_late else 502,
        "deadline_exceeded" if is_late else "backend_failed",
        detail,
        more={"failure": None if failure is None else failure.value, **more},
    )


def busy(risk: RiskReport) -> JSONResponse:
    """Return the problem of a server that has no room for another assessment."""
    return problem(
        503,
        "busy",
        "As many assessments are under way as API_MAX_CONCURRENCY allows; try again later.",
        headers={"Retry-After": str(_RETRY_AFTER_SECONDS)},
        more=risk_field(risk),
    )


def stopping(more: Mapping[str, object]) -> JSONResponse:
    """Return the problem of a service that is stopped before the answer is ready."""
    return problem(
        503,
        "stopping",
        "The service is being stopped; ask again later.",
        headers={"Retry-After": str(_RETRY_AFTER_SECONDS)},
        more=more,
    )


def too_large(what: str, limit: int, setting: str) -> JSONResponse:
    """Return the problem of a body or transcript above its limit."""
    return problem(413, "too_large", f"{what} is larger than {limit}, the limit set by {setting}.")


def add_problem_handlers(app: FastAPI) -> None:
    """Make every error of the app a problem."""
    app.add_exception_handler(RequestValidationError, _on_invalid_request)
    app.add_exception_handler(InputError, _on_input_error)
    app.add_exception_handler(InterviewUnreadable, _on_conflict)
    app.add_exception_handler(ProtocolChanged, _on_conflict)
    app.add_exception_handler(ConfigurationError, _on_no_interviews)
    app.add_exception_handler(StoreUnusable, _on_no_interviews)
    app.add_exception_handler(AgentFailed, _on_failed_agent)
    app.add_exception_handler(HTTPException, _on_http_error)


async def _on_invalid_request(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RequestValidationError):
        raise error
    problems = [_invalid_field(entry) for entry in error.errors()]
    if any(entry["type"] == "json_invalid" for entry in problems):
        return _malformed_json()
    cures = " ".join(dict.fromkeys(_cure(entry["field"], request) for entry in problems))
    return problem(422, "invalid_request", cures, more={"errors": problems})


def _malformed_json() -> JSONResponse:
    return problem(400, "malformed_json", "The body is no valid JSON; send a JSON object.")


def _cure(field: str, request: Request) -> str:
    if field != _UNKNOWN:
        return _CURES[field]
    path = getattr(request.scope.get("route"), "path", "")
    return f"The fields of the body are {_FIELDS.get(path, _ASSESSMENT_FIELDS)}; no others."


def _invalid_field(entry: Mapping[str, object]) -> dict[str, str]:
    """Name a field of ours and the kind of error; a key that the caller made up is not repeated."""
    location = entry.get("loc")
    names = [str(part) for part in location] if isinstance(location, tuple) else []
    kind = str(entry.get("type"))
    if kind == "extra_forbidden":
        return {"field": _UNKNOWN, "type": kind}
    return {"field": next((name for name in names[1:] if name in _CURES), "body"), "type": kind}


async def _on_input_error(request: Request, error: Exception) -> JSONResponse:
    match error:
        case ParticipantNotFound():
            return problem(404, "participant_not_found", str(error), more={"field": error.field})
        case InterviewNotFound():
            return problem(404, "interview_not_found", str(error), more={"field": error.field})
        case RequestConflict():
            code = _CONFLICTS.get(type(error), "not_available")
            more = {"field": error.field, **kept_risk(request.scope)}
            return problem(409, code, str(error), more=more)
        case InputError():
            return problem(422, "unusable_input", str(error), more={"field": error.field})
        case _:
            raise error


async def _on_conflict(_: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, InterviewUnreadable | ProtocolChanged):
        raise error
    return problem(409, _CONFLICTS[type(error)], str(error))


async def _on_no_interviews(_: Request, error: Exception) -> JSONResponse:
    """Tell nothing of paths and settings: they are for the operator, who finds them in the log."""
    logger.error("interviews_unavailable", error_type=type(error).__name__)
    return problem(
        503,
        "interviews_unavailable",
        "Interviews cannot be kept now; the operator of the service has to look after their file.",
    )


async def _on_failed_agent(_: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, AgentFailed):
        raise error
    return _model_failed(
        error.code, "A model gave nothing that can be used; ask again.", more={"agent": error.agent}
    )


async def _on_http_error(_: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, HTTPException):
        raise error
    if error.status_code == 400:
        # FastAPI itself raises it, for a body that no parser gets through.
        return _malformed_json()
    code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "http_error")
    return problem(
        error.status_code,
        code,
        "See /docs for what this service offers.",
        headers=error.headers,
    )
