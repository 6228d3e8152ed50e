"""What an answer came to: how many of fourteen days it leaves open, and the score of those.

Source of the scores: Kroenke et al. 2009, J Affect Disord 114:163-173: not at all 0 to 1 days,
several days 2 to 6, more than half the days 7 to 11, nearly every day 12 to 14.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

from ai_psychiatrist.domain.interview_items import AnswerQuote, Unclear

_FIRST_DAYS: Final = ((12, 3), (7, 2), (2, 1), (0, 0))
"""From how many days on a score counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Days:
    """How many days words leave open, ends included; `low` above `high` where they leave none."""

    low: int
    high: int

    def within(self, other: "Days") -> Self:
        """Return what both leave open."""
        return type(self)(low=max(self.low, other.low), high=min(self.high, other.high))

    def meets(self, other: "Days") -> bool:
        """Return whether both leave some days open."""
        both = self.within(other)
        return both.low <= both.high

    def plus(self, other: "Days") -> Self:
        """Return the days of both, which are different ones."""
        return type(self)(low=self.low + other.low, high=self.high + other.high)

    @property
    def rest(self) -> Self:
        """The other days of the two weeks."""
        return type(self)(low=ALL.high - self.high, high=ALL.high - self.low)

    def or_else(self, other: "Days") -> Self:
        """Return what one of both leaves open."""
        return type(self)(low=min(self.low, other.low), high=max(self.high, other.high))

    @property
    def score(self) -> int | None:
        """The score of all of these days, `None` where there are two or none."""
        if not 0 <= self.low <= self.high <= ALL.high:
            return None
        score = _score(self.low)
        return score if score == _score(self.high) else None


ALL: Final = Days(low=0, high=14)
NO_DAY: Final = Days(low=0, high=0)
EVERY_DAY: Final = Days(low=14, high=14)


def _score(days: int) -> int:
    return next(score for first, score in _FIRST_DAYS if days >= first)


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
