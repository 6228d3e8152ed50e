"""What tasks of an assessment share: its transcripts as they were read, and an analysis of each.

A prompt holds a transcript as text. Read again from there, with labels that only the caller knows,
it could be another one, or none.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from ai_psychiatrist.agents.baseline.request import Request
from ai_psychiatrist.agents.baseline.signals import (
    Analysis,
    Signal,
    Signals,
    analyse,
    analysis_of,
    not_read,
    signals_in,
)
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.infrastructure.worker_processes import is_for_process, work_on_text
from ai_psychiatrist.services.reader.reading import TranscriptReading
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Shared:
    """What is known of one assessment's transcripts, by the boundary that marks each in prompts."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    transcripts: dict[str, Transcript] = field(default_factory=dict, repr=False)
    readings: dict[str, TranscriptReading] = field(default_factory=dict, repr=False)
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
        shared.readings.clear()
        shared.analyses.clear()
        shared.signals.clear()


def share_transcript(boundary: str, transcript: Transcript, reading: TranscriptReading) -> None:
    """Let the tasks of an assessment have a transcript as it was read, by the reader as well."""
    shared = _current.get()
    if shared is not None:
        shared.transcripts[boundary] = transcript
        shared.readings[boundary] = reading


async def shared_analysis(request: Request) -> Analysis:
    """Return the analysis of a transcript, made once where tasks of an assessment share it."""
    shared = _current.get() or _Shared()
    return await _found(shared, shared.analyses, request, analysis_of_text, _analysis_voiced)


async def in_process(request: Request) -> tuple[Transcript | None, Signals | None] | None:
    """Return what a process is given to analyse a large transcript again, `None` for a small one.

    The signals are few, and take less time to hand over than the whole analysis.
    """
    if not is_for_process(request.transcript):
        return None
    shared = _current.get() or _Shared()
    signals = await _found(shared, shared.signals, request, signals_of_text, _signals_voiced)
    return shared.transcripts.get(request.boundary), signals


async def _found(
    shared: _Shared,
    known: dict[str, T],
    request: Request,
    find: Callable[[str, Transcript | None], T],
    voiced: Callable[[T, TranscriptReading], Awaitable[T]],
) -> T:
    text, boundary = request.transcript, request.boundary
    # Findings and evidence are asked for at the same time: the second waits for the first.
    async with shared.lock:
        if boundary not in known:
            transcript = shared.transcripts.get(boundary)
            found = await work_on_text(text, find, text, transcript)
            reading = shared.readings.get(boundary)
            known[boundary] = found if reading is None else await voiced(found, reading)
        return known[boundary]


async def _analysis_voiced(analysis: Analysis, reading: TranscriptReading) -> Analysis:
    return replace(analysis, signals=await _voiced(analysis.signals, reading))


async def _signals_voiced(signals: Signals | None, reading: TranscriptReading) -> Signals | None:
    return signals and replace(signals, found=await _voiced(signals.found, reading))


async def _voiced(signals: Iterable[Signal], reading: TranscriptReading) -> tuple[Signal, ...]:
    """Mark the signals that the learned reader does not share."""
    marked: list[Signal] = []
    for signal in signals:
        quote, is_shared = signal.quote, True
        if quote.supports_symptom:
            is_shared = await reading.shares_present(signal.item, quote.segments)
        elif quote.denies_symptom:
            is_shared = await reading.shares_denied(signal.item, quote.segments)
        marked.append(signal if is_shared else replace(signal, is_shared=False))
    return tuple(marked)


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
