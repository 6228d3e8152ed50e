"""Cuts the words of a turn at the borders of evidence: pieces that tile it, and never nest."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch of the transcript that something stands on; offsets in code points."""

    start: int
    end: int
    owner: str
    """The anchor of the card that it belongs to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of a turn whose characters all belong to the same cards."""

    text: str = field(repr=False)
    start: int
    owners: tuple[str, ...]
    """Anchors of cards in the order of the spans; empty for words that are no evidence."""
    ends: tuple[str, ...]
    """Those whose span ends here."""


def pieces_of(text: str, start: int, end: int, spans: Sequence[Span]) -> Iterator[Piece]:
    """Yield the pieces of `text[start:end]` in order; spans are clipped to it."""
    here = [span for span in spans if max(span.start, start) < min(span.end, end)]
    inner = {at for span in here for at in (span.start, span.end) if start < at < end}
    borders = sorted({start, end} | inner)
    for first, last in pairwise(borders):
        on = [span for span in here if span.start <= first and last <= span.end]
        yield Piece(
            text=text[first:last],
            start=first,
            owners=_owners(on),
            ends=_owners([span for span in on if min(span.end, end) == last]),
        )


def _owners(spans: Sequence[Span]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(span.owner for span in spans))
