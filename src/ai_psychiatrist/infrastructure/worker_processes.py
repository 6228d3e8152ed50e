"""Work on large texts in processes of its own: the event loop goes on, and it can be stopped.

The processes are our own because those of the libraries run the main script again in each: a server
would then be built in every one of them.
"""

import asyncio
import atexit
import os
import pickle
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar, copy_context
from typing import Final, Generic, Literal, TypeAlias, TypeVar, TypeVarTuple

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

from ai_psychiatrist.infrastructure import worker
from ai_psychiatrist.infrastructure.outside_work import outside_work
from ai_psychiatrist.infrastructure.worker import LENGTH
from ai_psychiatrist.infrastructure.worker_threads import WorkTimedOut

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
_Outcome: TypeAlias = tuple[Literal[True], T] | tuple[Literal[False], Exception]

LARGE_TEXT_CHARACTERS: Final = 4_000
"""From here on a text is worked on in a process; below, all that is done with it takes 10 ms."""
MOST_SECONDS: Final = 60.0
"""Thirty times what the largest text takes."""

WORKS_IN_PLACE: Final = ContextVar("works_in_place", default=False)
"""Whether texts are worked on where they are: a command that has nothing else to do need not wait
for another interpreter."""

_PLACES: Final[RunVar[tuple[asyncio.Lock, ...]]] = RunVar("places")


class WorkerLost(Exception):
    """The process ended before its work was done, for example for want of memory."""


async def work_on_text(text: str | bytes, work: Callable[[*Ts], T], *args: *Ts) -> T:
    """Return what a function returns that works on all of a text, beside the event loop.

    `work` has to be a function of a module, and what it takes and returns picklable. Raises
    `WorkTimedOut` and `WorkerLost`.
    """
    with outside_work():
        if is_for_process(text):
            return await in_worker_process(text, work, *args)
        return await beside_the_loop(lambda: work(*args))


def is_for_process(text: str | bytes) -> bool:
    """Return whether a text is worked on in a process of its own."""
    return len(text) > LARGE_TEXT_CHARACTERS and not WORKS_IN_PLACE.get()


async def beside_the_loop(work: Callable[[], T]) -> T:
    """Return what work returns that takes the processor for some milliseconds."""
    if WORKS_IN_PLACE.get():
        return work()
    run = copy_context().run
    return await asyncio.get_running_loop().run_in_executor(_OneThread.executor, run, work)


async def in_worker_process(
    text: str | bytes, work: Callable[[*Ts], T], *args: *Ts, seconds: float = MOST_SECONDS
) -> T:
    """Return what a function returns in a process, which ends when its time is up or nobody waits.

    There are as many processes as cores, and the same text has always the same one, which then
    remembers its clauses; waiting for it does not count. Raises `WorkTimedOut` and `WorkerLost`.
    """
    places = _PLACES.get(None)
    if places is None:
        places = tuple(asyncio.Lock() for _ in _IDLE)
        _PLACES.set(places)
    place = hash(text) % len(places)
    job = _Job(_IDLE[place], work, args)
    async with places[place]:
        try:
            async with asyncio.timeout(seconds) as deadline:
                return _result_of(
                    await to_thread.run_sync(
                        job.run, abandon_on_cancel=True, limiter=CapacityLimiter(1)
                    )
                )
        except TimeoutError:
            if deadline.expired():
                raise WorkTimedOut from None
            raise
        finally:
            job.stop()


class _OneThread:
    """Threads share one interpreter: a second one would only make the event loop wait longer."""

    executor = ThreadPoolExecutor(1, thread_name_prefix="text")


class _Job(Generic[T]):
    """One call, done in a process; any thread may stop it."""

    def __init__(
        self, idle: "deque[_Process]", work: Callable[..., T], args: tuple[object, ...]
    ) -> None:
        self._idle = idle
        self._call = (work, args)
        self._lock = threading.Lock()
        self._process: _Process | None = None
        self._is_stopped = False

    def run(self) -> "_Outcome[T]":
        """Return what the call returns or raises; blocks until then."""
        request = pickle.dumps(self._call, pickle.HIGHEST_PROTOCOL)
        replies = (self._asked(process, request) for process in _processes(self._idle))
        outcome: _Outcome[T] = pickle.loads(next(filter(None, replies)))  # noqa: S301  our own
        return outcome

    def stop(self) -> None:
        """End the process if it still works on this."""
        with self._lock:
            self._is_stopped = True
            if self._process is not None:
                self._process.kill()

    def _asked(self, process: "_Process", request: bytes) -> bytes:
        """Return the reply, nothing when the process had ended for want of work."""
        with self._lock:
            self._process = process
            if self._is_stopped:
                process.kill()
        reply = process.ask(request)
        with self._lock:
            self._process = None
            if reply:
                process.is_new = False
                self._idle.append(process)
            elif process.is_new or self._is_stopped:
                raise WorkerLost
        return reply


def _result_of(outcome: "_Outcome[T]") -> T:
    if outcome[0]:
        return outcome[1]
    try:
        raise outcome[1]
    finally:
        # An error holds the frames that it went through, and what they hold: texts, and itself.
        del outcome


class _Process:
    """A process that works for this one, one call at a time."""

    def __init__(self) -> None:
        self.is_new = True
        # In a session of its own: what interrupts this one at a terminal must not interrupt it.
        self._process = subprocess.Popen(  # noqa: S603  our own program
            [sys.executable, "-m", worker.__name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def ask(self, request: bytes) -> bytes:
        """Return the reply to a request, nothing when the process ended without one."""
        requests, replies = self._process.stdin, self._process.stdout
        reply = b""
        if requests is not None and replies is not None:
            with suppress(OSError):
                requests.write(LENGTH.pack(len(request)))
                requests.write(request)
                requests.flush()
                head = replies.read(LENGTH.size)
                if len(head) == LENGTH.size:
                    reply = replies.read(*LENGTH.unpack(head))
        if not reply:
            self.end()
        return reply

    def kill(self) -> None:
        """Have the process ended; whoever waits for its reply gets none."""
        self._process.kill()

    def end(self) -> None:
        """End the process, and wait until it has."""
        self._process.kill()
        with suppress(OSError):
            self._process.communicate()


_IDLE: Final = tuple(deque[_Process]() for _ in range(os.cpu_count() or 2))
"""The processes that have nothing to do, by the place that they work at."""


def _processes(idle: deque[_Process]) -> Iterator[_Process]:
    """Yield the processes that have nothing to do, and then a new one."""
    while True:
        try:
            yield idle.pop()
        except IndexError:
            yield _Process()


@atexit.register
def end_idle_processes() -> None:
    """End the processes that have nothing to do, and with them what they remember of texts."""
    for idle in _IDLE:
        while idle:
            idle.pop().end()


def _begin_anew() -> None:
    """Leave thread and processes to the process that this one was forked from."""
    _OneThread.executor = ThreadPoolExecutor(1, thread_name_prefix="text")
    for idle in _IDLE:
        idle.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
