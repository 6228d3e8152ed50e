"""The OpenAPI document: FastAPI's, with every problem that a route may answer with."""

from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from itertools import product
from typing import Any, Final

from fastapi import FastAPI
from fastapi.responses import JSONResponse
from pydantic import ConfigDict
from starlette.requests import Request
from starlette.responses import Response

from ai_psychiatrist.api.authorization import ONE_OF
from ai_psychiatrist.api.dependencies import RETRY_AFTER
from ai_psychiatrist.api.problems import MEDIA_TYPE, PROBLEM_TYPE, FailureProblem
from ai_psychiatrist.api.webhook_models import RESPONSES
from ai_psychiatrist.domain.problems import problem_kinds
from ai_psychiatrist.domain.risk import Examined, RiskLevel
from ai_psychiatrist.domain.shape import DESCRIBING
from ai_psychiatrist.results.result import Result

_UNDESCRIBED: Final = "Successful Response"
_OF_THE_FRAMEWORK: Final = "HTTPValidationError", "ValidationError"
"""Schemas of errors that are problems here."""
_SCHEMAS: Final = "#/components/schemas/"
TAGS: Final = {
    "assessment": "A transcript in, an assessment out.",
    "stored assessments": "Assess and keep, list, read and erase.",
    "jobs": "How far assessments are that outlive their request; many at once; end them.",
    "reviews": "Rate a stored assessment, blind until your ratings are committed.",
    "session": "Log in and out with a key; for pages.",
    "interviews": "Ask a person what is still unknown, one question after another.",
    "status": "How the service is; for monitoring.",
}
"""What the groups of routes are for."""
_DONE: Final = {
    "200": "The requested data.",
    "201": "What was made.",
    "202": "It is taken; Location says where to ask for it.",
    "204": "It is done, and there is no body.",
}
_OF_EVERY_ROUTE: Final = {
    "400": "The request names no host, or more than one.",
    "401": "A credential is needed, and none that works is shown.",
    "403": "The credential does not allow it, or a page of another site asks.",
    "413": "The body is too large.",
    "421": "The service does not answer under this name.",
    "405": "The path takes other methods; Allow names them.",
    "429": "Logins failed too often; see Retry-After.",
    "503": "The service is shutting down; see Retry-After.",
    "504": "The answer was not ready before the deadline.",
}
_OF_EVERY_BODY: Final = {
    "408": "The body did not come in time.",
    "415": "The body is compressed.",
}
_WAITS: Final = frozenset({"429", "503"})
"""Their answers have a Retry-After."""
_HEADERS: Final = {
    "ETag": {"description": "Of the answer, for If-None-Match."},
    "Location": {"description": "Path of what was made, or where to ask for it."},
    "Retry-After": {"description": "Seconds until it is worth asking again."},
}
_WRONG_FIELDS: Final = "A field is wrong; the body says which."


class InvalidField(Result):
    """A field that is not as it should be."""

    field: str
    """A field of the body or the query, `body` itself, or for what nobody asked for `unknown` in
    the body, `query` in the query."""
    type: str
    """What kind of error it is, as Pydantic names it."""


class SignalPlace(Result):
    """Where a sign of danger stands in the transcript, without its words."""

    level: RiskLevel
    """How soon a person should look."""
    turn: int
    """The turn, from 0."""
    start: int
    """First character, in code points of the transcript."""
    end: int
    """The character after the last."""


class KnownRisk(Result):
    """Signs of danger in a transcript that was read before the problem arose."""

    level: RiskLevel
    """The highest level of any sign."""
    signal_count: int
    """How many were found, listed or not."""
    signals: tuple[SignalPlace, ...]
    """The first of those with the highest levels."""
    examined: Examined
    """Which words were read for them."""


class ProblemBody(FailureProblem):
    """An error as RFC 9457 has it, which may have more members; it repeats nothing of a request."""

    model_config = ConfigDict(title="Problem")

    type: str
    """`urn:ai-psychiatrist:problem:` and the code."""
    field: str = ""
    """The field at fault, where there is one."""
    errors: tuple[InvalidField, ...] = ()
    """At most 20 fields at fault."""
    more_errors: int = 0
    """How many there are beside those that are listed."""
    assessment_id: str = ""
    """Of the assessment of which nothing was finished."""
    failure: str = ""
    """Why the one agent that was asked gave nothing."""
    agent: str = ""
    """That agent."""
    missing_scopes: tuple[str, ...] = ()
    """What the credential lacks, all of it."""
    missing_one_of: tuple[str, ...] = ()
    """One of these is enough, and the credential has none."""
    agents: tuple[str, ...] = ()
    """For which no model would answer."""
    labels: tuple[str, ...] = ()
    """Labels of the speakers in the transcript that was sent, for a choice of the participant."""
    risk: KnownRisk | None = None
    """Signs of danger in a transcript that was read; null where none was."""


class DocumentedApp(FastAPI):
    """An application whose OpenAPI document has the problems of every route with their schema."""

    asks_for_credentials: bool = False
    """Whether every caller has to show one."""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Open the application for the block, in the lifespan of the one that it is mounted in.

        A server does this for the application that it runs, and for none that is mounted there.
        """
        async with self.router.lifespan_context(self):
            yield

    def setup(self) -> None:
        """Serve the document."""
        if self.openapi_url is not None:
            self.add_api_route(self.openapi_url, _document, include_in_schema=False)

    def openapi(self) -> dict[str, Any]:
        """Return the document, valid OpenAPI 3.1; made once, in a fraction of a second."""
        with DESCRIBING:
            if self.openapi_schema is not None:
                return self.openapi_schema
            document = super().openapi()
            schema = ProblemBody.model_json_schema(ref_template=_SCHEMAS + "{model}")
            schemas = document["components"]["schemas"]
            schemas |= schema.pop("$defs") | {"Problem": schema}
            for name in _OF_THE_FRAMEWORK:
                schemas.pop(name, None)
            for path in document["paths"].values():
                for operation in path.values():
                    _describe(operation, is_required=self.asks_for_credentials)
            document["components"]["headers"] = {
                name: {**said, "schema": {"type": "string"}} for name, said in _HEADERS.items()
            }
            for path in document["webhooks"].values():
                path["post"]["responses"] = RESPONSES
            document["x-problems"] = [
                {
                    "type": PROBLEM_TYPE + code,
                    "status": kind.status,
                    "code": code,
                    "sentence": kind.sentence,
                    "hint": kind.hint,
                }
                for code, kind in problem_kinds().items()
            ]
            return document


def _document(request: Request) -> Response:
    # No method of the application: the framework caches each endpoint, and would keep the
    # application with it when all else has let go. In a thread, as it is no coroutine:
    # FastAPI's own makes the document on the event loop.
    app: DocumentedApp = request.app
    mounted_at = request.scope.get("root_path", "").rstrip("/")
    servers = {"servers": [{"url": mounted_at}]} if mounted_at else {}
    return JSONResponse(app.openapi() | servers)


def _describe(operation: dict[str, Any], *, is_required: bool) -> None:
    """Add to an operation what FastAPI does not know: the problems of every route."""
    if "security" in operation:
        operation["security"] = [
            *_alternatives(operation["security"]),
            *([] if is_required else [{}]),
        ]
    responses = operation["responses"]
    further = _OF_EVERY_BODY if "requestBody" in operation else {}
    for status, description in (_OF_EVERY_ROUTE | further).items():
        responses.setdefault(status, {"description": description})
    for status, response in responses.items():
        if status in _WAITS:
            response["headers"] = RETRY_AFTER
        if response["description"] == _UNDESCRIBED:
            response["description"] = _DONE[status]
        for media in response.get("content", {}).values():
            if media.pop("itemSchema", None) is not None:
                # A keyword of OpenAPI 3.2, which readers of 3.1 refuse.
                media["schema"] = {"type": "string"}
        if status == "422" and response["description"] == "Validation Error":
            response["description"] = _WRONG_FIELDS
        if status >= "400":
            response["content"] = {MEDIA_TYPE: {"schema": {"$ref": f"{_SCHEMAS}Problem"}}}
            response["x-problem-codes"] = [
                code for code, kind in problem_kinds().items() if str(kind.status) == status
            ]


def _alternatives(security: Iterable[dict[str, list[str]]]) -> Iterator[dict[str, list[str]]]:
    """Yield each way to be let in by itself: of scopes with `ONE_OF` between them one is enough."""
    for requirement in security:
        for name, scopes in requirement.items():
            for choice in product(*(one.split(ONE_OF) for one in scopes)):
                yield {name: list(choice)}
