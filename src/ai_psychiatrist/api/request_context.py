"""The first middleware after trusted proxies: services, ids, one log line, and no tracebacks."""

import asyncio
import time
from dataclasses import dataclass, field
from http import HTTPMethod
from typing import Final

from anyio import CancelScope
from anyio.lowlevel import checkpoint
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ai_psychiatrist.api.page_policy import forbid_to_browsers
from ai_psychiatrist.api.paths import PROBES, own_path, route_path
from ai_psychiatrist.api.problems import PROBLEM_CODE, Problem
from ai_psychiatrist.api.risk import kept_risk
from ai_psychiatrist.infrastructure.logging import get_logger, identified_request
from ai_psychiatrist.infrastructure.telemetry.watching import watched
from ai_psychiatrist.infrastructure.telemetry.work import RequestWork
from ai_psychiatrist.services.language.memory import remembering_clauses
from ai_psychiatrist.wiring import Services

logger = get_logger(__name__)

_ENCRYPTED_FOR_A_YEAR: Final = "max-age=31536000"
_METHODS: Final = frozenset(HTTPMethod)
"""A caller can send any word as a method, and a log must not repeat it."""


class ClientGone(Exception):
    """The caller closed the connection before the answer was ready."""


class RequestContext:
    """ASGI middleware: log, ids and digests of a request are those of its application."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; whatever goes wrong inside becomes a problem response."""
        if scope["type"] == "lifespan":
            # The middlewares inside of this one are for requests alone.
            await scope["app"].router(scope, receive, send)
            return
        if scope["type"] == "websocket":
            _hide_target(scope, None)
            await send({"type": "websocket.close"})
            return
        services: Services | None = scope["app"].state.services
        if services is None:
            await Problem("not_opened").response(scope)(scope, receive, send)
            return
        # One dictionary for the whole request: routes keep in it what a problem has to carry.
        scope.setdefault("state", {})
        with services.active(), identified_request() as request_id, remembering_clauses():
            method, traceparent = scope["method"], Headers(scope=scope).get("traceparent")
            work = RequestWork(
                method=method if method in _METHODS else "OTHER", traceparent=traceparent
            )
            with watched(work):
                await self._serve(request_id, work, scope, receive, send)

    async def _serve(
        self, request_id: str, work: RequestWork, scope: Scope, receive: Receive, send: Send
    ) -> None:
        path, started = own_path(scope), time.perf_counter()
        # Routes that answer GET answer HEAD.
        inner = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope
        answer = _Answer(scope=scope, inner=inner, path=path, request_id=request_id, send=send)
        try:
            with answer.head_sent:
                await self._app(inner, receive, answer)
        except ClientGone:
            answer.status = 499
        except asyncio.CancelledError:
            await answer.with_problem(Problem("stopping", more=kept_risk(scope)), receive)
            raise
        except Problem as problem:
            await answer.with_problem(problem, receive)
        except Exception as error:  # noqa: BLE001  the edge: nothing may pass it but a response
            logger.error("request_failed", error_type=type(error).__name__)
            await answer.with_problem(Problem("internal_error", more=kept_risk(scope)), receive)
        finally:
            work.route, work.status = route_path(inner, path), answer.status
            if work.status >= 500:
                work.error = str(work.status)
            is_usual = path in PROBES and work.status < 400
            (logger.debug if is_usual else logger.info)(
                "request_finished",
                method=work.method,
                route=work.route,
                status=work.status,
                code=scope["state"].get(PROBLEM_CODE),
                duration_ms=round((time.perf_counter() - started) * 1000, 3),
            )


@dataclass(slots=True, kw_only=True)
class _Answer:
    """Takes the place of `send`: adds headers, and sends no body of what is asked by HEAD."""

    scope: Scope
    inner: Scope
    """The scope that the routes see."""
    path: str
    request_id: str
    send: Send = field(repr=False)
    status: int = 0
    """0 where nothing was sent."""
    head_sent: CancelScope = field(default_factory=CancelScope)
    """Ended where an answer to HEAD would go on for long."""

    async def __call__(self, message: Message) -> None:
        is_head = self.inner is not self.scope
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["X-Request-ID"] = self.request_id
            forbid_to_browsers(headers, self.path)
            if self.scope["scheme"] == "https":
                headers["Strict-Transport-Security"] = _ENCRYPTED_FOR_A_YEAR
            _hide_target(self.scope, route_path(self.inner, self.path))
            await self.send(message)
            if is_head:
                await self.send({"type": "http.response.body", "body": b"", "more_body": False})
        elif not is_head:
            await self.send(message)
        elif message.get("more_body", False):
            self.head_sent.cancel()
            await checkpoint()

    async def with_problem(self, problem: Problem, receive: Receive) -> None:
        """Answer with a problem, unless an answer has begun."""
        if not self.status:
            await problem.response(self.inner)(self.inner, receive, self)


def _hide_target(scope: Scope, route: str | None) -> None:
    """Leave the route alone of what was asked for.

    A server's own access log reads it from here, and ids of interviews are secrets.
    """
    shown = route or "/-"
    scope.update(path=shown, raw_path=shown.encode(), query_string=b"")
