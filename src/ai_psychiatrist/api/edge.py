"""The outermost layer: request ids, one log line per request, and no tracebacks."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from http import HTTPMethod
from typing import Final, TypeVar

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ai_psychiatrist.api.own_path import own_path, route_path
from ai_psychiatrist.api.page_policy import forbid_to_browsers
from ai_psychiatrist.api.problems import problem, stopping
from ai_psychiatrist.api.risk import kept_risk
from ai_psychiatrist.infrastructure.log_ids import identified_request
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.telemetry.watching import watched
from ai_psychiatrist.infrastructure.telemetry.work import RequestWork
from ai_psychiatrist.services.risk.clause_memory import remembering_clauses

logger = get_logger(__name__)

T = TypeVar("T")

_ENCRYPTED_FOR_A_YEAR: Final = "max-age=31536000"
_METHODS: Final = frozenset(HTTPMethod)
"""A caller can send any word as a method, and a log must not repeat it."""


class ClientGone(Exception):
    """The caller closed the connection before the answer was ready."""


class Edge:
    """ASGI middleware around everything else."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; whatever goes wrong inside becomes a problem response."""
        if scope["type"] == "websocket":
            _hide_target(scope, own_path(scope))
            await send({"type": "websocket.close"})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # One dictionary for the whole request: routes keep in it what a problem has to carry.
        scope.setdefault("state", {})
        with identified_request() as request_id, remembering_clauses():
            method, traceparent = scope["method"], Headers(scope=scope).get("traceparent")
            work = RequestWork(
                method=method if method in _METHODS else "OTHER", traceparent=traceparent
            )
            with watched(work):
                await self._serve(request_id, work, scope, receive, send)

    async def _serve(
        self, request_id: str, work: RequestWork, scope: Scope, receive: Receive, send: Send
    ) -> None:
        path = own_path(scope)
        started, status = time.perf_counter(), 0

        async def observed_send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-ID"] = request_id
                forbid_to_browsers(headers, path)
                if scope["scheme"] == "https":
                    headers["Strict-Transport-Security"] = _ENCRYPTED_FOR_A_YEAR
                _hide_target(scope, path)
            await send(message)

        try:
            await self._app(scope, receive, observed_send)
        except ClientGone:
            status = 499
        except asyncio.CancelledError:
            if not status:
                await stopping(kept_risk(scope))(scope, receive, observed_send)
            raise
        except Exception as error:  # noqa: BLE001  the edge: nothing may pass it but a response
            logger.error("request_failed", error_type=type(error).__name__)
            if not status:
                detail = "This is a defect of the service."
                response = problem(500, "internal_error", detail, more=kept_risk(scope))
                await response(scope, receive, observed_send)
        finally:
            work.route, work.status = route_path(scope, path), status
            if status >= 500:
                work.error = str(status)
            logger.info(
                "request_finished",
                method=work.method,
                route=work.route,
                status=status,
                duration_ms=round((time.perf_counter() - started) * 1000, 3),
            )


def _hide_target(scope: Scope, path: str) -> None:
    """Leave the route alone of what was asked for.

    A server's own access log reads it from here, and ids of interviews are secrets.
    """
    route = route_path(scope, path) or "/-"
    scope.update(path=route, raw_path=route.encode(), query_string=b"")


async def while_connected(request: Request, work: Callable[[], Awaitable[T]]) -> T:
    """Return what the work returns; cancels it and raises `ClientGone` when the caller leaves.

    The work is done in the caller's own task, so that the ids it gives stay with the request.
    """
    try:
        async with asyncio.timeout(None) as connection:
            watcher = asyncio.create_task(_end_with(connection, request))
            try:
                return await work()
            finally:
                watcher.cancel()
                await asyncio.gather(watcher, return_exceptions=True)
    except TimeoutError:
        if connection.expired():
            raise ClientGone from None
        raise


async def _end_with(connection: asyncio.Timeout, request: Request) -> None:
    await _disconnected(request)
    connection.reschedule(asyncio.get_running_loop().time())


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
