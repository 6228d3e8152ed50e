"""What the service promises of itself: its OpenAPI document, with every problem in it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import orjson
from fastapi import FastAPI, Request, Response

from ai_psychiatrist.api.described_doors import describe_doors
from ai_psychiatrist.api.problems import ModelProblem
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.infrastructure.worker_threads import WorkerThreads
from ai_psychiatrist.results.result import Result
from ai_psychiatrist.results.risk_result import ExaminedResult

_MEDIA_TYPE: Final = "application/problem+json"
_SCHEMAS: Final = "#/components/schemas/"
_WRITER: Final = WorkerThreads(count=1, seconds=30.0)
_OF_EVERY_ROUTE: Final = {
    "400": "The request names no host, or more than one.",
    "413": "The body is too large.",
    "421": "The service does not answer under this name.",
    "429": "A limit of the day is reached, or logins failed too often; see Retry-After.",
    "503": "The service is being stopped; see Retry-After.",
    "504": "The answer was not ready before the deadline.",
}


class InvalidField(Result):
    """A field that is not as it should be."""

    field: str
    """A field of the body or the query, `body` itself, or for what nobody asked for `unknown` in
    the body, `query` in the query."""
    type: str


class SignalPlace(Result):
    """Where a sign of danger stands in the transcript, without its words."""

    level: RiskLevel
    turn: int
    start: int
    end: int


class KnownRisk(Result):
    """Signs of danger in a transcript that was read before the problem arose."""

    level: RiskLevel
    signal_count: int
    signals: tuple[SignalPlace, ...]
    """The first of those with the highest levels."""
    examined: ExaminedResult
    """Which words were read for them."""


class Problem(Result):
    """An error as RFC 9457 has it, which may have more members; it repeats nothing of a request."""

    type: str
    title: str
    status: int
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


class DescribedApp(FastAPI):
    """An application whose OpenAPI document has the problems of every route with their schema."""

    _document: dict[str, Any] | None = None
    _written: bytes = b""
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
        if self.openapi_url is not None:
            # Before the framework's own route, which writes the document anew for each request.
            self.add_route(self.openapi_url, self._serve_document, include_in_schema=False)
        super().setup()

    async def _serve_document(self, request: Request) -> Response:
        mounted_at = request.scope.get("root_path", "")
        if not self._written:
            # Making it takes a quarter of a second.
            self._written = await _WRITER.run(lambda: self._document_at(mounted_at))
        return Response(self._written, media_type="application/json")

    def _document_at(self, mounted_at: str) -> bytes:
        servers = {"servers": [{"url": mounted_at}]} if mounted_at else {}
        return orjson.dumps(self.openapi() | servers)

    def openapi(self) -> dict[str, Any]:
        """Return the document; made once."""
        if self._document is None:
            document = super().openapi()
            describe_doors(document, is_required=self.asks_for_credentials)
            _describe_problems(document)
            self._document = document
        return self._document


def _describe_problems(document: dict[str, Any]) -> None:
    schema = Problem.model_json_schema(ref_template=_SCHEMAS + "{model}")
    document["components"]["schemas"] |= schema.pop("$defs") | {"Problem": schema}
    content = {_MEDIA_TYPE: {"schema": {"$ref": f"{_SCHEMAS}Problem"}}}
    for path in document["paths"].values():
        for operation in path.values():
            responses = operation["responses"]
            for status, description in _OF_EVERY_ROUTE.items():
                responses.setdefault(status, {"description": description})
            for status, response in responses.items():
                if status >= "400":
                    response["content"] = content
