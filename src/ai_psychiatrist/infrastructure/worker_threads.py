"""A few threads for one kind of blocking work, so that it can hold up no other kind."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from typing import TypeVar

from anyio.lowlevel import RunVar

from ai_psychiatrist.infrastructure.outside_work import outside_work

T = TypeVar("T")


class WorkTimedOut(TimeoutError):
    """The work was not done within its time."""


class WorkerThreads:
    """Runs blocking calls, so many at a time, each with a time limit that counts its wait.

    A call that hangs keeps its place until it returns. The process can end without it, which the
    threads of the libraries do not allow. One that still waits for its place when its time is up
    never begins.
    """

    def __init__(self, *, count: int, seconds: float) -> None:
        self._count = count
        self._seconds = seconds
        # One for each event loop, to which it belongs.
        self._places: RunVar[asyncio.Semaphore] = RunVar("places")

    async def run(self, work: Callable[[], T]) -> T:
        """Return what the work returns; raises `WorkTimedOut` when its time is up."""
        places = self._places.get(None)
        if places is None:
            places = asyncio.Semaphore(self._count)
            self._places.set(places)
        try:
            async with asyncio.timeout(self._seconds) as deadline:
                with outside_work():
                    await places.acquire()
                    ended = asyncio.wrap_future(_begun(work))
                    ended.add_done_callback(lambda _: places.release())
                    return await asyncio.shield(ended)
        except TimeoutError:
            if deadline.expired():
                raise WorkTimedOut from None
            raise


def _begun(work: Callable[[], T]) -> Future[T]:
    """Begin a call in a thread of its own."""
    outcome: Future[T] = Future()
    outcome.set_running_or_notify_cancel()
    context = copy_context()

    def run() -> None:
        try:
            outcome.set_result(context.run(work))
        except BaseException as error:  # noqa: BLE001  whoever waits for it raises it
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return outcome
