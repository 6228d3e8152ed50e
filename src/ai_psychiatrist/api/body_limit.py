"""How large a request body may be, whether or not its length is declared, and how slow."""

import asyncio
from contextlib import AsyncExitStack
from random import uniform
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ai_psychiatrist.api.edge import ClientGone
from ai_psychiatrist.api.problems import overloaded, slow_body, too_large
from ai_psychiatrist.api.shared_room import SharedRoom
from ai_psychiatrist.infrastructure.json_structure import SMALL_BYTES

_ALL_BODIES: Final = 16
"""How many of the largest bodies may be held at once; small ones are not counted."""
_WITHOUT_BODY: Final = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})
_BODY_ROOM: Final = "body_room"
MOST_BODY_BYTES: Final = "most_body_bytes"
"""Where the state of a request has a lower limit for its body."""
_SPREAD: Final = 0.9, 1.0
"""Of the time that a body has: hundreds who began together are not all told in one moment."""


class BodyLimit:
    """ASGI middleware that reads the body first, and refuses one that is large or slow."""

    def __init__(self, app: ASGIApp, *, max_body_bytes: int, seconds: float) -> None:
        self._app = app
        self._max_body_bytes = max_body_bytes
        self._seconds = seconds
        self._room = SharedRoom(max_body_bytes * _ALL_BODIES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request whose body is within the limits."""
        if scope["type"] != "http" or scope["method"] in _WITHOUT_BODY:
            await self._app(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        limit = min(self._max_body_bytes, state.get(MOST_BODY_BYTES, self._max_body_bytes))
        declared = _declared(Headers(scope=scope).get("content-length", ""), limit)
        async with AsyncExitStack() as room:
            try:
                if declared > SMALL_BYTES:
                    async with asyncio.timeout(self._seconds):
                        await room.enter_async_context(self._room.hold(declared))
            except TimeoutError:
                await overloaded({})(scope, receive, send)
                return
            try:
                seconds = self._seconds * uniform(*_SPREAD)  # noqa: S311  no secret
                async with asyncio.timeout(seconds) as deadline:
                    with self._room.may_be_hurried(deadline):
                        body = None if declared > limit else await _read_body(receive, limit)
            except TimeoutError:
                await slow_body()(scope, receive, send)
                return
            if body is None:
                await too_large("The body", limit, "API_MAX_BODY_BYTES")(scope, receive, send)
                return
            state[_BODY_ROOM] = room
            replayed = _replay(body, receive)
            # What was made of it lives on; the body itself would for as long as this waits.
            del body
            await self._app(scope, replayed, send)


async def give_body_room_back(scope: Scope) -> None:
    """Let others hold what a request held for its body, which nobody needs any more."""
    room = scope.get("state", {}).get(_BODY_ROOM)
    if isinstance(room, AsyncExitStack):
        await room.aclose()


def _declared(length: str, limit: int) -> int:
    """Return the declared length, which may be anything, up to one more than the limit.

    Without one that is a number it may be as long as the limit.
    """
    if not (length.isascii() and length.isdigit()):
        return limit
    digits = length.lstrip("0") or "0"
    return limit + 1 if len(digits) > len(str(limit)) else min(int(digits), limit + 1)


async def _read_body(receive: Receive, limit: int) -> bytes | None:
    """Read the whole body, or return `None` once it is larger than the limit."""
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > limit:
            return None
        if not message.get("more_body", False):
            return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Hand out a body that was read already, and then what else comes."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return pending.pop() if pending else await receive()

    return replayed
