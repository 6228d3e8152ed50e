"""An interview as lines whose pieces know what they are evidence of, and its text with places."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.evidence import Polarity
from ai_psychiatrist.domain.phq8 import Item

INTERVIEWER: Final = "Interviewer"
PARTICIPANT: Final = "Participant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What words are evidence of."""

    item: Item | None
    """`None` for danger."""
    polarity: Polarity
    is_needed: bool = True
    """Whether the evidence is not whole without it."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Words without a line break."""

    words: str
    mark: Mark | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One turn."""

    speaker: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedStretch:
    """Where marked words stand in the text: start inclusive, end exclusive, in characters."""

    mark: Mark
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenInterview:
    """A transcript and the evidence in it, in the order of the text."""

    text: str
    stretches: tuple[MarkedStretch, ...]


def asks(words: str) -> Line:
    """Return a turn of the interviewer."""
    return Line(INTERVIEWER, (Piece(words),))


def says(*pieces: Piece | str) -> Line:
    """Return a turn of the participant; words without a mark are evidence of nothing."""
    made = (Piece(piece) if isinstance(piece, str) else piece for piece in pieces)
    return Line(PARTICIPANT, tuple(made))


def affirmed(item: Item, words: str) -> Piece:
    """Return words that say that a symptom is there."""
    return Piece(words, Mark(item=item, polarity=Polarity.AFFIRMED))


def denied(item: Item, words: str) -> Piece:
    """Return words that say that it is not."""
    return Piece(words, Mark(item=item, polarity=Polarity.DENIED))


def counted(item: Item, words: str) -> Piece:
    """Return words that say how often alone, beside others that say what."""
    return Piece(words, Mark(item=item, polarity=Polarity.AFFIRMED, is_needed=False))


def dangerous(words: str) -> Piece:
    """Return words that tell of danger now."""
    return Piece(words, Mark(item=None, polarity=Polarity.AFFIRMED))


def written(lines: Sequence[Line]) -> WrittenInterview:
    """Write an interview down, a line a turn."""
    parts: list[str] = []
    stretches: list[MarkedStretch] = []
    place = 0
    for words, mark in _parts(lines):
        if mark is not None:
            stretches.append(MarkedStretch(mark=mark, start=place, end=place + len(words)))
        parts.append(words)
        place += len(words)
    return WrittenInterview(text="".join(parts), stretches=tuple(stretches))


def _parts(lines: Sequence[Line]) -> Iterator[tuple[str, Mark | None]]:
    for line in lines:
        yield f"{line.speaker}:", None
        for piece in line.pieces:
            if piece.words:
                yield " ", None
                yield piece.words, piece.mark
        yield "\n", None
