"""One search for signals for all tasks of an assessment, kept no longer than it lasts."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.agents.baseline.signals import Signals, signals_in
from ai_psychiatrist.infrastructure.worker_processes import work_on_text


@dataclass(frozen=True, slots=True)
class _Shared:
    """The signals of one assessment's transcript, by its text."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    signals: dict[str, Signals] = field(default_factory=dict, repr=False)


_current: Final[ContextVar[_Shared | None]] = ContextVar("shared_analysis", default=None)


@contextmanager
def sharing_analysis() -> Iterator[None]:
    """Let the tasks that begin inside the block share what they find."""
    shared = _Shared()
    token = _current.set(shared)
    try:
        yield
    finally:
        _current.reset(token)
        # Timers of connections keep the context that they were made in, and all that it holds.
        shared.signals.clear()


async def shared_signals(text: str) -> Signals:
    """Return the signals of a transcript, found once where tasks of an assessment share them."""
    shared = _current.get()
    if shared is None:
        return await work_on_text(text, signals_in, text)
    # Findings and evidence are asked for at the same time: the second waits for the first.
    async with shared.lock:
        if text not in shared.signals:
            shared.signals[text] = await work_on_text(text, signals_in, text)
        return shared.signals[text]
