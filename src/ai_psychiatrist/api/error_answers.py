"""Which problem answers each error that leaves a route."""

from collections.abc import Mapping
from typing import Final

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import iter_route_contexts
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from ai_psychiatrist.api.field_cures import FIELD_CURES, QUERY, UNKNOWN_FIELD
from ai_psychiatrist.api.own_path import own_path
from ai_psychiatrist.api.problems import Refusal, backend_failed, overloaded, problem
from ai_psychiatrist.api.requests import KeptAssessmentRequest
from ai_psychiatrist.api.risk import kept_risk
from ai_psychiatrist.assessment.parts import TOO_LATE
from ai_psychiatrist.domain.errors import (
    AgentFailed,
    AssessmentServiceError,
    ConfigurationError,
    InputError,
    ParticipantNotFound,
    RequestConflict,
    SpeakersUnknown,
)
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
from ai_psychiatrist.reviews.archive.errors import (
    AlreadyCommitted,
    ArchiveFull,
    ArchiveUnusable,
    BatchNotFound,
    JobOver,
    KeyOfAnother,
    KeyUnderWay,
    NotCommitted,
    RecordFailed,
    RecordNotFound,
    RecordRunning,
    RecordUnreadable,
    ReviewNotBegun,
    StillBlind,
    SubjectNotFound,
)

logger = get_logger(__name__)

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
    RecordNotFound: (404, "assessment_not_found"),
    BatchNotFound: (404, "batch_not_found"),
    JobOver: (409, "job_over"),
    KeyUnderWay: (409, "key_under_way"),
    KeyOfAnother: (422, "key_of_another"),
    SubjectNotFound: (404, "subject_not_found"),
    StillBlind: (403, "still_blind"),
    RecordRunning: (409, "assessment_running"),
    RecordFailed: (409, "assessment_failed"),
    RecordUnreadable: (409, "assessment_unreadable"),
    ReviewNotBegun: (409, "review_not_begun"),
    NotCommitted: (409, "not_committed"),
    AlreadyCommitted: (409, "already_committed"),
    RequestConflict: (409, "not_available"),
    SpeakersUnknown: (422, "speakers_unknown"),
    InputError: (422, "unusable_input"),
}
"""Status and code of the errors whose message is for the caller; the nearest class counts."""
_BATCHED: Final = "requests"
"""The field of a batch; its errors say which of the requests they are about."""
_MOST_ERRORS = 20
"""Listed in an answer; how many more there are is said."""


def add_problem_handlers(app: FastAPI) -> None:
    """Make every error of the app a problem."""
    for kind in (RequestValidationError, HTTPException, AssessmentServiceError):
        app.add_exception_handler(kind, _on_error)
    for end in (WorkTimedOut, WorkerLost):
        app.add_exception_handler(end, _on_work_not_done)


async def _on_error(request: Request, error: Exception) -> Response:
    match error:
        case Refusal():
            return error.response
        case RequestValidationError():
            return _invalid_request(request, error)
        case AgentFailed():
            return backend_failed(
                "A model gave nothing that can be used; ask again.",
                is_late=error.code in TOO_LATE,
                more={"failure": error.code, "agent": error.agent},
            )
        case (
            ConfigurationError() | StoreFull() | StoreUnusable() | ArchiveFull() | ArchiveUnusable()
        ):
            return _not_kept(request, error)
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
    cures = " ".join(dict.fromkeys(_cure(entry, request) for entry in problems))
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
    field = next((name for name in names[1:] if name in FIELD_CURES), "body")
    return {"field": place + field, "type": kind}


def _cure(entry: Mapping[str, str], request: Request) -> str:
    *places, field = entry["field"].split(".")
    if entry["type"] != "extra_forbidden":
        return FIELD_CURES[field]
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


def _not_kept(request: Request, error: AssessmentServiceError) -> JSONResponse:
    if isinstance(error, ArchiveFull | ArchiveUnusable):
        return _no_records(request, error)
    return _no_interviews(error)


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


def _no_records(request: Request, error: AssessmentServiceError) -> JSONResponse:
    """Tell nothing of paths and settings: they are for the operator, who finds them in the log."""
    logger.error("records_unavailable", error_type=type(error).__name__)
    more = kept_risk(request.scope)
    if isinstance(error, ArchiveFull):
        return problem(
            507,
            "assessments_full",
            "No further assessment can be stored; the operator of the service has to make room.",
            more=more,
        )
    return problem(
        503,
        "assessments_unavailable",
        "Assessments cannot be stored or read now; the operator of the service has to look after "
        "their files.",
        more=more,
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
