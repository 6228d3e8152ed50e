"""How long a request may take, and how large, slow and compressed its body may be."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from random import uniform
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ai_psychiatrist.api.answers import AnswerLimits, hold
from ai_psychiatrist.api.paths import ALWAYS_ANSWERED, own_path
from ai_psychiatrist.api.problems import Problem, too_large
from ai_psychiatrist.api.request_context import ClientGone
from ai_psychiatrist.api.risk import kept_risk
from ai_psychiatrist.api.shared_memory import SharedMemory
from ai_psychiatrist.config import ApiSettings
from ai_psychiatrist.infrastructure.json_structure import SMALL_BYTES
from ai_psychiatrist.infrastructure.tasks import GracefulShutdown

MARGIN_SECONDS: Final = 5.0
"""How much longer than its time a request may take, so that what has finished can be returned."""
MOST_BODY_BYTES: Final = "most_body_bytes"
"""Where the state of a request has a lower limit for its body."""
SMALL_PIECE: Final = 1024
"""Bytes; a body that comes in pieces below that is read more slowly."""
FREE_PIECES: Final = 64
"""As many come before it is."""
_ALL_BODIES: Final = 16
"""How many of the largest bodies may be held at once; small ones are not counted."""
_BODIES_OF_ONE: Final = 12
"""How many of them one caller may have."""
_WITHOUT_BODY: Final = frozenset({"GET", "DELETE", "OPTIONS"})
_SPREAD: Final = 0.9, 1.0
"""Of the time that a body has: hundreds who began together are not all answered in one moment."""
_GRACE_SECONDS: Final = 5.0
_GRACE_SHARE: Final = 1 / 6
"""Of that time, before a body has to come at the slowest rate; at least the seconds above."""
_SLOWEST_BYTES_PER_SECOND: Final = 16_384
_PIECE_SECONDS: Final = 0.005
_DUE: Final = "due"
_RENEWAL: Final = "renewal"
_BODY_MEMORY: Final = "body_memory"
_UNTIL_ANSWERED: Final = "until_answered"


class Limits:
    """ASGI middleware: no request outlives its time, and its body is read before it is passed on.

    An answer that comes in parts can renew its time with each of them. A server that is being
    stopped begins nothing new.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        settings: ApiSettings,
        stopping: GracefulShutdown,
        margin_seconds: float = MARGIN_SECONDS,
    ) -> None:
        self._app = app
        self._answers = AnswerLimits(wait_seconds=settings.slot_wait_seconds)
        self._settings = settings
        self._stopping = stopping
        self._margin_seconds = margin_seconds
        most = settings.max_body_bytes
        self._memory = SharedMemory(most * _ALL_BODIES, share=most * _BODIES_OF_ONE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request until its time is up; answers what of it is refused inside."""
        try:
            if own_path(scope) in ALWAYS_ANSWERED:
                await self._app(scope, receive, send)
            elif self._stopping.is_begun:
                raise Problem("stopping")
            else:
                await self._serve(scope, receive, send)
        except Problem as problem:
            await problem.response(scope)(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_answered = False

        async def observed_send(message: Message) -> None:
            nonlocal is_answered
            if not is_answered:
                is_answered = True
                await release_body_memory(scope)
            await send(message)

        due = asyncio.get_running_loop().time() + self._settings.request_timeout_seconds
        state = scope.setdefault("state", {})
        state[_DUE] = due
        try:
            async with asyncio.timeout_at(due + self._margin_seconds) as deadline:
                state[_RENEWAL] = lambda: self._renew(deadline)
                async with AsyncExitStack() as state[_UNTIL_ANSWERED]:
                    with self._stopping.holding(deadline):
                        await self._pass_on(scope, receive, observed_send)
        except TimeoutError:
            if is_answered or not deadline.expired():
                raise
            code = "stopping" if self._stopping.is_begun else "deadline_exceeded"
            raise Problem(code, more=kept_risk(scope)) from None

    def _renew(self, deadline: asyncio.Timeout) -> None:
        if not self._stopping.is_begun and not deadline.expired():
            now = asyncio.get_running_loop().time()
            deadline.reschedule(now + self._settings.request_timeout_seconds + self._margin_seconds)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with AsyncExitStack() as memory:
            scope["state"][_BODY_MEMORY] = memory
            if scope["method"] not in _WITHOUT_BODY:
                receive = replayed(await self._body(scope, receive, memory), receive)
            async with self._answers.sending(scope, receive, send) as bounded_send:
                await self._app(scope, receive, bounded_send)

    async def _body(self, scope: Scope, receive: Receive, memory: AsyncExitStack) -> list[Message]:
        """Return the whole body as one message; raises `Problem` for what is large or slow."""
        headers, seconds = Headers(scope=scope), self._settings.body_timeout_seconds
        if headers.get("content-encoding", "identity").casefold() != "identity":
            raise Problem("encoding_unsupported")
        most = self._settings.max_body_bytes
        limit = min(most, scope["state"].get(MOST_BODY_BYTES, most))
        declared = _declared(headers.get("content-length", ""), limit)
        if declared > SMALL_BYTES:
            await hold(self._memory, declared, scope, memory, seconds=seconds, code="overloaded")
        try:
            async with asyncio.timeout(None) as deadline:
                seconds *= uniform(*_SPREAD)  # noqa: S311  no secret
                body = (
                    None
                    if declared > limit
                    else await _read_body(receive, limit, deadline, seconds)
                )
        except TimeoutError:
            raise Problem("slow_body") from None
        if body is None:
            raise too_large("The body", limit, "API_MAX_BODY_BYTES")
        return [{"type": "http.request", "body": body, "more_body": False}]


def renew_deadline(scope: Scope) -> None:
    """Give a request its whole time again: for an answer that is sent as long as there is more."""
    renewal: Callable[[], None] = scope["state"][_RENEWAL]
    renewal()


def seconds_left(scope: Scope) -> float:
    """Return how much of the time of a request is left; it began with the request's arrival."""
    due: float = scope["state"][_DUE]
    return max(0.0, due - asyncio.get_running_loop().time())


async def hold_slot(scope: Scope) -> None:
    """Hold one of the slots for assessments until the answer of a request is sent.

    Raises `Problem` where none is free for the time that a request waits for one.
    """
    slots: SharedMemory = scope["app"].state.slots
    until_answered: AsyncExitStack = scope["state"][_UNTIL_ANSWERED]
    await hold(slots, 1, scope, until_answered, seconds=_wait_seconds(scope))


@asynccontextmanager
async def holding_text(scope: Scope, characters: int) -> AsyncIterator[None]:
    """Count a text against the memory of all texts inside the block.

    Raises `Problem` where there is no room for it for the time that a request waits for its turn.
    """
    memory: SharedMemory = scope["app"].state.text_memory
    async with AsyncExitStack() as held:
        await hold(memory, characters, scope, held, seconds=_wait_seconds(scope), code="overloaded")
        yield


def _wait_seconds(scope: Scope) -> float:
    settings: ApiSettings = scope["app"].state.services.settings.api
    return settings.slot_wait_seconds


async def release_body_memory(scope: Scope) -> None:
    """Let others hold what a request held for its body and what was read from it.

    It does so by itself when it is answered.
    """
    memory = scope.get("state", {}).get(_BODY_MEMORY)
    if isinstance(memory, AsyncExitStack):
        await memory.aclose()


def replayed(pending: list[Message], receive: Receive) -> Receive:
    """Hand out messages that were received already, which are dropped then, and what comes after.

    `pending`: emptied, so that nothing else holds a body.
    """

    async def again() -> Message:
        return pending.pop() if pending else await receive()

    return again


def _declared(length: str, limit: int) -> int:
    """Return the declared length, which may be anything, up to one more than the limit.

    Without one that is a number it may be as long as the limit.
    """
    if not (length.isascii() and length.isdigit()):
        return limit
    digits = length.lstrip("0") or "0"
    return limit + 1 if len(digits) > len(str(limit)) else min(int(digits), limit + 1)


async def _read_body(
    receive: Receive, limit: int, deadline: asyncio.Timeout, seconds: float
) -> bytes | None:
    """Read the whole body, or return `None` once it is larger than the limit.

    Its deadline moves on with what has come of it, up to a last one in so many seconds.
    """
    begun = asyncio.get_running_loop().time()
    grace_ends = begun + max(_GRACE_SECONDS, seconds * _GRACE_SHARE)
    parts, size = [], 0
    while True:
        if not deadline.expired():
            earned = grace_ends + size / _SLOWEST_BYTES_PER_SECOND
            deadline.reschedule(min(begun + seconds, earned))
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > limit:
            return None
        if not message.get("more_body", False):
            return b"".join(parts)
        if len(parts) > FREE_PIECES and len(parts[-1]) < SMALL_PIECE:
            # Small pieces are gathered: a byte at a time would keep the loop busy for one caller.
            await asyncio.sleep(_PIECE_SECONDS)
