"""Errors as RFC 9457 problems: codes, counts and the cure, never anything of the request."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import iter_route_contexts
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from ai_psychiatrist.agents.definition import DANGER
from ai_psychiatrist.api.risk import kept_risk
from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.errors import (
    AgentFailed,
    AssessmentServiceError,
    ConfigurationError,
    InputError,
    ParticipantNotFound,
    RequestConflict,
    SpeakersUnknown,
)
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.worker_processes import WorkerLost
from ai_psychiatrist.infrastructure.worker_threads import WorkTimedOut
from ai_psychiatrist.interview.errors import (
    InterviewNotFound,
    InterviewOver,
    InterviewUnfinished,
    InterviewUnreadable,
    KeyReused,
    ProtocolChanged,
    ReportNotMade,
    StoreFull,
    StoreUnusable,
    VersionConflict,
)
from ai_psychiatrist.interview.interviews import log_unavailable
from ai_psychiatrist.interview.snapshot import InterviewSnapshot
from ai_psychiatrist.llm.cures import Cause
from ai_psychiatrist.results.models import Result
from ai_psychiatrist.results.risk import risk_field

logger = get_logger(__name__)

_MEDIA_TYPE = "application/problem+json"
_TITLES = {
    400: "The request cannot be read",
    404: "Not found",
    405: "Method not allowed",
    408: "Too late",
    409: "Not possible as things stand",
    413: "Too large",
    415: "Wrong media type",
    421: "Not served under this name",
    422: "The input cannot be used",
    500: "Internal error",
    502: "The model backend failed",
    503: "Busy",
    504: "Deadline exceeded",
    507: "Full",
}
_CURES = {
    "participant_id": "participant_id has to be a whole number from 1 to 999999.",
    "transcript_text": "transcript_text has to be a string.",
    "speakers": 'speakers has to be an object such as {"Anna": "participant"}: at most 20 labels, '
    "each participant, interviewer or other.",
    "participant": "participant has to be a label of the transcript, 1-60 characters.",
    "interviewer": "interviewer has to be a label of the transcript, 1-60 characters.",
    "mode": 'mode has to be "zero_shot", "few_shot", 0, 1 or null.',
    "protocol": 'protocol has to be the name of a protocol, such as "phq8".',
    "inputs": "inputs has to be an object of at most 50 strings or whole numbers.",
    "assessment": "assessment has to be the JSON of an assessment: its item scores, 0-3 or null, "
    "each with at most 1000 quotes of at most 20000 characters.",
    "question_id": "question_id has to be the id of the question that is answered, a string.",
    "option_id": "option_id has to be the id of an option of the question, a string.",
    "text": "text has to be a string of at most 20000 characters.",
    "stop": "stop has to be true or false.",
    "idempotency_key": "idempotency_key has to be a string of 1-128 letters, digits or -_.:, a new "
    "one for each answer.",
    "version": "version has to be the whole number that the snapshot says.",
    "body": "Send a JSON object, with the header Content-Type: application/json, or a transcript "
    "itself, with its own type such as text/plain.",
}
_ANSWERS: Final[Mapping[type[Exception], tuple[int, str]]] = {
    ParticipantNotFound: (404, "participant_not_found"),
    InterviewNotFound: (404, "interview_not_found"),
    VersionConflict: (409, "version_conflict"),
    InterviewOver: (409, "interview_over"),
    InterviewUnfinished: (409, "interview_unfinished"),
    ReportNotMade: (409, "report_not_made"),
    KeyReused: (409, "key_reused"),
    InterviewUnreadable: (409, "interview_unreadable"),
    ProtocolChanged: (409, "protocol_changed"),
    RequestConflict: (409, "not_available"),
    SpeakersUnknown: (422, "speakers_unknown"),
    InputError: (422, "unusable_input"),
}
"""Status and code of the errors whose message is for the caller; the nearest class counts."""
_UNKNOWN = "unknown"
"""Stands for a field that the caller made up."""
_MOST_ERRORS = 20
"""Listed in an answer; how many more there are is said."""
_RETRY_AFTER_SECONDS = 5
_TOO_LATE = frozenset({FailureCode.DEADLINE_EXCEEDED, FailureCode.TIMED_OUT})


class Refusal(HTTPException):
    """A problem that ends a request; FastAPI lets it through from wherever it is raised."""

    def __init__(self, response: JSONResponse) -> None:
        super().__init__(response.status_code)
        self.response = response


class ModelProblem(Result):
    """Why a model would not answer now."""

    model: str
    """Its name in the settings."""
    code: FailureCode
    http_status: int | None
    """Status of the backend's response, where there was one."""
    cure: str
    """What to do about it."""


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


def causes_field(causes: Iterable[Cause]) -> dict[str, object]:
    """Return causes as a field of a problem body; it holds no addresses."""
    shown = map(ModelProblem.model_validate, causes)
    return {"causes": [cause.model_dump(mode="json") for cause in shown]}


def nothing_finished(
    assessment: Assessment, causes: tuple[Cause, ...], *, assessment_id: str
) -> JSONResponse:
    """Return the problem of an assessment without any finished part."""
    parts = [failure for failure in assessment.failures if failure.stage != DANGER.name]
    codes = {failure.code for failure in parts if failure.code is not None}
    is_late = bool(codes) and codes - {FailureCode.MISSING_INPUT} <= _TOO_LATE
    named = f" --model {causes[0].model}" if causes else ""
    return _backend_failed(
        "No part of the assessment was finished. The causes say why calls failed and what to do; "
        f"ai-psychiatrist doctor{named} looks closer.",
        is_late=is_late,
        more={
            "assessment_id": assessment_id,
            "failures": [
                {"stage": failure.stage, "code": failure.code} for failure in assessment.failures
            ],
            "attempts": Counter(attempt.code for attempt in assessment.attempts if attempt.code),
            **causes_field(causes),
            **risk_field(assessment.risk),
        },
    )


def interview_step_failed(snapshot: InterviewSnapshot) -> JSONResponse:
    """Return the problem of an interview whose model failed; what was answered is kept."""
    return _backend_failed(
        "A model gave nothing that can be used. What was answered is kept: POST to the "
        "interview's /retry to try this step again. For a closer look: ai-psychiatrist doctor",
        is_late=snapshot.failure in _TOO_LATE,
        more={
            "failure": snapshot.failure,
            "interview_id": snapshot.id,
            "state": snapshot.state,
            "version": snapshot.version,
            "is_resumable": snapshot.is_resumable,
        },
    )


def _backend_failed(detail: str, *, is_late: bool, more: Mapping[str, object]) -> JSONResponse:
    if is_late:
        return problem(504, "deadline_exceeded", detail, more=more)
    return problem(502, "backend_failed", detail, more=more)


def busy() -> JSONResponse:
    """Return the problem of a server that has no room for another request; nothing was read."""
    return problem(
        503,
        "busy",
        "As many requests are under way as API_MAX_CONCURRENCY allows; try again later.",
        headers={"Retry-After": str(_RETRY_AFTER_SECONDS)},
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


def late(more: Mapping[str, object]) -> JSONResponse:
    """Return the problem of a request whose time is up, however far it came."""
    return problem(
        504,
        "deadline_exceeded",
        "The answer was not ready within API_REQUEST_TIMEOUT_SECONDS.",
        more=more,
    )


def slow_body() -> JSONResponse:
    """Return the problem of a body that does not come; what may still come is not waited for."""
    return problem(
        408,
        "slow_body",
        "The body did not come whole within API_BODY_TIMEOUT_SECONDS.",
        headers={"Connection": "close"},
    )


def too_large(what: str, limit: int, setting: str) -> JSONResponse:
    """Return the problem of a body or transcript above its limit."""
    return problem(413, "too_large", f"{what} is larger than {limit}, the limit set by {setting}.")


def malformed_json() -> JSONResponse:
    """Return the problem of a body that is no JSON, or that no reader should get through."""
    detail = "The body is no valid JSON, or nested too deeply; send a JSON object in UTF-8."
    return problem(400, "malformed_json", detail)


def key_given_twice(key: str) -> JSONResponse:
    """Return the problem of an object in which a key comes twice; names it if it is ours."""
    field = key if key in _CURES else _UNKNOWN
    detail = "A key comes twice in one object; give each key once."
    return problem(400, "duplicate_key", detail, more={"field": field})


def too_many_values(limit: int) -> JSONResponse:
    """Return the problem of a body that is made of too many parts."""
    return problem(413, "too_large", f"The body holds more than {limit} values, the most it may.")


def overloaded(more: Mapping[str, object]) -> JSONResponse:
    """Return the problem of a part of the service that did not do its work in its time."""
    return problem(
        503,
        "overloaded",
        "A part of the service did not answer in its time; try again later.",
        headers={"Retry-After": str(_RETRY_AFTER_SECONDS)},
        more=more,
    )


def add_problem_handlers(app: FastAPI) -> None:
    """Make every error of the app a problem."""
    for kind in (RequestValidationError, HTTPException, AssessmentServiceError):
        app.add_exception_handler(kind, _on_error)
    for end in (WorkTimedOut, WorkerLost):
        app.add_exception_handler(end, _on_work_not_done)


async def _on_error(request: Request, error: Exception) -> JSONResponse:
    match error:
        case Refusal():
            return error.response
        case RequestValidationError():
            return _invalid_request(request, error)
        case AgentFailed():
            return _backend_failed(
                "A model gave nothing that can be used; ask again.",
                is_late=error.code in _TOO_LATE,
                more={"failure": error.code, "agent": error.agent},
            )
        case ConfigurationError() | StoreFull() | StoreUnusable():
            return _no_interviews(error)
        case HTTPException():
            return _http_problem(request, error)
        case _:
            return _answer_to(request, error)


async def _on_work_not_done(request: Request, error: Exception) -> JSONResponse:
    logger.error("work_not_done", error_type=type(error).__name__)
    return overloaded(kept_risk(request.scope))


def _invalid_request(request: Request, error: RequestValidationError) -> JSONResponse:
    found = error.errors()
    problems = [_invalid_field(entry) for entry in found[:_MOST_ERRORS]]
    cures = " ".join(dict.fromkeys(_cure(entry["field"], request) for entry in problems))
    more = {"errors": problems, "more_errors": len(found) - len(problems)}
    return problem(422, "invalid_request", cures, more=more)


def _http_problem(request: Request, error: HTTPException) -> JSONResponse:
    status = error.status_code
    code = {404: "not_found", 405: "method_not_allowed"}.get(status, "http_error")
    headers = {"Allow": _allowed(request)} if status == 405 else error.headers
    has_pages = request.app.openapi_url is not None
    detail = f"See {'/docs' if has_pages else 'the HTTP API page'} for what this service offers."
    return problem(status, code, detail, headers=headers)


def _allowed(request: Request) -> str:
    """Return the methods of a path; each of its routes by itself knows only its own."""
    path = request.url.path
    routes = iter_route_contexts(request.app.routes)
    found = (route.methods or () for route in routes if route.path_regex.match(path))
    return ", ".join(sorted({method for methods in found for method in methods}))


def _invalid_field(entry: Mapping[str, object]) -> dict[str, str]:
    """Name a field of ours and the kind of error; a key that the caller made up is not repeated."""
    location = entry.get("loc")
    names = [str(part) for part in location] if isinstance(location, tuple) else []
    kind = str(entry.get("type"))
    if kind == "extra_forbidden":
        return {"field": _UNKNOWN, "type": kind}
    return {"field": next((name for name in names[1:] if name in _CURES), "body"), "type": kind}


def _cure(field: str, request: Request) -> str:
    if field != _UNKNOWN:
        return _CURES[field]
    body: type[BaseModel] = request.scope["route"].body_field.field_info.annotation
    fields = ((name, known) for name, known in body.model_fields.items() if not known.exclude)
    *names, last = (known.alias or name for name, known in fields)
    return f"The fields of the body are {', '.join(names)} and {last}; no others."


def _no_interviews(error: AssessmentServiceError) -> JSONResponse:
    """Tell nothing of paths and settings: they are for the operator, who finds them in the log."""
    log_unavailable(error)
    if isinstance(error, StoreFull):
        return problem(
            507,
            "interviews_full",
            "No further interview can be kept; the operator of the service has to make room.",
        )
    return problem(
        503,
        "interviews_unavailable",
        "Interviews cannot be kept now; the operator of the service has to look after their file.",
    )


def _answer_to(request: Request, error: Exception) -> JSONResponse:
    """Repeat the message of an error that is for the caller; raises every other error again."""
    found = next((_ANSWERS[kind] for kind in type(error).__mro__ if kind in _ANSWERS), None)
    if found is None:
        raise error
    status, code = found
    more: dict[str, object] = {"field": error.field} if isinstance(error, InputError) else {}
    if isinstance(error, SpeakersUnknown):
        more["labels"] = error.labels
    if status == 409:
        more |= kept_risk(request.scope)
    return problem(status, code, str(error), more=more)
