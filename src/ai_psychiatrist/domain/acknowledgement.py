"""That a person has read statements of danger: rows that are added, and never changed."""

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Statement:
    """A statement by its place: characters of the transcript or of an answer, the end exclusive."""

    turn: int = 0
    """Of an interview's answer, from 1; 0 in a transcript, whose characters are counted through."""
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WasRead:
    """Which statements a person has read, and their note."""

    statements: tuple[Statement, ...]
    note: str = field(default="", repr=False)
    """In the reader's words; may be empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledgement:
    """What one person confirmed at one time."""

    number: int
    """From 1, of its assessment or interview."""
    reader: str
    """`Principal.id`."""
    at: datetime
    said: WasRead
