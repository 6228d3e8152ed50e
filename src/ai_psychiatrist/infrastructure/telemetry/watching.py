"""Shows whoever watches an application what it does; without watchers it costs next to nothing."""

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from typing import Final, Protocol, TypeAlias, TypeVar

from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.infrastructure.telemetry.work import CANCELLED, Event, Work

WorkT = TypeVar("WorkT", bound=Work)


class Watcher(Protocol):
    """Whoever looks on: makes spans, or counts."""

    def watching(self, work: Work) -> AbstractContextManager[None]:
        """Return a block around the work; at its end the work says how it went."""
        ...

    def told(self, event: Event) -> None:
        """Take note of something; called in the event loop, and never waits."""
        ...


Watchers: TypeAlias = tuple[Watcher, ...]

_watchers: Final[ContextVar[Watchers]] = ContextVar("watchers", default=())


@contextmanager
def watched_by(watchers: Watchers) -> Iterator[None]:
    """Let these and no others watch what is done in the block, and in the tasks that it starts."""
    before = _watchers.get()
    _watchers.set(watchers)
    try:
        yield
    finally:
        _watchers.set(before)


@contextmanager
def watched(work: WorkT) -> Iterator[WorkT]:
    """Show a piece of work, which the block does and describes, to all who watch."""
    watchers = _watchers.get()
    if not watchers:
        yield work
        return
    with ExitStack() as stack:
        for watcher in watchers:
            stack.enter_context(watcher.watching(work))
        started = time.perf_counter()
        try:
            yield work
        except Exception:
            work.error = work.error or FailureCode.INTERNAL_ERROR
            raise
        except BaseException:
            work.error = work.error or CANCELLED
            raise
        finally:
            work.seconds = time.perf_counter() - started


def tell(event: Event) -> None:
    """Tell all who watch."""
    for watcher in _watchers.get():
        watcher.told(event)
