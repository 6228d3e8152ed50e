"""Work that would hold up the event loop: blocking calls in threads, long texts in processes.

The threads and processes are our own for two promises that those of anyio do not keep: a program
ends although a thread hangs, and a process does not run the main script of its parent again, which
would build a server, or repeat a study, in each of them.
"""

import asyncio
import atexit
import os
import pickle
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from contextvars import Context, copy_context
from dataclasses import replace
from functools import partial
from queue import SimpleQueue
from typing import Final, Literal, TypeAlias, TypeVar, TypeVarTuple

from anyio.lowlevel import RunVar

from ai_psychiatrist.infrastructure import text_process
from ai_psychiatrist.infrastructure.runtime import current_runtime, use_runtime

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
_Outcome: TypeAlias = tuple[Literal[True], T] | tuple[Literal[False], Exception]

LARGE_TEXT_CHARACTERS: Final = 4_000
"""From here on a text is worked on in a process; below, all that is done with it takes 10 ms."""
MOST_SECONDS: Final = 60.0
"""Thirty times what the largest text takes."""


class WorkTimedOut(TimeoutError):
    """The work was not done within its time."""


class WorkerLost(Exception):
    """The process ended before its work was done, for example for want of memory."""


class WorkerThreads:
    """Runs blocking calls of one kind, so that they can hold up no other kind.

    At most `count` run at a time, each within `seconds`, its wait included; `None`: without end.
    A call that hangs keeps its slot until it returns; one that waits for a slot when its time is
    up never begins.
    """

    def __init__(self, *, count: int, seconds: float | None) -> None:
        self._count = count
        self._seconds = seconds
        self._slots: RunVar[asyncio.Semaphore] = RunVar("slots")

    async def run(self, work: Callable[[], T]) -> T:
        """Return what the work returns; raises `WorkTimedOut` when its time is up."""
        slots = _of_loop(self._slots, lambda: asyncio.Semaphore(self._count))
        try:
            async with asyncio.timeout(self._seconds) as deadline:
                await slots.acquire()
                return await _result(_begun(work), lambda _: slots.release())
        except TimeoutError:
            if deadline.expired():
                raise WorkTimedOut from None
            raise


_TEXT_THREAD: Final = WorkerThreads(count=1, seconds=None)
"""One: threads share an interpreter, and a second would only make the event loop wait longer."""


async def work_on_text(text: str | bytes, work: Callable[[*Ts], T], *args: *Ts) -> T:
    """Return what a function returns that reads all of a text, without holding up the event loop.

    `work` has to be a function of a module, and what it takes and returns picklable. Raises
    `WorkTimedOut` and `WorkerLost`.
    """
    if is_for_process(text):
        return await run_in_process(text, work, *args)
    return await run_in_thread(lambda: work(*args))


def work_inline() -> None:
    """Work on texts in the event loop from now on: a command has nothing else to do meanwhile."""
    use_runtime(replace(current_runtime(), works_inline=True))


def is_for_process(text: str | bytes) -> bool:
    """Return whether a text is worked on in a process of its own."""
    return len(text) > LARGE_TEXT_CHARACTERS and not current_runtime().works_inline


async def run_in_thread(work: Callable[[], T]) -> T:
    """Return what work returns that takes the processor for some milliseconds."""
    if current_runtime().works_inline:
        return work()
    return await _TEXT_THREAD.run(work)


async def run_in_process(
    text: str | bytes, work: Callable[[*Ts], T], *args: *Ts, seconds: float = MOST_SECONDS
) -> T:
    """Return what a function returns in a process, which is ended with its time or its caller.

    There are as many processes as cores, and the same text has always the same one, which then
    remembers its clauses; waiting for it does not count. Raises `WorkTimedOut` and `WorkerLost`.
    """
    slots = _of_loop(_SLOTS, lambda: tuple(asyncio.Lock() for _ in _IDLE_PROCESSES))
    slot = hash(text) % len(slots)
    async with slots[slot]:
        try:
            async with asyncio.timeout(seconds) as deadline:
                return _returned(await _asked(_IDLE_PROCESSES[slot], (work, args)))
        except TimeoutError:
            if deadline.expired():
                raise WorkTimedOut from None
            raise


_Done: TypeAlias = Callable[[], None]
"""Tells how a call ended."""
_IDLE_THREADS: Final[deque[SimpleQueue[Callable[[], _Done]]]] = deque()
"""By their queues: as many as were ever at work at once; the one that was idle last comes first."""


def _begun(work: Callable[[], T]) -> Future[T]:
    """Begin a call in an idle thread, or in a new one: to start one holds up the event loop."""
    outcome: Future[T] = Future()
    outcome.set_running_or_notify_cancel()
    call = partial(_worked, outcome, copy_context(), work)
    try:
        calls = _IDLE_THREADS.pop()
    except IndexError:
        calls = SimpleQueue()
        try:
            # The process does not wait for it at its end.
            threading.Thread(target=_serve, args=(calls,), daemon=True).start()
        except RuntimeError as error:  # the system has no room for another thread
            outcome.set_exception(error)
            return outcome
    calls.put(call)
    return outcome


def _worked(outcome: Future[T], context: Context, work: Callable[[], T]) -> _Done:
    """Do the work, and return what tells how it ended."""
    try:
        return partial(outcome.set_result, context.run(work))
    except BaseException as error:  # noqa: BLE001  the caller raises it
        return partial(outcome.set_exception, error)
    finally:
        # An error holds the frames that it went through: with what it is kept in, it would hold
        # itself, and the text that was worked on, until the collector comes.
        del outcome


def _serve(calls: SimpleQueue[Callable[[], _Done]]) -> None:
    while True:
        tell = calls.get()()
        # Before the outcome is told: whoever waits for it may have the next call at once.
        _IDLE_THREADS.append(calls)
        tell()
        del tell


def _of_loop(variable: RunVar[T], make: Callable[[], T]) -> T:
    """Return the value that a variable has in the event loop that runs, made when first asked."""
    try:
        return variable.get()
    except LookupError:
        made = make()
        variable.set(made)
        return made


async def _result(outcome: Future[T], on_end: Callable[[object], None] = lambda _: None) -> T:
    """Return the result of a call, which goes on when its caller is cancelled."""
    ended = asyncio.wrap_future(outcome)
    ended.add_done_callback(on_end)
    # Where the caller has gone, the event loop would print what the work raised.
    ended.add_done_callback(lambda done: done.cancelled() or done.exception())
    try:
        return await asyncio.shield(ended)
    finally:
        # As in `_worked`: neither is to be held by the error that it holds.
        del outcome, ended


_Call: TypeAlias = tuple[Callable[..., T], tuple[object, ...]]


async def _asked(idle: "deque[_Process]", call: _Call[T]) -> _Outcome[T]:
    while True:
        is_new = not idle
        process = _Process() if is_new else idle.pop()
        try:
            outcome = await _result(_begun(partial(process.ask, call)))
        except BaseException:
            process.kill()
            raise
        if outcome is not None:
            idle.append(process)
            return outcome
        if is_new:
            raise WorkerLost


def _returned(outcome: _Outcome[T]) -> T:
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
        # In a session of its own: what interrupts this one at a terminal must not interrupt it.
        self._process = subprocess.Popen(  # noqa: S603  our own program
            [sys.executable, "-m", text_process.__name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def ask(self, call: _Call[T]) -> _Outcome[T] | None:
        """Return the outcome of a call; `None` when the process ended without one. Blocks."""
        requests, replies = self._process.stdin, self._process.stdout
        if requests is None or replies is None:
            return None
        try:
            requests.write(pickle.dumps(call, pickle.HIGHEST_PROTOCOL))
            requests.flush()
            outcome: _Outcome[T] = pickle.load(replies)  # noqa: S301  our own program
        except Exception as error:
            self.end()
            if isinstance(error, OSError | EOFError | pickle.UnpicklingError):
                return None
            raise
        return outcome

    def kill(self) -> None:
        """Have the process ended; what waits for its reply gets none."""
        self._process.kill()

    def end(self) -> None:
        """End the process, and wait until it has."""
        self._process.kill()
        with suppress(OSError):
            self._process.communicate()


_IDLE_PROCESSES: Final = tuple(deque[_Process]() for _ in range(os.cpu_count() or 2))
"""The processes that have nothing to do, by slot."""
_SLOTS: Final[RunVar[tuple[asyncio.Lock, ...]]] = RunVar("slots")


@atexit.register
def end_idle_processes() -> None:
    """End the processes that have nothing to do, and with them what they remember of texts."""
    for idle in _IDLE_PROCESSES:
        while idle:
            idle.pop().end()


def _forget_all() -> None:
    """Leave threads and processes to the process that this one was forked from."""
    _IDLE_THREADS.clear()
    for idle in _IDLE_PROCESSES:
        idle.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
