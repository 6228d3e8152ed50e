"""A stretch of what somebody said, read from the clauses it lies in."""

from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.domain.evidence import Frequency, Polarity, Timeframe
from ai_psychiatrist.services.cues.clauses import clauses_of
from ai_psychiatrist.services.cues.frequency import frequency_of
from ai_psychiatrist.services.cues.lexicon import Words, words_of
from ai_psychiatrist.services.cues.polarity import polarity_of
from ai_psychiatrist.services.cues.tense import timeframe_of
from ai_psychiatrist.services.cues.valence import Reading, read_clause

_EDGES: Final = " \t\r\n\v\f,;-–—\u00a0\u200b\ufeff"


@dataclass(frozen=True, slots=True)
class Stretch:
    """Characters `start` to `end` of a turn's words."""

    turn: str = field(repr=False)
    start: int
    end: int

    @property
    def text(self) -> str:
        """The words, verbatim."""
        return self.turn[self.start : self.end]

    @property
    def words(self) -> Words:
        """The words as they are compared."""
        return words_of(self.text)

    @property
    def reading(self) -> Reading:
        """What it says, read as one clause."""
        return read_clause(self.text)

    @property
    def polarity(self) -> Polarity:
        """Whether it says that a symptom is there."""
        return polarity_of(self.turn, self.start, self.end)

    @property
    def frequency(self) -> Frequency:
        """How often it says that the symptom is there."""
        return frequency_of(self.turn, self.start, self.end)

    @property
    def timeframe(self) -> Timeframe:
        """When it was so."""
        return timeframe_of(self.turn, self.start, self.end)

    def part(self, start: int, end: int) -> "Stretch":
        """Return a part of it, in characters of its own text."""
        return Stretch(self.turn, self.start + start, self.start + end)

    def trimmed(self) -> "Stretch":
        """Leave out spaces, commas and dashes at the edges."""
        text = self.text
        start = len(text) - len(text.lstrip(_EDGES))
        return self.part(start, max(start, len(text.rstrip(_EDGES))))


def whole(words: str) -> Stretch:
    """Return all of a turn's words."""
    return Stretch(words, 0, len(words))


def clauses_in(words: str) -> tuple[Stretch, ...]:
    """Cut a turn's words into the clauses that tile them."""
    return tuple(Stretch(words, clause.start, clause.end) for clause in clauses_of(words))
