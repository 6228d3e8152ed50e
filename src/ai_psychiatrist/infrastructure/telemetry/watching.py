"""Shows what an application does to its spans and counters; unwatched it costs next to nothing."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.infrastructure.telemetry.work import CANCELLED, Event, Work

if TYPE_CHECKING:
    from ai_psychiatrist.infrastructure.telemetry.prometheus import PrometheusCounts

WorkT = TypeVar("WorkT", bound=Work)


@dataclass(frozen=True, slots=True, kw_only=True)
class Telemetry:
    """How an application is watched; by default it is not."""

    span: Callable[[Work], AbstractContextManager[object]] = nullcontext
    """Gives a block around a piece of work, at whose end the work says how it went."""
    counters: tuple[Callable[[Work | Event], None], ...] = ()
    """Called with each piece of work at its end, and with each event; none of them waits."""
    trace_ids: Callable[[], Mapping[str, str]] = dict
    """Returns the ids of the span that is open, for the log."""
    prometheus: "PrometheusCounts | None" = None
    """One of the counters; `None` where the settings want none."""


_NOT_WATCHED: Final = Telemetry()
_telemetry: Final[ContextVar[Telemetry]] = ContextVar("telemetry", default=_NOT_WATCHED)


@contextmanager
def watched_by(telemetry: Telemetry) -> Iterator[None]:
    """Watch in this way alone what is done in the block, and in the tasks that it starts."""
    before = _telemetry.get()
    _telemetry.set(telemetry)
    try:
        yield
    finally:
        _telemetry.set(before)


@contextmanager
def watched(work: WorkT) -> Iterator[WorkT]:
    """Show a piece of work, which the block does and describes."""
    telemetry = _telemetry.get()
    with telemetry.span(work):
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
            for count in telemetry.counters:
                count(work)


def publish(event: Event) -> None:
    """Show an event."""
    for count in _telemetry.get().counters:
        count(event)
