"""Where a given quote stands in an interview, and how much of the evidence it holds."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.evaluation.challenge.prediction import GivenQuote
from ai_psychiatrist.evaluation.challenge.truth import EvidenceSpan

RIGHT_SHARE: Final = 0.5
"""A quote is right when at least this share of it is evidence of its item."""
FOUND_SHARE: Final = 0.25
"""Evidence is found when right quotes hold at least this share of it."""
_WORD_GAP: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Place:
    """Characters of the text, start inclusive, end exclusive."""

    start: int
    end: int

    def overlap(self, span: EvidenceSpan) -> int:
        """Return how many characters they share."""
        return max(0, min(self.end, span.end) - max(self.start, span.start))


def place_of(quote: GivenQuote, text: str, spans: Sequence[EvidenceSpan]) -> Place | None:
    """Return where a quote stands; `None` where nobody said these words.

    Without a position its words are looked for whatever their case and white space, and of several
    places the one that holds most evidence counts.
    """
    if quote.start is not None and quote.end is not None:
        return Place(quote.start, quote.end)
    places = list(_places(quote.text, text))
    return max(places, key=lambda place: evidence_in(place, spans), default=None)


def evidence_in(place: Place, spans: Iterable[EvidenceSpan]) -> int:
    """Return how many characters of a place are evidence."""
    return sum(place.overlap(span) for span in spans)


def is_right(place: Place, spans: Sequence[EvidenceSpan]) -> bool:
    """Return whether enough of a quote is evidence."""
    return evidence_in(place, spans) >= RIGHT_SHARE * (place.end - place.start)


def is_found(span: EvidenceSpan, right: Iterable[Place]) -> bool:
    """Return whether right quotes, of which some may overlap, hold enough of the evidence."""
    held: set[int] = set()
    for place in right:
        held.update(range(max(place.start, span.start), min(place.end, span.end)))
    return len(held) >= FOUND_SHARE * (span.end - span.start)


def held_by(place: Place, spans: Sequence[EvidenceSpan]) -> EvidenceSpan:
    """Return the evidence that a right quote is most of."""
    return max(spans, key=place.overlap)


def _places(words: str, text: str) -> Iterator[Place]:
    parts = [re.escape(part) for part in _WORD_GAP.split(words.strip()) if part]
    if parts:
        for found in re.finditer(r"\s+".join(parts), text, re.IGNORECASE):
            yield Place(found.start(), found.end())
