"""Counts work that the event loop waits for: in threads, in processes, on disks, at servers.

Whoever wants to know whether some tasks can still go on by themselves has to know of it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final


@dataclass(slots=True)
class OutsideWork:
    """What tasks of one context wait for now."""

    under_way: int = 0


COUNTED: Final[ContextVar[OutsideWork | None]] = ContextVar("outside_work", default=None)
"""Where it is counted; `None` where nobody asks."""


@contextmanager
def outside_work() -> Iterator[None]:
    """Count what is waited for inside the block."""
    counted = COUNTED.get()
    if counted is None:
        yield
        return
    counted.under_way += 1
    try:
        yield
    finally:
        counted.under_way -= 1
