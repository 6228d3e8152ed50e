"""How a transcript was read, as callers get it."""

from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.results.result import Result


class SpeakerResult(Result):
    """Whom a label of the transcript stands for."""

    label: str | None
    """As the transcript has it; null for words that no label names a speaker for."""
    role: Speaker
    """Whose words they count as."""
    turns: int
    """How many turns have the label."""


class NoteResult(Result):
    """Something odd or assumed about what was read."""

    code: str
    """What was odd or assumed."""
    count: int
    """How often."""
    line: int | None
    """The first line concerned, from 1."""


class TranscriptResult(Result):
    """How the transcript was read."""

    form: str
    """Such as text, webvtt, whisper or docx; told by the content."""
    encoding: str | None
    """Of a file; null for what was sent as text."""
    turns: int
    """How many turns there are."""
    turn_seconds: tuple[float | None, ...]
    """When each turn begins in the recording; empty for a transcript without times."""
    speakers: tuple[SpeakerResult, ...]
    """In the order in which they first speak."""
    notes: tuple[NoteResult, ...]
    """What was assumed, left out or odd."""
