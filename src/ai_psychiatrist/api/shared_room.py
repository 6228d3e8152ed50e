"""Memory that requests share: who finds no room waits for its turn."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

_HURRIED_SECONDS: Final = 5.0
"""How long somebody may take whom others wait for."""


class SharedRoom:
    """So many bytes or characters, held by requests in the order in which they ask."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._free = size
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()
        self._slow: dict[asyncio.Timeout, float] = {}

    @asynccontextmanager
    async def hold(self, wanted: int) -> AsyncIterator[None]:
        """Hold a part inside the block, and wait for it before; nobody holds more than all."""
        part = min(wanted, self._size)
        if self._waiting or part > self._free:
            await self._turn(part)
        else:
            self._free -= part
        try:
            yield
        finally:
            self._free += part
            self._let_in()

    @contextmanager
    def may_be_hurried(self, deadline: asyncio.Timeout) -> Iterator[None]:
        """Let a deadline inside the block be moved up when others wait for what is held."""
        self._slow[deadline] = asyncio.get_running_loop().time()
        if self._waiting:
            self._hurry()
        try:
            yield
        finally:
            del self._slow[deadline]

    async def _turn(self, part: int) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((part, turn))
        self._hurry()
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self._free += part
            self._let_in()
            raise

    def _let_in(self) -> None:
        while self._waiting:
            part, turn = self._waiting[0]
            if not turn.cancelled():
                if part > self._free:
                    return
                self._free -= part
                turn.set_result(None)
            self._waiting.popleft()

    def _hurry(self) -> None:
        for deadline, since in self._slow.items():
            latest, planned = since + _HURRIED_SECONDS, deadline.when()
            if not deadline.expired() and planned is not None and planned > latest:
                deadline.reschedule(latest)
