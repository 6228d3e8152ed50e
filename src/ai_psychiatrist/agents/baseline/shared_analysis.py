"""One analysis for all tasks of an assessment, kept no longer than the assessment lasts."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.agents.baseline.signals import Analysis, analyse
from ai_psychiatrist.domain.transcript import SpeakerLabels


@dataclass(frozen=True, slots=True)
class _Shared:
    """The analyses of one assessment: of its transcript, by the labels that it was read with."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    analyses: dict[tuple[str, SpeakerLabels], Analysis] = field(default_factory=dict, repr=False)


_current: Final[ContextVar[_Shared | None]] = ContextVar("shared_analysis", default=None)


@contextmanager
def sharing_analysis() -> Iterator[None]:
    """Let the tasks and threads that begin inside the block share what they analyse."""
    shared = _Shared()
    token = _current.set(shared)
    try:
        yield
    finally:
        _current.reset(token)
        # Timers of connections keep the context that they were made in, and all that it holds.
        shared.analyses.clear()


def analysed(text: str, labels: SpeakerLabels) -> Analysis:
    """Return the analysis of a transcript, made once where the tasks of an assessment share it."""
    shared = _current.get()
    if shared is None:
        return analyse(text, labels)
    # Findings and evidence are asked for at the same time: the second waits for the first.
    with shared.lock:
        key = (text, labels)
        if key not in shared.analyses:
            shared.analyses[key] = analyse(text, labels)
        return shared.analyses[key]
