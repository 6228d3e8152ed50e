"""Which problem answers each error that leaves a route."""

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final, TypeAlias

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from ai_psychiatrist.api.field_hints import (
    BODY,
    FIELD_HINTS,
    INTERVIEW_HINTS,
    QUERY,
    UNKNOWN_FIELD,
)
from ai_psychiatrist.api.media_types import JSON_TYPE, content_type
from ai_psychiatrist.api.paths import own_path
from ai_psychiatrist.api.problems import Problem, backend_failed
from ai_psychiatrist.api.requests import TAKES_FILES, KeptAssessmentRequest, is_file_type
from ai_psychiatrist.api.risk import kept_risk
from ai_psychiatrist.assessment.parts import TOO_LATE
from ai_psychiatrist.domain.errors import (
    AgentFailed,
    AssessmentServiceError,
    ConfigurationError,
    InputError,
    SpeakersUnknown,
    StoreUnusable,
)
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.off_loop import WorkerLost, WorkTimedOut
from ai_psychiatrist.interview.interview_log import log_unavailable

logger = get_logger(__name__)

_INTERVIEWS: Final = "/v1/interviews"
_BATCHED: Final = "requests"
"""The field of a batch; its errors say which of the requests they are about."""
_Handler: TypeAlias = Callable[[Request, Exception], Coroutine[Any, Any, Response]]
_OR_FILE: Final = ", or a transcript itself, with its own type such as text/plain"
_MOST_ERRORS = 20
"""Listed in an answer; how many more there are is said."""


async def _on_error(request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException) and error.status_code < 400:
        return Response(status_code=error.status_code)
    problem = error if isinstance(error, Problem) else _problem_of(request, error)
    return problem.response(request.scope)


PROBLEM_HANDLERS: Final[dict[int | type[Exception], _Handler]] = {
    RequestValidationError: _on_error,
    HTTPException: _on_error,
    AssessmentServiceError: _on_error,
    WorkTimedOut: _on_error,
    WorkerLost: _on_error,
}
"""They make every error of an application a problem."""


def _problem_of(request: Request, error: Exception) -> Problem:
    match error:
        case RequestValidationError():
            return _invalid_request(request, error)
        case HTTPException():
            return _http_problem(request, error)
        case AgentFailed():
            detail = "No model gave a usable reply; try again."
            more = {"failure": error.code, "agent": error.agent}
            return backend_failed(detail, is_late=error.code in TOO_LATE, more=more)
        case ConfigurationError() | StoreUnusable():
            return _not_stored(request, error)
        case AssessmentServiceError():
            return _told(request, error)
        case _:
            logger.error("work_not_done", error_type=type(error).__name__)
            return Problem("overloaded", more=kept_risk(request.scope))


def _invalid_request(request: Request, error: RequestValidationError) -> Problem:
    found = error.errors()
    problems = [_invalid_field(entry) for entry in found[:_MOST_ERRORS]]
    cures = " ".join(dict.fromkeys(_cure(entry, request) for entry in problems))
    more: dict[str, object] = {"errors": problems, "more_errors": len(found) - len(problems)}
    fields = {entry["field"] for entry in problems}
    if len(fields) == 1:
        more["field"] = fields.pop()
    return Problem("invalid_request", cures, more=more)


def _http_problem(request: Request, error: HTTPException) -> Problem:
    status = error.status_code
    code = {404: "not_found", 405: "method_not_allowed"}.get(status, "http_error")
    headers = {"Allow": _allowed(request)} if status == 405 else error.headers
    has_pages = request.app.openapi_url is not None
    detail = f"See {'/docs' if has_pages else 'the HTTP API page'} for what this service offers."
    return Problem(code, detail, status=status, headers=headers)


def _allowed(request: Request) -> str:
    """Return the methods of a path; each of its routes by itself knows only its own."""
    path = own_path(request.scope)
    routes = iter_route_contexts(request.app.routes)
    found = (route.methods or () for route in routes if route.path_regex.match(path))
    methods = {method for methods in found for method in methods}
    return ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))


def _invalid_field(entry: Mapping[str, object]) -> dict[str, str]:
    """Name a field of ours and the kind of error; a key that the caller made up is not repeated."""
    location = entry.get("loc")
    names = [str(part) for part in location] if isinstance(location, tuple) else []
    kind = str(entry.get("type"))
    place = ""
    if names[1:2] == [_BATCHED] and names[3:]:
        place, names = f"{_BATCHED}.{names[2]}.", names[2:]
    if kind == "extra_forbidden":
        return {"field": QUERY if names[0] == QUERY else place + UNKNOWN_FIELD, "type": kind}
    if names[:1] == ["header"]:
        names = [name.lower() for name in names]
    field = next((name for name in names[1:] if name in FIELD_HINTS), BODY)
    return {"field": place + field, "type": kind}


def _cure(entry: Mapping[str, str], request: Request) -> str:
    *places, field = entry["field"].split(".")
    if field == BODY:
        return _cure_of_body(entry["type"], request)
    if entry["type"] != "extra_forbidden":
        is_of_interview = own_path(request.scope).startswith(_INTERVIEWS)
        return (FIELD_HINTS | (INTERVIEW_HINTS if is_of_interview else {}))[field]
    route = request.scope["route"]
    if field == QUERY:
        (query,) = route.dependant.query_params
        *names, last = query.field_info.annotation.model_fields
        return f"The query takes {', '.join(names)} and {last}; nothing else."
    body: type[BaseModel] = (
        KeptAssessmentRequest if places else route.body_field.field_info.annotation
    )
    fields = ((name, known) for name, known in body.model_fields.items() if not known.exclude)
    *names, last = (known.alias or name for name, known in fields)
    if not names:
        return f"The one field of the body is {last}; there are no others."
    return f"The fields of the body are {', '.join(names)} and {last}; no others."


def _cure_of_body(kind: str, request: Request) -> str:
    """Say what is wrong with a whole body, and what to send."""
    takes_files = request.scope["route"].openapi_extra is TAKES_FILES
    sent = content_type(request.scope)
    if kind == "missing":
        fault = "The body is empty."
    elif not sent:
        fault = "The header Content-Type is missing."
    elif sent == JSON_TYPE or sent.endswith("+json"):
        fault = "The body is JSON, and no object."
    elif takes_files and is_file_type(sent):
        fault = f"The body is JSON, and its Content-Type is {sent}."
    else:
        fault = "The Content-Type is none that is read here."
    wanted = f"Send a JSON object, with the header Content-Type: {JSON_TYPE}"
    return f"{fault} {wanted}{_OR_FILE if takes_files else ''}."


def _not_stored(request: Request, error: AssessmentServiceError) -> Problem:
    """Name no paths and settings: they are for the operator, who finds them in the log."""
    # Settings that a request finds wrong are those of interviews: nothing else opens so late.
    code = error.problem_code or "interviews_unavailable"
    if code.startswith("interviews"):
        log_unavailable(error)
        return Problem(code)
    logger.error("records_unavailable", error_type=type(error).__name__)
    return Problem(code, more=kept_risk(request.scope))


def _told(request: Request, error: AssessmentServiceError) -> Problem:
    """Repeat the message of an error that is for the caller; raises every other error again."""
    if not error.problem_code:
        raise error
    more: dict[str, object] = {"field": error.field} if isinstance(error, InputError) else {}
    if isinstance(error, SpeakersUnknown):
        more["labels"] = error.labels
    problem = Problem(error.problem_code, str(error), more=more)
    if problem.status_code == 409:
        problem.more |= kept_risk(request.scope)
    return problem
