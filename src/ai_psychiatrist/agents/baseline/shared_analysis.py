"""What tasks of an assessment share: its transcripts as they were read, and an analysis of each.

A prompt holds a transcript as text. Read again from there, with labels that only the caller knows,
it could be another one, or none.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final, TypeVar

from ai_psychiatrist.agents.baseline.request import Request
from ai_psychiatrist.agents.baseline.signals import (
    Analysis,
    Signals,
    analyse,
    analysis_of,
    not_read,
    signals_in,
)
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.infrastructure.worker_processes import is_for_process, work_on_text
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Shared:
    """What is known of one assessment's transcripts, by the boundary that marks each in prompts."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    transcripts: dict[str, Transcript] = field(default_factory=dict, repr=False)
    analyses: dict[str, Analysis] = field(default_factory=dict, repr=False)
    signals: dict[str, Signals | None] = field(default_factory=dict, repr=False)


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
        shared.transcripts.clear()
        shared.analyses.clear()
        shared.signals.clear()


def share_transcript(boundary: str, transcript: Transcript) -> None:
    """Let the tasks of an assessment have a transcript as it was read."""
    shared = _current.get()
    if shared is not None:
        shared.transcripts[boundary] = transcript


async def shared_analysis(request: Request) -> Analysis:
    """Return the analysis of a transcript, made once where tasks of an assessment share it."""
    shared = _current.get() or _Shared()
    return await _found(shared, shared.analyses, request, analysis_of_text)


async def in_process(request: Request) -> tuple[Transcript | None, Signals | None] | None:
    """Return what a process is given to analyse a large transcript again, `None` for a small one.

    The signals are few, and take less time to hand over than the whole analysis.
    """
    if not is_for_process(request.transcript):
        return None
    shared = _current.get() or _Shared()
    signals = await _found(shared, shared.signals, request, signals_of_text)
    return shared.transcripts.get(request.boundary), signals


async def _found(
    shared: _Shared,
    known: dict[str, T],
    request: Request,
    find: Callable[[str, Transcript | None], T],
) -> T:
    text, boundary = request.transcript, request.boundary
    # Findings and evidence are asked for at the same time: the second waits for the first.
    async with shared.lock:
        if boundary not in known:
            transcript = shared.transcripts.get(boundary)
            known[boundary] = await work_on_text(text, find, text, transcript)
        return known[boundary]


def analysis_of_text(
    text: str, transcript: Transcript | None, signals: Signals | None = None
) -> Analysis:
    """Return the analysis of a transcript as it was read, or else as its text alone is read."""
    read = transcript or _read(text)
    if read is None:
        return not_read(text)
    return analyse(read) if signals is None else analysis_of(read, signals)


def signals_of_text(text: str, transcript: Transcript | None) -> Signals | None:
    """Return the signals of such a transcript, `None` where its speakers cannot be told apart."""
    read = transcript or _read(text)
    return None if read is None else signals_in(read)


def _read(text: str) -> Transcript | None:
    try:
        return parse_transcript(text)
    except InputError:
        return None
