"""The time of a turn, which stands still while a call of it waits for its turn at the backend."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace

from ai_psychiatrist.llm.calls import CallRecorder


class TurnClock:
    """Sets a running time-out aside and takes it up again; for one event loop."""

    def __init__(self, timeout: asyncio.Timeout) -> None:
        """`timeout`: entered, and with an end."""
        self._timeout = timeout
        self._waiting = 0
        self._left = 0.0

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop counting inside the block; any number of blocks may overlap."""
        now = asyncio.get_running_loop().time
        self._waiting += 1
        if self._waiting == 1 and not self._timeout.expired():
            self._left = (self._timeout.when() or now()) - now()
            self._timeout.reschedule(None)
        try:
            yield
        finally:
            self._waiting -= 1
            if self._waiting == 0 and not self._timeout.expired():
                self._timeout.reschedule(now() + self._left)


@asynccontextmanager
async def timed(calls: CallRecorder, seconds: float) -> AsyncIterator[CallRecorder]:
    """Give the log for calls of a turn that may take so long; raises `TimeoutError`."""
    async with asyncio.timeout(seconds) as timeout:
        yield replace(calls, paused=TurnClock(timeout).paused)
