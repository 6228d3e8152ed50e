"""One way to look for a quote in a transcript, and what the place has to show besides its words."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Final

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.domain.evidence import Segment
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.services.evidence_validation.tokens import (
    BARE_WORDS,
    CLOSERS,
    FILLERS,
    NUMBER_WORDS,
    OPENERS,
    SELF,
    SINGLE_ANSWERS,
    STOP_WORDS,
    WELL,
    Tokens,
    is_ideographic,
    marks_in,
    tokenise,
    written_out,
)
from ai_psychiatrist.services.evidence_validation.word_stream import Beside, WordRange, WordStream
from ai_psychiatrist.services.language.assertion import read_clause

# From the start of white space alone: a long run of it would be gone through from each character.
_LINE_BREAK: Final = re.compile(r"(?<!\s)[^\S\r\n]*+(?:\r\n?|\n)\s*")
_STOPS: Final = frozenset(".,;:!?…—–。，！？、；")
_MOST_LINKS: Final = 4
"""How many words may link a short quote to the edge of its clause, and one less."""
_EMPTY: Final = STOP_WORDS | NUMBER_WORDS
_SAID: Final = 0.6
"""The weight of what is said in how similar two texts are; the rest is how it is written."""
_MOST_COMPARED: Final = 10**10
"""Characters of a quote, squared, times those of the text that it is compared with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _QuoteMargin:
    """What a quote holds before its first compared word, or after its last, in lower case."""

    words: tuple[str, ...]
    marks: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class QuoteSearch:
    """One way to look for a quote: for which of its words, and among which."""

    quote: str
    tokens: Tokens
    transcript: Transcript
    stream: WordStream
    is_literal: bool = False
    """Whether nothing that was said may be left out."""
    after: int = 0
    """The character of the transcript before which nothing is looked for."""

    def word_ranges(self) -> Iterator[WordRange]:
        """Yield where the words stand, with the edges of the quote between words, in order.

        Raises `SearchTooCostly` where the words repeat too much.
        """
        stream = self.stream
        find = stream.occurrences if self.is_literal else stream.fluent_occurrences
        for words in find(self.tokens.words):
            is_late = stream.starts[words.first] >= self.after
            if is_late and stream.is_whole(words) and self._has_edges_at(words):
                yield words

    def verbatim(self, words: WordRange) -> Segment | None:
        """Return a place with the punctuation of the quote if nothing but line breaks differs."""
        segment, *others = self.stream.segments(words)
        turn = self.transcript.turns[segment.turn]
        start = segment.start - self.tokens.starts[0]
        end = segment.end + len(self.quote) - self.tokens.ends[-1]
        if others or start < max(turn.words_start, self.after) or end > turn.end:
            return None
        said = self.transcript.text[start:end]
        if said != self.quote and _unwrapped(said) != _unwrapped(self.quote):
            return None
        return Segment(turn=segment.turn, start=start, end=end)

    @cached_property
    def _edges(self) -> tuple[_QuoteMargin | None, _QuoteMargin | None]:
        quote, tokens = self.quote, self.tokens
        return _edge(quote[: tokens.starts[0]]), _edge(quote[tokens.ends[-1] :])

    def _has_edges_at(self, words: WordRange) -> bool:
        """Return whether both edges of the quote fit the place where its words were found.

        Fillers and marks at an edge have to stand there next to the words, unless the turn begins
        or ends there; a mark that the turn does not have was only added.
        """
        head, tail = self._edges
        if head is None and tail is None:
            return True
        before, after = self.stream.beside(words, self.transcript)
        return (head is None or _fits(head, before, is_before=True)) and (
            tail is None or _fits(tail, after, is_before=False)
        )


def _unwrapped(text: str) -> str:
    return _LINE_BREAK.sub(" ", text)


def _edge(text: str) -> _QuoteMargin | None:
    if not any(map(str.isalnum, text)):
        return None
    text = text.lower()
    return _QuoteMargin(words=_sounds(text), marks=marks_in(text))


def _sounds(text: str) -> tuple[str, ...]:
    """Return words with all fillers as one: "um" may be written "uhm"."""
    return tuple("um" if word in FILLERS else word for word in tokenise(text).words)


def _fits(edge: _QuoteMargin, beside: Beside, *, is_before: bool) -> bool:
    gap, near, wanted = beside.gap, beside.near, edge.words
    said, skippable = _sounds(near.lower()), len(tokenise(gap).words)
    if skippable == len(said):
        return True
    far = near.removesuffix(gap) if is_before else near.removeprefix(gap)
    if is_before:
        said, wanted = said[::-1], wanted[::-1]
    return _begin_with(said, wanted, skippable) and all(
        mark in gap.lower() or mark not in far.lower() for mark in edge.marks
    )


def _begin_with(said: Sequence[str], wanted: Sequence[str], skippable: int) -> bool:
    """Return whether words begin with the wanted ones when some of the first may be left out."""
    met = 0
    for at, word in enumerate(said):
        if met == len(wanted):
            break
        if word == wanted[met]:
            met += 1
        elif at >= skippable:
            return False
    return met == len(wanted)


def has_content(words: Sequence[str]) -> bool:
    """Return whether words say anything beyond stop words, single letters and bare numbers."""
    meaningful = [word for word in words if word not in _EMPTY]
    if any(len(word) > 1 and any(map(str.isalpha, word)) for word in meaningful):
        return True
    return sum(map(is_ideographic, meaningful)) > 1


def can_be_answer(words: Sequence[str]) -> bool:
    """Return whether words without content may be something that was said by itself."""
    if len(words) == 1:
        return words[0] in SINGLE_ANSWERS
    return any(len(word) > 1 and word not in FILLERS for word in words)


def is_bare_answer(quote: str, words: Sequence[str]) -> bool:
    """Return whether a quote has a meaning only together with the question before it."""
    says_well = not (WELL.isdisjoint(words) or SELF.isdisjoint(words))
    return (BARE_WORDS.issuperset(words) and not says_well) or not read_clause(quote).findings


def is_utterance(search: QuoteSearch, words: WordRange, clause_starts: Sequence[int]) -> bool:
    """Return whether a range of one turn is a whole clause, but for words that only link it.

    `clause_starts`: where the clauses of the turn begin in the text, rising.
    """
    stream, text = search.stream, search.transcript.text
    turn = stream.turn_words(stream.turns(words)[0])

    def begins_clause(position: int) -> bool:
        if position <= turn.first or position >= turn.after:
            return True
        start, end = stream.ends[position - 1], stream.starts[position]
        if not _STOPS.isdisjoint(text[start:end]):
            return True
        following = clause_starts[bisect_left(clause_starts, start) :][:1]
        return any(one <= end for one in following)

    def is_linked(position: int, step: int, links: frozenset[str]) -> bool:
        for at in range(position, position + step * _MOST_LINKS, step):
            if begins_clause(at):
                return True
            if stream.words[at if step > 0 else at - 1] not in links:
                return False
        return False

    return is_linked(words.first, -1, OPENERS) and is_linked(words.after, 1, CLOSERS)


def similarity_package() -> ModuleType:
    """Return rapidfuzz, or raise `ConfigurationError` with the cure where it is missing."""
    try:
        from rapidfuzz import fuzz  # noqa: PLC0415
    except ImportError:
        msg = (
            "QUANTITATIVE_EVIDENCE_QUOTE_VALIDATION_MODE=fuzzy needs rapidfuzz: "
            "pip install 'ai-psychiatrist[fuzzy]', or use substring"
        )
        raise ConfigurationError(msg) from None
    return fuzz


def similarity(quote: Tokens, spoken: Tokens) -> float:
    """Return 0-1 for the words of a quote and of the whole span that it was found in.

    What the quote leaves out counts, and less so how its words are written; case, spacing,
    punctuation and marks do not.
    """
    said = _ratio(written_out(quote).words, written_out(spoken).words)
    return _SAID * said + (1 - _SAID) * _ratio(quote.words, spoken.words)


def _ratio(words: Sequence[str], others: Sequence[str]) -> float:
    found: float = similarity_package().ratio(" ".join(words), " ".join(others))
    return found / 100


def is_similar_to_part(quote: str, text: str, *, least: float) -> bool:
    """Return whether a part of a text is similar enough; false for texts that are too long."""
    if len(quote) ** 2 * len(text) > _MOST_COMPARED:
        return False
    found: float = similarity_package().partial_ratio(quote, text, score_cutoff=100 * least)
    return found >= 100 * least
