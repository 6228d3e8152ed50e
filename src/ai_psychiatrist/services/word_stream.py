"""The words of a transcript in order, searchable by their rarest word."""

import itertools
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
        table: dict[str, list[int]] = {}
        for position, word in enumerate(self.words):
            places = table.get(word)
            if places is None:
                table[word] = [position]
            else:
                places.append(position)
        return table

    def occurrences(self, words: list[str]) -> Iterator[int]:
        """Yield the positions where the words stand one after the other, in order."""
        places = [self.positions.get(word) for word in words]
        if any(place is None for place in places):
            return
        offset, rarest = min(enumerate(places), key=lambda pair: len(pair[1] or ()))
        for place in rarest or ():
            start = place - offset
            if start >= 0 and self.words[start : start + len(words)] == words:
                yield start


def spoken_words(transcript: Transcript) -> WordStream:
    """Return the words of all turns, whoever speaks."""
    stream = WordStream(words=[], starts=[], ends=[], first_words=[])
    for turn in transcript.turns:
        tokens = tokenise(transcript.text, turn.words_start, turn.end)
        stream.first_words.append(len(stream.words))
        stream.words.extend(tokens.words)
        stream.starts.extend(tokens.starts)
        stream.ends.extend(tokens.ends)
    return stream


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
