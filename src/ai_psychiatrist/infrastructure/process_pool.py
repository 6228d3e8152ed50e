"""Processes that share one large piece of work, and that end when this one does, however it ends.

Ctrl-C at a terminal reaches this process alone, which stops the others.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import Final, ParamSpec, TypeVar, TypeVarTuple

P = ParamSpec("P")
T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_LOST: Final = 1


@contextmanager
def process_pool(
    count: int, start: Callable[[*Ts], None], *args: *Ts
) -> Iterator[ProcessPoolExecutor]:
    """Yield a pool of `count` processes; `start` prepares each one.

    At the end of the block what has not begun is dropped, and what has is waited for.
    """
    pool = _Pool(
        max_workers=count,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_begin,
        initargs=(start, args),
    )
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


class _Pool(ProcessPoolExecutor):
    """Starts processes as work comes in."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Hand in a call; a process that it starts inherits what is blocked here."""
        with _blocking_interrupts():
            return super().submit(fn, *args, **kwargs)


@contextmanager
def _blocking_interrupts() -> Iterator[None]:
    """Have Ctrl-C wait until the end of the block, where the system knows how."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # It would end the blocking where it is started with the first process.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(start: Callable[[*Ts], None], args: tuple[*Ts]) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    start(*args)


def _end_with_parent() -> None:
    """End this process with the one that it works for: its queue would be waited for forever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(_LOST)
