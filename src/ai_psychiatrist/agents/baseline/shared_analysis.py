"""One search for signals for all tasks of an assessment, kept no longer than it lasts."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final, TypeVar

from ai_psychiatrist.agents.baseline.signals import Analysis, Signals, analyse, signals_in
from ai_psychiatrist.infrastructure.worker_processes import work_on_text

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Shared:
    """What is known of one assessment's transcript, by its text."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    analyses: dict[str, Analysis] = field(default_factory=dict, repr=False)
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
        shared.analyses.clear()
        shared.signals.clear()


async def shared_analysis(text: str) -> Analysis:
    """Return the analysis of a transcript, made once where tasks of an assessment share it."""
    shared = _current.get() or _Shared()
    return await _found(shared.analyses, text, analyse, shared.lock)


async def shared_signals(text: str) -> Signals:
    """Return the signals of a transcript, found once where tasks of an assessment share them.

    A process is told them more quickly than the whole analysis.
    """
    shared = _current.get() or _Shared()
    return await _found(shared.signals, text, signals_in, shared.lock)


async def _found(known: dict[str, T], text: str, find: Callable[[str], T], lock: asyncio.Lock) -> T:
    # Findings and evidence are asked for at the same time: the second waits for the first.
    async with lock:
        if text not in known:
            known[text] = await work_on_text(text, find, text)
        return known[text]
