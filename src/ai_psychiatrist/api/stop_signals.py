"""A process that is told to end first ends what is under way, whichever server runs the app.

Servers close their doors at once and wait for running requests, some of them for ever. Here the
signal reaches the server when nothing is under way any more: until then it goes on answering, that
it stops.
"""

import asyncio
import math
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final, TypeAlias

from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.stopping import Stopping

logger = get_logger(__name__)

_Handler: TypeAlias = Callable[[int, FrameType | None], object]

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_SPARE_SECONDS: Final = 4
"""For the server to close its connections; after them the process is ended from outside."""


@contextmanager
def stop_on_signals(stopping: Stopping, seconds: float) -> Iterator[None]:
    """Begin stopping when the server's process is told to end, and hand the signal on at the end.

    Requests have so many seconds. A second signal ends the process at once. Outside the main
    thread, and for a signal that no server waits for, nothing is done.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    servers = {number: handler for number, handler in handlers.items() if callable(handler)}
    told = _OnSignal(stopping, seconds, servers)
    for number in servers:
        signal.signal(number, told)
    try:
        yield
    finally:
        for number, handler in servers.items():
            signal.signal(number, handler)


class _OnSignal:
    """What is done when a signal comes."""

    def __init__(
        self, stopping: Stopping, seconds: float, servers: dict[signal.Signals, _Handler]
    ) -> None:
        self._stopping = stopping
        self._seconds = seconds
        self._servers = servers
        self._loop = asyncio.get_running_loop()
        self._handing_on: asyncio.Task[None] | None = None

    def __call__(self, number: int, frame: FrameType | None) -> None:
        for other in self._servers:
            signal.signal(other, signal.SIG_DFL)
        # Ends the process even where it hangs in a place that no exception reaches.
        signal.alarm(math.ceil(self._seconds) + _SPARE_SECONDS)
        self._loop.call_soon_threadsafe(self._begin, signal.Signals(number), frame)

    def _begin(self, number: signal.Signals, frame: FrameType | None) -> None:
        self._stopping.begin(self._seconds)
        self._handing_on = self._loop.create_task(self._hand_on(number, frame))

    async def _hand_on(self, number: signal.Signals, frame: FrameType | None) -> None:
        try:
            async with asyncio.timeout(self._seconds + 1):
                await self._stopping.until_nothing_held()
        except TimeoutError:
            logger.warning("requests_abandoned")
        self._servers[number](number, frame)
