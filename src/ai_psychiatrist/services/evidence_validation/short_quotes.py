"""Short quotes without a word of content: they count as a whole clause or a whole answer."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from ai_psychiatrist.services.evidence_validation.tokens import is_ideographic
from ai_psychiatrist.services.evidence_validation.word_stream import WordRange, WordStream
from ai_psychiatrist.services.evidence_validation.words import (
    BARE_WORDS,
    CLOSERS,
    FILLERS,
    NUMBER_WORDS,
    OPENERS,
    SELF,
    SINGLE_ANSWERS,
    STOP_WORDS,
    WELL,
)
from ai_psychiatrist.services.language.clause_reading import read_clause

_STOPS: Final = frozenset(".,;:!?…—–。，！？、；")
_MOST_SKIPPED: Final = 4
_EMPTY: Final = STOP_WORDS | NUMBER_WORDS


def has_content(words: Sequence[str]) -> bool:
    """Return whether words say anything beyond stop words, single letters and bare numbers."""
    meaningful = [word for word in words if word not in _EMPTY]
    for word in meaningful:
        if len(word) > 1 and (word.isalpha() or any(map(str.isalpha, word))):
            return True
    return sum(map(is_ideographic, meaningful)) > 1


def can_be_answer(words: Sequence[str]) -> bool:
    """Return whether words without content may be something that was said by itself."""
    if len(words) == 1:
        return words[0] in SINGLE_ANSWERS
    return any(len(word) > 1 and word not in FILLERS for word in words)


def is_bare_answer(quote: str, words: Sequence[str]) -> bool:
    """Return whether only a question can tell what words without content are about."""
    says_well = not (WELL.isdisjoint(words) or SELF.isdisjoint(words))
    return (BARE_WORDS.issuperset(words) and not says_well) or not read_clause(quote).findings


def is_utterance(
    stream: WordStream, words: WordRange, text: str, clause_starts: Sequence[int]
) -> bool:
    """Return whether a range of one turn is a whole clause, but for words that only link it.

    `clause_starts`: where the clauses of the turn begin in the text, rising.
    """
    turn = stream.turn_words(stream.turns(words)[0])
    clauses = _Clauses(stream, text, turn, clause_starts)
    return clauses.begin_at(words.first) and clauses.end_at(words.after)


class _Clauses:
    """Where the clauses of one turn begin and end among its words."""

    def __init__(
        self, stream: WordStream, text: str, turn: WordRange, starts: Sequence[int]
    ) -> None:
        self._stream, self._text, self._turn, self._starts = stream, text, turn, starts

    def begin_at(self, position: int) -> bool:
        for at in range(position, position - _MOST_SKIPPED, -1):
            if self._is_bound(at):
                return True
            if self._stream.words[at - 1] not in OPENERS:
                return False
        return False

    def end_at(self, position: int) -> bool:
        for at in range(position, position + _MOST_SKIPPED):
            if self._is_bound(at):
                return True
            if self._stream.words[at] not in CLOSERS:
                return False
        return False

    def _is_bound(self, position: int) -> bool:
        """Return whether a clause begins with the word at a position."""
        if position <= self._turn.first or position >= self._turn.after:
            return True
        start, end = self._stream.ends[position - 1], self._stream.starts[position]
        if not _STOPS.isdisjoint(self._text[start:end]):
            return True
        following = bisect_left(self._starts, start)
        return following < len(self._starts) and self._starts[following] <= end
