"""A few threads for one kind of blocking work, so that it can hold up no other kind."""

import asyncio
import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial
from queue import SimpleQueue
from typing import Final, TypeVar

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
                    ended.add_done_callback(partial(_ended, places))
                    return await asyncio.shield(ended)
        except TimeoutError:
            if deadline.expired():
                raise WorkTimedOut from None
            raise


def _ended(places: asyncio.Semaphore, ended: asyncio.Future[T]) -> None:
    places.release()
    if not ended.cancelled():
        # Where nobody waits for it any more, the event loop would print what the work raised.
        ended.exception()


def _begun(work: Callable[[], T]) -> Future[T]:
    """Begin a call in a thread that has nothing else to do."""
    outcome: Future[T] = Future()
    outcome.set_running_or_notify_cancel()
    context = copy_context()

    def run(free: Callable[[], None]) -> None:
        try:
            found = context.run(work)
        except BaseException as error:  # noqa: BLE001  whoever waits for it raises it
            free()
            outcome.set_exception(error)
        else:
            free()
            outcome.set_result(found)

    try:
        _free_thread().begin(run)
    except RuntimeError as error:
        # The system has no room for another thread.
        outcome.set_exception(error)
    return outcome


def _free_thread() -> "_Thread":
    try:
        return _IDLE.pop()
    except IndexError:
        return _Thread()


class _Thread:
    """Does one call after the other; to start a thread for each would hold up the event loop.

    It ends with the process, which does not wait for it.
    """

    def __init__(self) -> None:
        self._calls: SimpleQueue[Callable[[Callable[[], None]], None]] = SimpleQueue()
        threading.Thread(target=self._run, daemon=True).start()

    def begin(self, call: Callable[[Callable[[], None]], None]) -> None:
        """Do a call, which says when it is done and the thread is free for the next."""
        self._calls.put(call)

    def _run(self) -> None:
        while True:
            self._calls.get()(self._free)

    def _free(self) -> None:
        _IDLE.append(self)


_IDLE: Final[deque[_Thread]] = deque()
"""As many as were ever at work at once; the one that was free last comes first."""

if hasattr(os, "register_at_fork"):
    # No thread lives on in a process that is forked.
    os.register_at_fork(after_in_child=_IDLE.clear)
