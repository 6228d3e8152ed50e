"""Tells whoever counts what models cost of every call, also of those whose work is cut short."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, Protocol


class Meter(Protocol):
    """Counts what the work of one task, and of those it starts, spends."""

    def spent(self, *, calls: int = 0, tokens: int = 0) -> None:
        """Count it; called in the event loop, and never waits."""
        ...


_meter: Final[ContextVar[Meter | None]] = ContextVar("meter", default=None)


@contextmanager
def metered(meter: Meter) -> Iterator[None]:
    """Let a meter count what is spent inside the block."""
    token = _meter.set(meter)
    try:
        yield
    finally:
        _meter.reset(token)


def note_spent(*, calls: int = 0, tokens: int = 0) -> None:
    """Tell the meter, where there is one."""
    meter = _meter.get()
    if meter is not None:
        meter.spent(calls=calls, tokens=tokens)
