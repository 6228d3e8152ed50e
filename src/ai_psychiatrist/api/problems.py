"""Errors as RFC 9457 problems: codes, counts and the cure, never anything of the request."""

from collections import Counter
from collections.abc import Iterable, Mapping

from fastapi import Response
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from ai_psychiatrist.api.field_cures import FIELD_CURES, UNKNOWN_FIELD
from ai_psychiatrist.api.problem_kinds import PROBLEM_TYPE
from ai_psychiatrist.assessment.parts import TOO_LATE, end_code
from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.interview.snapshot import InterviewSnapshot
from ai_psychiatrist.llm.reasons import Reason
from ai_psychiatrist.results.result import Result
from ai_psychiatrist.results.risk import risk_field

_MEDIA_TYPE = "application/problem+json"
_TITLES = {
    400: "The request cannot be read",
    401: "Nobody is known who asks so",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    406: "Not to be had in this form",
    408: "Too late",
    409: "Not possible as things stand",
    413: "Too large",
    415: "Wrong media type",
    421: "Not served under this name",
    422: "The input cannot be used",
    429: "Too much",
    500: "Internal error",
    502: "The model backend failed",
    503: "Not available now",
    504: "Deadline exceeded",
    507: "Full",
}
_TITLES_OF_CODES = {FailureCode.UNGROUNDED_EVIDENCE.value: "The model's evidence was not said"}
"""Where the status says something else."""
_RETRY_AFTER_SECONDS = 5


class Refusal(HTTPException):
    """A problem that ends a request; FastAPI lets it through from wherever it is raised."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.status_code)
        self.response = response


class ModelProblem(Result):
    """Why a model would not answer now."""

    model: str
    """Its name in the settings."""
    code: FailureCode
    """Why it would not answer."""
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
        "type": PROBLEM_TYPE + code,
        "title": _TITLES_OF_CODES.get(code) or _TITLES.get(status, "Error"),
        "status": status,
        "code": code,
        "detail": detail,
        **(more or {}),
    }
    return JSONResponse(body, status, dict(headers or {}), media_type=_MEDIA_TYPE)


def causes_field(causes: Iterable[Reason]) -> dict[str, object]:
    """Return causes as a field of a problem body; it holds no addresses."""
    shown = map(ModelProblem.model_validate, causes)
    return {"causes": [cause.model_dump(mode="json") for cause in shown]}


def nothing_finished(
    assessment: Assessment, causes: tuple[Reason, ...], *, assessment_id: str
) -> JSONResponse:
    """Return the problem of an assessment without any finished part."""
    more = {
        "assessment_id": assessment_id,
        "failures": [
            {"stage": failure.stage, "code": failure.code} for failure in assessment.failures
        ],
        "attempts": Counter(attempt.code for attempt in assessment.attempts if attempt.code),
        **causes_field(causes),
        **risk_field(assessment.risk),
    }
    code = end_code(assessment)
    if code == FailureCode.UNGROUNDED_EVIDENCE:
        detail = (
            "No part of the assessment was finished: no quote that the model gave as evidence was "
            "accepted. The causes say what to do."
        )
        return problem(502, "ungrounded_evidence", detail, more=more)
    named = f" --model {causes[0].model}" if causes else ""
    return backend_failed(
        "No part of the assessment was finished. The causes say why calls failed and what to do; "
        f"ai-psychiatrist doctor{named} looks closer.",
        is_late=code == FailureCode.DEADLINE_EXCEEDED,
        more=more,
    )


def interview_step_failed(snapshot: InterviewSnapshot) -> JSONResponse:
    """Return the problem of an interview whose model failed; what was answered is kept."""
    return backend_failed(
        "A model gave nothing that can be used. What was answered is kept: POST to the "
        "interview's /retry to try this step again. For a closer look: ai-psychiatrist doctor",
        is_late=snapshot.failure in TOO_LATE,
        more={
            "failure": snapshot.failure,
            "interview_id": snapshot.id,
            "state": snapshot.state,
            "version": snapshot.version,
            "is_resumable": snapshot.is_resumable,
        },
    )


def backend_failed(detail: str, *, is_late: bool, more: Mapping[str, object]) -> JSONResponse:
    """Return the problem of a model that gave nothing, or of one that gave it too late."""
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
    field = key if key in FIELD_CURES else UNKNOWN_FIELD
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
