"""The words of a transcript in order, searchable by their rarest word."""

import itertools
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.services.tokens import tokenise
from ai_psychiatrist.services.words import (
    ANSWER_WORDS,
    EXPANSIONS,
    FILLERS,
    NEGATED_SUFFIX,
    STOP_WORDS,
)

_REPEATABLE = {word for word in STOP_WORDS - ANSWER_WORDS if not word.endswith(NEGATED_SUFFIX)}


@dataclass(frozen=True)
class WordStream:
    """Words with their offsets, and where each turn begins among them."""

    words: list[str]
    starts: list[int]
    ends: list[int]
    first_words: list[int]
    """Position of the first word of each turn, one entry per turn."""

    @cached_property
    def positions(self) -> dict[str, list[int]]:
        """Where each word stands."""
        table: defaultdict[str, list[int]] = defaultdict(list)
        for position, word in enumerate(self.words):
            table[word].append(position)
        return dict(table)

    def occurrences(self, words: list[str]) -> Iterator[int]:
        """Yield the positions where the words stand one after the other, in order."""
        positions, spoken = self.positions, self.words
        rarest = min(words, key=lambda word: len(positions.get(word, ())))
        offset, length = words.index(rarest), len(words)
        first = words[0]
        for place in positions.get(rarest, ()):
            start = place - offset
            # The first word alone rules most places out, for less than a comparison of all.
            if start >= 0 and spoken[start] == first and spoken[start : start + length] == words:
                yield start


def spoken_words(transcript: Transcript) -> WordStream:
    """Return the words of all turns, whoever speaks; speaker labels are no words."""
    tokens = tokenise(_without_labels(transcript))
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


def tolerant_words(stream: WordStream) -> WordStream:
    """Return the stream without fillers and repeated starts, contractions written out.

    A word that negates, counts or answers is never dropped.
    """
    result = WordStream(words=[], starts=[], ends=[], first_words=[])
    bounds = [*stream.first_words, len(stream.words)]
    for first, after in itertools.pairwise(bounds):
        result.first_words.append(len(result.words))
        for position, word in _tolerant(stream.words[first:after]):
            result.words.append(word)
            result.starts.append(stream.starts[first + position])
            result.ends.append(stream.ends[first + position])
    return result


def tolerant(words: list[str]) -> list[str]:
    """Return words in the form of a tolerant stream."""
    return [word for _, word in _tolerant(words)]


def _tolerant(words: list[str]) -> Iterator[tuple[int, str]]:
    previous = ""
    for position, word in enumerate(words):
        if word in FILLERS or (word == previous and word in _REPEATABLE):
            continue
        previous = word
        for part in _written_out(word):
            yield position, part


def _written_out(word: str) -> tuple[str, ...]:
    if word in EXPANSIONS:
        return EXPANSIONS[word]
    if word.endswith(NEGATED_SUFFIX):
        return (word.removesuffix(NEGATED_SUFFIX), "not")
    return (word,)
