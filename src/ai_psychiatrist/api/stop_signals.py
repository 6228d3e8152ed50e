"""On a termination signal, let running requests finish first, under any server.

Servers close their doors at once and wait for running requests, some of them for ever. Here the
signal reaches the server when nothing is under way any more: until then it goes on answering, that
it stops.
"""

import asyncio
import math
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.tasks import GracefulShutdown

logger = get_logger(__name__)

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_SPARE_SECONDS: Final = 4
"""For the server to close its connections; after them the process is ended from outside."""


@contextmanager
def stop_on_signals(stopping: GracefulShutdown, seconds: float) -> Iterator[None]:
    """Begin stopping on a termination signal, and pass the signal on at the end.

    Requests have so many seconds. A second signal ends the process at once. Outside the main
    thread, and for a signal that no server waits for, nothing is done.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    servers = {number: handler for number, handler in handlers.items() if callable(handler)}
    loop = asyncio.get_running_loop()
    handing_on: list[asyncio.Task[None]] = []

    def told(number: int, frame: FrameType | None) -> None:
        for other in servers:
            signal.signal(other, signal.SIG_DFL)
        # Ends the process even where it hangs in a place that no exception reaches.
        signal.alarm(math.ceil(seconds) + _SPARE_SECONDS)
        loop.call_soon_threadsafe(begin, signal.Signals(number), frame)

    def begin(number: signal.Signals, frame: FrameType | None) -> None:
        stopping.begin(seconds)
        handing_on.append(loop.create_task(hand_on(number, frame)))

    async def hand_on(number: signal.Signals, frame: FrameType | None) -> None:
        try:
            async with asyncio.timeout(seconds + 1):
                await stopping.until_nothing_held()
        except TimeoutError:
            logger.warning("requests_abandoned")
        servers[number](number, frame)

    for number in servers:
        signal.signal(number, told)
    try:
        yield
    finally:
        for number, handler in servers.items():
            signal.signal(number, handler)
