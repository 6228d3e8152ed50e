"""What the service promises of itself: its OpenAPI document, with every problem in it."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any, Final

import orjson
from fastapi import FastAPI, Request, Response

from ai_psychiatrist.api.described_doors import describe_doors
from ai_psychiatrist.api.problem_kinds import PROBLEM_TYPE, kinds_of, problem_kinds
from ai_psychiatrist.api.problems import ModelProblem
from ai_psychiatrist.api.reference.field_examples import FieldExamples
from ai_psychiatrist.api.reference.page import reference_page, reference_style
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.infrastructure.worker_threads import WorkerThreads
from ai_psychiatrist.results.result import Result
from ai_psychiatrist.results.risk_result import ExaminedResult

_UNDESCRIBED: Final = "Successful Response"
_OF_THE_FRAMEWORK: Final = "HTTPValidationError", "ValidationError"
"""Schemas of errors that are problems here."""
_MEDIA_TYPE: Final = "application/problem+json"
_SCHEMAS: Final = "#/components/schemas/"
_WRITER: Final = WorkerThreads(count=1, seconds=30.0)
TAGS: Final = {
    "assessment": "A transcript in, an assessment out.",
    "stored assessments": "Assess and keep, list, read and erase.",
    "jobs": "How far assessments are that outlive their request; many at once; end them.",
    "reviews": "Rate a stored assessment, blind until your ratings are committed.",
    "session": "Log in and out with a key; for pages.",
    "interviews": "Ask a person what is still unknown, one question after another.",
    "status": "How the service is; for whoever watches over it.",
}
"""What the groups of routes are for."""
_DONE: Final = {
    "200": "What was asked for.",
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
    "429": "A limit of the day is reached, or logins failed too often; see Retry-After.",
    "503": "The service is being stopped; see Retry-After.",
    "504": "The answer was not ready before the deadline.",
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
    examined: ExaminedResult
    """Which words were read for them."""


class Problem(Result):
    """An error as RFC 9457 has it, which may have more members; it repeats nothing of a request."""

    type: str
    """`urn:ai-psychiatrist:problem:` and the code."""
    title: str
    """What the status means."""
    status: int
    """The status of the answer."""
    code: str
    """What programs branch on."""
    detail: str
    """What is wrong and what to do."""
    field: str = ""
    """The field at fault, where there is one."""
    errors: tuple[InvalidField, ...] = ()
    """At most 20 fields at fault."""
    more_errors: int = 0
    """How many there are beside those that are listed."""
    causes: tuple[ModelProblem, ...] = ()
    """The models that would not answer."""
    labels: tuple[str, ...] = ()
    """Labels of the speakers in the transcript that was sent, for a choice of the participant."""
    risk: KnownRisk | None = None
    """Signs of danger in a transcript that was read; null where none was."""


class DescribedApp(FastAPI):
    """An application whose OpenAPI document has the problems of every route with their schema."""

    _document: dict[str, Any] | None = None
    _written: dict[str, bytes]
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
        """Serve the document and its pages, unless they are left out."""
        self._written = {}
        if self.openapi_url is not None:
            # Before the framework's own route, which writes the document anew for each request.
            self.add_route(self.openapi_url, self._serve_document, include_in_schema=False)
            self.add_route("/docs", self._serve_page, include_in_schema=False)
            self.add_route("/docs/style.css", self._serve_style, include_in_schema=False)
        super().setup()

    async def _serve_document(self, request: Request) -> Response:
        return await self._written_once(request, "application/json", orjson.dumps)

    async def _serve_page(self, request: Request) -> Response:
        return await self._written_once(request, "text/html", reference_page)

    async def _serve_style(self, request: Request) -> Response:
        return await self._written_once(request, "text/css", reference_style)

    async def _written_once(
        self, request: Request, media_type: str, write: Callable[[dict[str, Any]], bytes]
    ) -> Response:
        mounted_at = request.scope.get("root_path", "")
        if media_type not in self._written:
            # Making the document takes a quarter of a second, and the page of it as long.
            made = await _WRITER.run(lambda: write(self._document_at(mounted_at)))
            self._written[media_type] = made
        return Response(self._written[media_type], media_type=media_type)

    def _document_at(self, mounted_at: str) -> dict[str, Any]:
        servers = {"servers": [{"url": mounted_at}]} if mounted_at else {}
        return self.openapi() | servers

    def openapi(self) -> dict[str, Any]:
        """Return the document; made once."""
        if self._document is None:
            document = super().openapi()
            describe_doors(document, is_required=self.asks_for_credentials)
            _describe_problems(document)
            FieldExamples(document["components"]["schemas"]).add()
            document["tags"] = [{"name": name, "description": said} for name, said in TAGS.items()]
            self._document = document
        return self._document


def _describe_problems(document: dict[str, Any]) -> None:
    schema = Problem.model_json_schema(ref_template=_SCHEMAS + "{model}")
    schemas = document["components"]["schemas"]
    schemas |= schema.pop("$defs") | {"Problem": schema}
    for name in _OF_THE_FRAMEWORK:
        schemas.pop(name, None)
    document["x-problems"] = [
        {"type": PROBLEM_TYPE + kind.code, **asdict(kind)} for kind in problem_kinds()
    ]
    content = {_MEDIA_TYPE: {"schema": {"$ref": f"{_SCHEMAS}Problem"}}}
    for path in document["paths"].values():
        for operation in path.values():
            responses = operation["responses"]
            for status, description in _OF_EVERY_ROUTE.items():
                responses.setdefault(status, {"description": description})
            for status, response in responses.items():
                if response["description"] == _UNDESCRIBED:
                    response["description"] = _DONE[status]
                if status == "422" and response["description"] == "Validation Error":
                    response["description"] = _WRONG_FIELDS
                if status >= "400":
                    response["content"] = content
                    codes = dict.fromkeys(kind.code for kind in kinds_of(status))
                    response["x-problem-codes"] = [*codes]
