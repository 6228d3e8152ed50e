"""Answers leave in parts, and only so many are made and held for callers who read slowly."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from ai_psychiatrist.api.authorization import caller_of
from ai_psychiatrist.api.paths import STATUS, own_path
from ai_psychiatrist.api.problems import Problem
from ai_psychiatrist.api.shared_memory import SharedMemory

PART_BYTES: Final = 65_536
"""No more of an answer is handed to the server before the caller has read what came before."""
_MADE: Final = 6
"""Answers to GET that are made at once, or wait for memory."""
_MADE_FOR_ONE: Final = 4
_HELD_BYTES: Final = 64 * 2**20
"""Of answers to GET that are sent."""
_HELD_FOR_ONE: Final = 48 * 2**20
_STREAM_BYTES: Final = 8 * 2**20
"""What counts for an answer of unknown length, which is made as it is read."""
_EVENTS: Final = "text/event-stream"


class AnswerLimits:
    """One caller who does not read leaves the others room for their answers.

    An answer to another method than GET is not held back here: it may have been paid for, and its
    request has a slot until all of it is sent.
    """

    def __init__(self, *, wait_seconds: float) -> None:
        """`wait_seconds`: how long a request waits for a slot or memory before it is refused."""
        self._wait_seconds = wait_seconds
        self._slots = SharedMemory(_MADE, share=_MADE_FOR_ONE)
        self._memory = SharedMemory(_HELD_BYTES, share=_HELD_FOR_ONE)

    @asynccontextmanager
    async def sending(self, scope: Scope, receive: Receive, send: Send) -> AsyncIterator[Send]:
        """Yield what takes the place of `send`; raises `Problem` where no slot is found in time."""
        is_bounded = scope["method"] == "GET" and own_path(scope) not in STATUS
        is_over = False
        async with AsyncExitStack() as memory, AsyncExitStack() as slot:

            async def bounded_send(message: Message) -> None:
                nonlocal is_over
                if is_bounded and message["type"] == "http.response.start":
                    size = _held_bytes(Headers(raw=message["headers"]))
                    try:
                        await hold(self._memory, size, scope, memory, seconds=self._wait_seconds)
                    except Problem as problem:
                        # It is answered in place of what still comes.
                        is_over = True
                        await problem.response(scope)(scope, receive, send)
                    finally:
                        await slot.aclose()
                if not is_over:
                    await _send_in_parts(message, send)

            if is_bounded:
                await hold(self._slots, 1, scope, slot, seconds=self._wait_seconds)
            yield bounded_send


async def hold(
    shared: SharedMemory,
    part: int,
    scope: Scope,
    until: AsyncExitStack,
    *,
    seconds: float,
    code: str = "busy",
) -> None:
    """Hold a part until a stack is closed; raises `Problem` where none is free for so long."""
    if not part:
        return
    try:
        async with asyncio.timeout(seconds):
            await until.enter_async_context(shared.hold(part, caller_of(scope)))
    except TimeoutError:
        raise Problem(code) from None


async def _send_in_parts(message: Message, send: Send) -> None:
    body = message.get("body", b"")
    if len(body) <= PART_BYTES:
        await send(message)
        return
    for start in range(0, len(body), PART_BYTES):
        is_last = start + PART_BYTES >= len(body)
        part = {
            **message,
            "body": body[start : start + PART_BYTES],
            "more_body": not is_last or message.get("more_body", False),
        }
        await send(part)
        # The server learns here that a connection was ended, and writes nothing further to it.
        await asyncio.sleep(0)


def _held_bytes(headers: Headers) -> int:
    """Return what an answer counts for; a small one is sent at once, and events are small."""
    length = headers.get("content-length")
    if length is not None:
        return int(length) if int(length) > PART_BYTES else 0
    return 0 if headers.get("content-type", "").startswith(_EVENTS) else _STREAM_BYTES
