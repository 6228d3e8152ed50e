"""Errors as RFC 9457 problems: codes, counts and a hint, never anything of the request."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

from fastapi.responses import JSONResponse, Response
from pydantic import Field
from starlette.exceptions import HTTPException
from starlette.types import Scope

from ai_psychiatrist.api.risk import risk_field
from ai_psychiatrist.assessment.parts import end_code
from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.problems import ProblemKind, problem_kinds
from ai_psychiatrist.llm.reasons import Reason
from ai_psychiatrist.results.result import Result

PROBLEM_TYPE: Final = "urn:ai-psychiatrist:problem:"
"""Followed by a code it is the `type` of a problem."""
PROBLEM_CODE: Final = "problem_code"
"""Where the state of a request has the code of the problem that answers it, for the log."""
MEDIA_TYPE: Final = "application/problem+json"
_TITLES: Final = {
    400: "The request cannot be read",
    401: "Authentication required",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    406: "Not available in this format",
    408: "Request timeout",
    409: "Conflict with the current state",
    410: "No longer available",
    413: "Too large",
    415: "Unsupported media type",
    421: "Not served under this name",
    422: "The input cannot be used",
    429: "Too many requests",
    500: "Internal error",
    502: "The model backend failed",
    503: "Not available now",
    504: "Deadline exceeded",
    507: "Storage is full",
}
_TITLES_OF_CODES: Final = {
    FailureCode.UNGROUNDED_EVIDENCE.value: "The model's evidence is not in the transcript"
}
"""Where the status says something else."""


class Problem(HTTPException):
    """A problem that ends a request; FastAPI lets it through from wherever it is raised."""

    def __init__(
        self,
        code: str,
        detail: str = "",
        *,
        status: int = 500,
        headers: Mapping[str, str] | None = None,
        more: Mapping[str, object] | None = None,
    ) -> None:
        """`detail`: a sentence that says more than that of the table; nothing of the request.

        `status` counts for a code that is not in the table. `more` are further members of the body.
        """
        kind = problem_kinds().get(code) or ProblemKind(status=status, sentence="", hint="")
        super().__init__(kind.status, detail or kind.sentence, {**kind.headers, **(headers or {})})
        self.code = code
        self.more = dict(more or {})

    def response(self, scope: Scope) -> Response:
        """Return the answer to a request, for a browser as a page; its log line has the code."""
        scope.setdefault("state", {})[PROBLEM_CODE] = self.code
        # Pages raise problems themselves, so that the application hands in what makes them.
        app = scope.get("app")
        page_of: _PageOf | None = None if app is None else app.state.problem_page
        page = None if page_of is None else page_of(scope, self, self.title)
        if page is not None:
            return page
        return JSONResponse(self.body(), self.status_code, self.headers, MEDIA_TYPE)

    @property
    def title(self) -> str:
        """What happened, in a few words."""
        return _TITLES_OF_CODES.get(self.code) or _TITLES.get(self.status_code, "Error")

    def body(self) -> dict[str, object]:
        """Return the members of the answer."""
        return {
            "type": PROBLEM_TYPE + self.code,
            "title": self.title,
            "status": self.status_code,
            "code": self.code,
            "detail": self.detail,
            **self.more,
        }


_PageOf: TypeAlias = Callable[[Scope, Problem, str], Response | None]


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


class MissingPart(Result):
    """A part of an assessment that was not finished."""

    stage: str
    """The agent or step that failed."""
    code: FailureCode | None
    """Why; null where no call failed for it."""


class FailureProblem(Result):
    """Why nothing of an assessment was finished; no words of it."""

    title: str
    """What the status means."""
    status: int
    """The status of the answer."""
    code: str
    """What programs branch on."""
    detail: str
    """What is wrong and what to do."""
    failures: tuple[MissingPart, ...] = ()
    """The parts that were not finished."""
    attempts: dict[str, int] = Field(default_factory=dict)
    """How many calls of models failed, or had their reply rejected, by code."""
    causes: tuple[ModelProblem, ...] = ()
    """The models that would not answer."""


def causes_field(causes: Iterable[Reason]) -> dict[str, object]:
    """Return causes as a field of a problem body; it holds no addresses."""
    shown = map(ModelProblem.model_validate, causes)
    return {"causes": [cause.model_dump(mode="json") for cause in shown]}


def nothing_finished(assessment: Assessment, causes: tuple[Reason, ...]) -> Problem:
    """Return the problem of an assessment without any finished part."""
    more = {
        "assessment_id": assessment.assessment_id,
        "failures": [
            {"stage": failure.stage, "code": failure.code} for failure in assessment.failures
        ],
        "attempts": Counter(attempt.code for attempt in assessment.attempts if attempt.code),
        **causes_field(causes),
        **risk_field(assessment.risk),
    }
    code = end_code(assessment)
    if code == FailureCode.UNGROUNDED_EVIDENCE:
        return Problem("ungrounded_evidence", more=more)
    named = f" --model {causes[0].model}" if causes else ""
    return backend_failed(
        "No part of the assessment was finished. The causes say why calls failed and what to do; "
        f"ai-psychiatrist doctor{named} looks closer.",
        is_late=code == FailureCode.DEADLINE_EXCEEDED,
        more=more,
    )


def backend_failed(detail: str, *, is_late: bool, more: Mapping[str, object]) -> Problem:
    """Return the problem of a model that gave nothing, or of one that gave it too late."""
    return Problem("deadline_exceeded" if is_late else "backend_failed", detail, more=more)


def too_large(what: str, limit: int, setting: str) -> Problem:
    """Return the problem of a body or transcript above its limit."""
    return Problem("too_large", f"{what} is larger than {limit}, the limit set by {setting}.")
