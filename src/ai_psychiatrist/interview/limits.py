"""How much an interview may cost, and all of them together."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class InterviewLimits:
    """Bounds of one interview."""

    max_calls: int = 200
    """Model calls of one interview, its report included."""
    turn_timeout_seconds: float = 60.0
    max_answer_characters: int = 4_000
    speculates: bool = True
    """Whether the next question is asked for while an offered answer is worked in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreLimits:
    """Bounds of all interviews that are kept."""

    keep: timedelta = timedelta(days=30)
    """How long an interview is kept after its last change."""
    max_stored: int = 10_000
    """Interviews."""
    max_bytes: int = 1_073_741_824
    """Of the file; a new interview has to fit in."""
