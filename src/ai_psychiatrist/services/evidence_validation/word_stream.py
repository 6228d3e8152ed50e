"""The words of a transcript in order, searchable by their rarest word."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ai_psychiatrist.domain.evidence import Segment
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.services.evidence_validation.contractions import written_out
from ai_psychiatrist.services.evidence_validation.disfluency import (
    MOST_LEFT_OUT,
    SearchBudget,
    end_without_repeats,
    repeated_starts,
    without_fillers,
)
from ai_psychiatrist.services.evidence_validation.tokens import Tokens, tokenise

_MOST_COMPARED: Final = 4
"""How often each word of a stream may be compared before all are read once instead."""
_RARE: Final = 4
"""How many places are few enough to look at without looking for a rarer word."""
_STEPS_PER_WORD: Final = 4
_FEWEST_STEPS: Final = 10_000
"""What a search for a quote may cost: so much for each word, and so much anyhow."""
_NEAR: Final = 400
"""How many characters beside a range are looked at."""


@dataclass(frozen=True, slots=True)
class WordRange:
    """Positions of words in a stream, `after` exclusive."""

    first: int
    after: int


@dataclass(frozen=True, slots=True)
class Beside:
    """Characters of a turn beside a range: up to the next word, and some more."""

    gap: slice
    near: slice


@dataclass(frozen=True, kw_only=True)
class WordStream(Tokens):
    """Words with their offsets, and where each turn begins among them."""

    first_words: list[int]
    """Position of the first word of each turn, one entry per turn."""

    @cached_property
    def positions(self) -> dict[str, list[int]]:
        """Where each word stands."""
        table: defaultdict[str, list[int]] = defaultdict(list)
        for position, word in enumerate(self.words):
            table[word].append(position)
        return dict(table)

    def occurrences(self, words: list[str]) -> Iterator[WordRange]:
        """Yield where the words stand one after the other, in order."""
        spoken, first, length = self.words, words[0], len(words)
        offset, places = self._rarest(words, rare=_RARE)
        if len(places) * length > _MOST_COMPARED * len(spoken):
            yield from self._repetitive_occurrences(words)
            return
        for place in places:
            start = place - offset
            # The first word alone rules most places out, for less than a comparison of all.
            if start >= 0 and spoken[start] == first and spoken[start : start + length] == words:
                yield WordRange(start, start + length)

    def _repetitive_occurrences(self, words: list[str]) -> Iterator[WordRange]:
        """Yield the same by reading every word of the stream once.

        Source: Knuth, Morris and Pratt, 1977.
        """
        borders, matched = _borders(words), 0
        for position, word in enumerate(self.words):
            while matched and (matched == len(words) or words[matched] != word):
                matched = borders[matched - 1]
            matched += words[matched] == word
            if matched == len(words):
                yield WordRange(position + 1 - matched, position + 1)

    def fluent_occurrences(self, words: list[str]) -> Iterator[WordRange]:
        """Yield where the words stand in order when repeated starts may be left out.

        Raises `SearchTooCostly` where both repeat so much that there is no end of ways.
        """
        offset, places = self._rarest(words)
        steps = SearchBudget(_FEWEST_STEPS + _STEPS_PER_WORD * (len(self.words) + len(words)))
        for place in places:
            for start in self._possible_starts(place - offset, place):
                steps.take(1)
                if self.words[start] == words[0]:
                    after = end_without_repeats(self.words, start, words, self.repeats, steps)
                    if after is not None:
                        yield WordRange(start, after)

    @cached_property
    def repeats(self) -> Mapping[int, tuple[int, ...]]:
        """Where starts are said again, and where again, rising."""
        return repeated_starts(self.words)

    @cached_property
    def _repeat_places(self) -> list[int]:
        return list(self.repeats)

    def _possible_starts(self, start: int, place: int) -> Iterator[int]:
        """Yield where a quote can begin, the nearest first; earlier only if something repeats."""
        if start >= 0:
            yield start
        earliest = max(0, start - MOST_LEFT_OUT)
        at = bisect_left(self._repeat_places, earliest)
        if at < len(self._repeat_places) and self._repeat_places[at] < place:
            yield from range(min(start, place) - 1, earliest - 1, -1)

    def _rarest(self, words: list[str], *, rare: int = 0) -> tuple[int, list[int]]:
        """Return the place of the rarest word, or of the first `rare` one, and where it stands."""
        table, offset, rarest = self.positions, 0, None
        for at, word in enumerate(words):
            places = table.get(word, ())
            if rarest is None or len(places) < len(rarest):
                offset, rarest = at, places
                if len(places) <= rare:
                    break
        return offset, rarest or []

    def turns(self, words: WordRange) -> range:
        """Return the turns that a range runs over."""
        return range(self._turn_of(words.first), self._turn_of(words.after - 1) + 1)

    def turn_words(self, turn: int) -> WordRange:
        """Return all words of a turn."""
        following = self.first_words[turn + 1 : turn + 2]
        return WordRange(self.first_words[turn], following[0] if following else len(self.words))

    def segments(self, words: WordRange) -> tuple[Segment, ...]:
        """Return the characters of a range, one segment for each turn that has words of it."""
        parts = []
        for turn in self.turns(words):
            whole = self.turn_words(turn)
            first, after = max(words.first, whole.first), min(words.after, whole.after)
            if first < after:
                start, end = self.starts[first], self.ends[after - 1]
                parts.append(Segment(turn=turn, start=start, end=end))
        return tuple(parts)

    def is_whole(self, words: WordRange) -> bool:
        """Return whether a range begins and ends at edges of words that were said as one."""
        first, after, starts = words.first, words.after, self.starts
        return (first == 0 or starts[first - 1] != starts[first]) and (
            after == len(starts) or starts[after - 1] != starts[after]
        )

    def surroundings(self, words: WordRange, transcript: Transcript) -> tuple[Beside, Beside]:
        """Return what stands before and after a range in its turns."""
        turns = self.turns(words)
        first, last = transcript.turns[turns[0]], transcript.turns[turns[-1]]
        start, end = self.starts[words.first], self.ends[words.after - 1]
        opening = max(first.words_start, start - _NEAR)
        closing = min(last.end, end + _NEAR)
        before = self.ends[words.first - 1] if words.first else opening
        after = self.starts[words.after] if words.after < len(self.starts) else closing
        return (
            Beside(slice(max(before, opening), start), slice(opening, start)),
            Beside(slice(end, min(after, closing)), slice(end, closing)),
        )

    def _turn_of(self, position: int) -> int:
        return bisect_right(self.first_words, position) - 1


def spoken_words(transcript: Transcript) -> WordStream:
    """Return the words of all turns, whoever speaks; speaker labels are no words."""
    return _stream(tokenise(_without_labels(transcript)), transcript)


def smooth_words(transcript: Transcript) -> WordStream:
    """Return the words of all turns without fillers and cut-off words."""
    return _stream(tokenise(without_fillers(_without_labels(transcript))), transcript)


def written_out_words(stream: WordStream, transcript: Transcript) -> WordStream:
    """Return a stream with its contractions written out."""
    return _WrittenOut(**vars(_stream(written_out_tokens(stream), transcript)), said=stream)


@dataclass(frozen=True, kw_only=True)
class _WrittenOut(WordStream):
    """Words in parts; only what repeats as it was said may be left out."""

    said: WordStream

    @cached_property
    def repeats(self) -> Mapping[int, tuple[int, ...]]:
        return {
            self._first_part(at): tuple(map(self._first_part, agains))
            for at, agains in self.said.repeats.items()
        }

    def _first_part(self, position: int) -> int:
        return bisect_left(self.starts, self.said.starts[position])


def written_out_tokens(tokens: Tokens) -> Tokens:
    """Return words with contractions written out; their parts stand where the whole stood."""
    parts = [
        (part, position)
        for position, written in enumerate(written_out(tokens.words))
        for part in written
    ]
    return Tokens(
        words=[part for part, _ in parts],
        starts=[tokens.starts[position] for _, position in parts],
        ends=[tokens.ends[position] for _, position in parts],
    )


def _borders(words: list[str]) -> list[int]:
    """Return for each beginning of the words how much of it they end in, too."""
    borders, matched = [0], 0
    for word in words[1:]:
        while matched and words[matched] != word:
            matched = borders[matched - 1]
        matched += words[matched] == word
        borders.append(matched)
    return borders


def _stream(tokens: Tokens, transcript: Transcript) -> WordStream:
    return WordStream(
        words=tokens.words,
        starts=tokens.starts,
        ends=tokens.ends,
        first_words=[bisect_left(tokens.starts, turn.start) for turn in transcript.turns],
    )


def _without_labels(transcript: Transcript) -> str:
    """Blank out the labels; all other characters keep their place."""
    return "".join(
        " " * (turn.words_start - turn.start) + transcript.words(turn) for turn in transcript.turns
    )
