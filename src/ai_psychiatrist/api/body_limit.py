"""How large a request body may be, whether or not its length is declared, and how slow."""

import asyncio

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ai_psychiatrist.api.edge import ClientGone
from ai_psychiatrist.api.problems import slow_body, too_large


class BodyLimit:
    """ASGI middleware that reads the body first, and refuses one that is large or slow."""

    def __init__(self, app: ASGIApp, *, max_body_bytes: int, seconds: float) -> None:
        self._app = app
        self._max_body_bytes = max_body_bytes
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request whose body is within the limits."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._max_body_bytes
        is_too_large = _is_more(Headers(scope=scope).get("content-length", ""), limit)
        try:
            async with asyncio.timeout(self._seconds):
                body = None if is_too_large else await _read_body(receive, limit)
        except TimeoutError:
            await slow_body()(scope, receive, send)
            return
        if body is None:
            await too_large("The body", limit, "API_MAX_BODY_BYTES")(scope, receive, send)
        else:
            await self._app(scope, _replay(body, receive), send)


def _is_more(declared: str, limit: int) -> bool:
    """Whether a declared length, which may be anything, is a number above the limit."""
    if not (declared.isascii() and declared.isdigit()):
        return False
    digits, most = declared.lstrip("0"), str(limit)
    return (len(digits), digits) > (len(most), most)


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
