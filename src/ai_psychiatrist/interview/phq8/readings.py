"""What a free answer came to."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ai_psychiatrist.domain.interview_items import AnswerQuote, Unclear


class ReadingKind(StrEnum):
    """What an answer came to."""

    ANCHOR = "anchor"
    """One of the four answers themselves, beside words that change nothing."""
    READ = "read"
    """One score from other words of frequency: it counts once the person has confirmed it."""
    UNCLEAR = "unclear"
    """It speaks of how often and leaves more than one score open."""
    NONE = "none"
    """It says nothing of how often."""
    UNREADABLE = "unreadable"
    """It holds no words, or too many."""


_READ: Final = frozenset({ReadingKind.ANCHOR, ReadingKind.READ})


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerReading:
    """What an answer says of how often."""

    kind: ReadingKind
    score: int | None = None
    """0–3, with `ANCHOR` and `READ`; with `UNCLEAR` the likeliest one, to be asked about."""
    quote: AnswerQuote | None = None
    """The words that carry it, or that are not clear."""
    unclear: Unclear | None = None
    found: tuple[AnswerQuote, ...] = ()
    """Where it is unclear, the first wordings of frequency in their order."""

    @property
    def is_read(self) -> bool:
        """Whether it has one score, and nothing against it."""
        return self.kind in _READ
