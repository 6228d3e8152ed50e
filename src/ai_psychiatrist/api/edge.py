"""The outermost layer: request ids, one log line per request, size limits, and no tracebacks."""

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import TypeVar

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ai_psychiatrist.api.problems import problem, too_large
from ai_psychiatrist.infrastructure.logging import get_logger

logger = get_logger(__name__)

T = TypeVar("T")


class ClientGone(Exception):
    """The caller closed the connection before the answer was ready."""


class Edge:
    """ASGI middleware around everything else."""

    def __init__(self, app: ASGIApp, *, max_body_bytes: int) -> None:
        self._app = app
        self._max_body_bytes = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; whatever goes wrong inside becomes a problem response."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = str(uuid.uuid4())
        started = time.perf_counter()
        status = 0

        async def observed_send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-ID"] = request_id
            await send(message)

        try:
            await self._serve(scope, receive, observed_send)
        except ClientGone:
            status = 499
        except Exception as error:  # noqa: BLE001  the edge: nothing may pass it but a response
            logger.error("request_failed", request_id=request_id, error_type=type(error).__name__)
            if not status:
                response = problem(500, "internal_error", "This is a defect of the service.")
                await response(scope, receive, observed_send)
        finally:
            route = scope.get("route")
            logger.info(
                "request_finished",
                request_id=request_id,
                method=scope["method"],
                route=getattr(route, "path", None),
                status=status,
                duration_ms=round((time.perf_counter() - started) * 1000, 3),
            )

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        limit = self._max_body_bytes
        refusal = too_large("The body", limit, "API_MAX_BODY_BYTES")
        declared = Headers(scope=scope).get("content-length", "0")
        if declared.isdigit() and int(declared) > limit:
            await refusal(scope, receive, send)
            return
        body = await _read_body(receive, limit)
        if body is None:
            await refusal(scope, receive, send)
            return
        await self._app(scope, _replay(body, receive), send)


async def _read_body(receive: Receive, limit: int) -> bytes | None:
    """Read the whole body, or return `None` once it is larger than the limit."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        body += message.get("body", b"")
        if len(body) > limit:
            return None
        if not message.get("more_body", False):
            return bytes(body)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Hand out a body that was read already, and then what else comes."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return pending.pop() if pending else await receive()

    return replayed


async def while_connected(request: Request, work: Callable[[], Awaitable[T]]) -> T:
    """Return what the work returns; cancels it and raises `ClientGone` when the caller leaves."""
    task = asyncio.ensure_future(work())
    watcher = asyncio.create_task(_disconnected(request))
    try:
        await asyncio.wait({task, watcher}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientGone
        return task.result()
    finally:
        for one in (task, watcher):
            one.cancel()
        await asyncio.gather(task, watcher, return_exceptions=True)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
