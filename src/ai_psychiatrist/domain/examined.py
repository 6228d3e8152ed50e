"""What of a transcript was read at all: words in a language that is not known say nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

READ_LANGUAGE: Final = "en"
"""The only language whose words are read, by its BCP 47 code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnexaminedTurn:
    """A turn of anybody but the interviewer in a language that is not read."""

    turn: int
    language: str
    """A BCP 47 code; `und` for one that is not told."""
    is_whole: bool
    """Whether all of the turn is unread, and not a stretch of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What was read, and what was not, in the order of the transcript."""

    words: Mapping[str, int] = field(default_factory=dict)
    """Language → how many of the participant's words are in it."""
    unread: tuple[UnexaminedTurn, ...] = ()

    @property
    def share(self) -> float | None:
        """The part of the participant's words that was read, 0-1; `None` where there are none."""
        total = sum(self.words.values())
        return self.words.get(READ_LANGUAGE, 0) / total if total else None

    @property
    def is_mostly_unread(self) -> bool:
        """Whether more of the participant's words are unread than read."""
        return self.share is not None and self.share < 1 / 2

    @property
    def wholly_unread(self) -> frozenset[int]:
        """The turns of which nothing was read."""
        return frozenset(one.turn for one in self.unread if one.is_whole)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that were not read, in the order in which they come up."""
        return tuple(dict.fromkeys(one.language for one in self.unread))
