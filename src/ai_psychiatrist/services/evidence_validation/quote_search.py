"""One way to look for a quote in a transcript, and how well its edges and marks fit there."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ai_psychiatrist.domain.evidence import Segment
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.services.evidence_validation.quote_edges import QuoteEdges, edges_of
from ai_psychiatrist.services.evidence_validation.tokens import Tokens
from ai_psychiatrist.services.evidence_validation.word_stream import WordRange, WordStream

# From the start of white space alone: a long run of it would be gone through from each character.
_LINE_BREAK: Final = re.compile(r"(?<!\s)[^\S\r\n]*+(?:\r\n?|\n)\s*")


@dataclass(frozen=True)
class QuoteSearch:
    """One way to look for a quote: for which of its words, and among which."""

    quote: str
    tokens: Tokens
    stream: WordStream
    is_literal: bool = False
    """Whether nothing that was said may be left out."""
    is_written_out: bool = False
    after: int = 0
    """The character of the transcript before which nothing is looked for."""

    def word_ranges(self) -> Iterator[WordRange]:
        """Yield where the words stand."""
        words = self.tokens.words
        find = self.stream.occurrences if self.is_literal else self.stream.fluent_occurrences
        return find(words)

    def holds(self, words: WordRange, transcript: Transcript) -> bool:
        """Return whether the edges of the quote lie between words, and not too early."""
        return (
            self.stream.starts[words.first] >= self.after
            and self.stream.is_whole(words)
            and self._edges.hold(self.stream, words, transcript)
        )

    def verbatim(self, segments: tuple[Segment, ...], transcript: Transcript) -> Segment | None:
        """Return a place with the punctuation of a quote if nothing but line breaks differs."""
        quote, (segment, *others) = self.quote, segments
        turn = transcript.turns[segment.turn]
        start = segment.start - self.tokens.starts[0]
        end = segment.end + len(quote) - self.tokens.ends[-1]
        if others or start < max(turn.words_start, self.after) or end > turn.end:
            return None
        said = transcript.text[start:end]
        if said != quote and _unwrapped(said) != _unwrapped(quote):
            return None
        return Segment(turn=segment.turn, start=start, end=end)

    @cached_property
    def _edges(self) -> QuoteEdges:
        return edges_of(self.quote, self.tokens)


def _unwrapped(text: str) -> str:
    return _LINE_BREAK.sub(" ", text)
