"""That a person has read statements of danger: rows that are added, and never changed."""

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Statement:
    """A statement by its place: characters of the transcript, the end exclusive."""

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
    """From 1, of its assessment."""
    reader: str
    """`Principal.id`."""
    at: datetime
    said: WasRead
