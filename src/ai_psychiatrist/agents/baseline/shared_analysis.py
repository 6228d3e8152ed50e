"""One analysis for all tasks of an assessment, kept no longer than the assessment lasts."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.agents.baseline.signals import Analysis, analyse
from ai_psychiatrist.domain.transcript import SpeakerLabels
from ai_psychiatrist.infrastructure.worker_processes import work_on_text


@dataclass(frozen=True, slots=True)
class _Shared:
    """The analyses of one assessment: of its transcript, by the labels that it was read with."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    analyses: dict[tuple[str, SpeakerLabels], Analysis] = field(default_factory=dict, repr=False)


_current: Final[ContextVar[_Shared | None]] = ContextVar("shared_analysis", default=None)


@contextmanager
def sharing_analysis() -> Iterator[None]:
    """Let the tasks that begin inside the block share what they analyse."""
    shared = _Shared()
    token = _current.set(shared)
    try:
        yield
    finally:
        _current.reset(token)
        # Timers of connections keep the context that they were made in, and all that it holds.
        shared.analyses.clear()


async def analysed(text: str, labels: SpeakerLabels) -> Analysis:
    """Return the analysis of a transcript, made once where the tasks of an assessment share it."""
    shared = _current.get()
    if shared is None:
        return await work_on_text(len(text), analyse, text, labels)
    # Findings and evidence are asked for at the same time: the second waits for the first.
    async with shared.lock:
        key = (text, labels)
        if key not in shared.analyses:
            shared.analyses[key] = await work_on_text(len(text), analyse, text, labels)
        return shared.analyses[key]
