"""The words of a transcript in order, and where a quote's words stand among them.

What speakers say without meaning it (fillers, words they cut off, starts they repeat) may be left
out of a faithful quote. Nothing may be left out that negates, counts, says how often, or answers.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, takewhile
from typing import Final

from ai_psychiatrist.domain.evidence import Segment
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.services.evidence_validation.tokens import (
    FILLERS,
    PERSONS,
    PROTECTED,
    Tokens,
    is_ideographic,
)

_PART: Final = re.compile(r"[^\W\d_]+|[-–—]")
_ASIDE_ENDS: Final = frozenset({"know", "mean"})
_DASHES: Final = frozenset("-–—")
# "um--" is a filler, "uh-huh" is an answer.
_FILLER: Final = re.compile(
    rf"(?<![\w'’])(?<!\w-)(?:{'|'.join(sorted(FILLERS, key=len, reverse=True))})(?![\w'’]|-\w)",
    re.IGNORECASE,
)
# Between marks on both sides these are asides; "you know him" and "I mean it" are not.
_ASIDE: Final = re.compile(
    r"(?:(?<=[,.;:?!…–—-])|^)([^\S\n]{0,30}(?:you know|i mean))(?=[^\S\n]{0,30}[,…–—-])",
    re.IGNORECASE | re.MULTILINE,
)
_CUT_OFF: Final = re.compile(
    r"(?<![\w'’-])([^\W\d_]{1,12})[-–—]{1,3}"
    r"(?=\s{1,4}((?:\S{1,24}\s{1,4}){0,2}?)\1(?:((?:['’][^\W\d_]|(?![\w'’])))|[^\W\d_]))",
    re.IGNORECASE,
)
_STUTTER: Final = re.compile(
    r"(?<![\w'’-])(?!i-)([^\W\d_])-(?:\1-){0,8}(?=\1[^\W\d_])", re.IGNORECASE
)
_SHORTENED: Final = frozenset({"'m", "'s", "'re", "'ve", "'ll", "'d"})
"""With these a word is said again: "I, I'm"."""
_LONGEST_REPEAT: Final = 4
_MOST_LEFT_OUT: Final = 12
"""How many repeated words a quote may leave out altogether."""
_STEPS_PER_WORD: Final = 4
_FEWEST_STEPS: Final = 10_000
"""What a search for a quote may cost: so much for each word, and so much anyhow."""
_NEAR: Final = 400
"""How many characters beside a range are looked at."""
_BETWEEN: Final = "\n"
"""Parts the words where they are searched as one text; no word holds it."""


class SearchTooCostly(Exception):
    """The steps of a search are spent."""


@dataclass(slots=True)
class _SearchBudget:
    """The comparisons of words that a search may still make."""

    left: int

    def take(self, count: int) -> None:
        """Spend some. Raises `SearchTooCostly` when there are not that many."""
        self.left -= count
        if self.left < 0:
            raise SearchTooCostly


@dataclass(frozen=True, slots=True)
class WordRange:
    """Positions of words in a stream, `after` exclusive."""

    first: int
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What stands in a turn beside a range of words: up to the next word, and some more."""

    gap: str
    near: str


@dataclass(frozen=True, kw_only=True)
class WordStream(Tokens):
    """Words with their offsets, and where each turn begins among them."""

    first_words: list[int]
    """Position of the first word of each turn, one entry per turn."""
    said: "WordStream | None" = None
    """The words before their contractions were written out; only what repeats there may be left
    out."""

    def occurrences(self, words: list[str]) -> Iterator[WordRange]:
        """Yield where the words stand one after the other, in order."""
        text, offsets = self._joined
        wanted = _joined(words)
        at = text.find(wanted)
        while at >= 0:
            first = bisect_left(offsets, at)
            yield WordRange(first, first + len(words))
            at = text.find(wanted, at + 1)

    def fluent_occurrences(self, words: list[str]) -> Iterator[WordRange]:
        """Yield where the words stand in order when repeated starts may be left out.

        Raises `SearchTooCostly` where both repeat so much that there is no end of ways.
        """
        rarest = min(words, key=lambda word: len(self._positions.get(word, ())))
        offset = words.index(rarest)
        budget = _SearchBudget(_FEWEST_STEPS + _STEPS_PER_WORD * (len(self.words) + len(words)))
        for place in self._positions.get(rarest, ()):
            for start in self._possible_starts(place - offset, place):
                budget.take(1)
                if self.words[start] == words[0]:
                    after = self._end_without_repeats(start, words, budget)
                    if after is not None:
                        yield WordRange(start, after)

    def _end_without_repeats(
        self, start: int, words: list[str], budget: _SearchBudget
    ) -> int | None:
        """Match words from a position on, leaving out starts that are said again right after.

        Returns the position after the last word, `None` where they do not match.
        """
        spoken, repeats = self.words, self._repeats
        pending, seen = [(start, 0)], set()
        while pending:
            at, begun = pending.pop()
            matched = begun
            while matched < len(words):
                if at in repeats and (at, matched) not in seen:
                    seen.add((at, matched))
                    pending.extend((again, matched) for again in repeats[at])
                if at >= len(spoken) or spoken[at] != words[matched]:
                    break
                at, matched = at + 1, matched + 1
            budget.take(matched - begun + 1)
            if matched == len(words):
                return at
        return None

    def _possible_starts(self, start: int, place: int) -> Iterator[int]:
        """Yield where a quote can begin, the nearest first; earlier only if something repeats."""
        if start >= 0:
            yield start
        earliest = max(0, start - _MOST_LEFT_OUT)
        at = bisect_left(self._repeat_places, earliest)
        if at < len(self._repeat_places) and self._repeat_places[at] < place:
            yield from range(min(start, place) - 1, earliest - 1, -1)

    @cached_property
    def _joined(self) -> tuple[str, list[int]]:
        """All words as one text, and where each begins in it."""
        lengths = (len(word) + len(_BETWEEN) for word in self.words)
        return _joined(self.words), list(accumulate(lengths, initial=0))

    @cached_property
    def _positions(self) -> Mapping[str, list[int]]:
        """Where each word stands."""
        table: defaultdict[str, list[int]] = defaultdict(list)
        for position, word in enumerate(self.words):
            table[word].append(position)
        return table

    @cached_property
    def _repeats(self) -> Mapping[int, tuple[int, ...]]:
        """Where starts are said again, and where again, rising."""
        if self.said is None:
            return _repeated_starts(self.words)
        starts = self.said.starts
        return {
            bisect_left(self.starts, starts[at]): tuple(
                bisect_left(self.starts, starts[again]) for again in agains
            )
            for at, agains in _repeated_starts(self.said.words).items()
        }

    @cached_property
    def _repeat_places(self) -> list[int]:
        return list(self._repeats)

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

    def beside(self, words: WordRange, transcript: Transcript) -> tuple[Beside, Beside]:
        """Return what stands before and after a range in its turns."""
        turns = self.turns(words)
        first, last = transcript.turns[turns[0]], transcript.turns[turns[-1]]
        start, end = self.starts[words.first], self.ends[words.after - 1]
        opening = max(first.words_start, start - _NEAR)
        closing = min(last.end, end + _NEAR)
        before = self.ends[words.first - 1] if words.first else opening
        after = self.starts[words.after] if words.after < len(self.starts) else closing
        text = transcript.text
        return (
            Beside(gap=text[max(before, opening) : start], near=text[opening:start]),
            Beside(gap=text[end : min(after, closing)], near=text[end:closing]),
        )

    def _turn_of(self, position: int) -> int:
        return bisect_right(self.first_words, position) - 1


def _joined(words: list[str]) -> str:
    return f"{_BETWEEN}{_BETWEEN.join(words)}{_BETWEEN}"


def word_stream(
    tokens: Tokens, transcript: Transcript, said: WordStream | None = None
) -> WordStream:
    """Return the words of the turns of all speakers, with their turns."""
    first_words = [bisect_left(tokens.starts, turn.start) for turn in transcript.turns]
    return WordStream(**vars(tokens), first_words=first_words, said=said)


def without_labels(transcript: Transcript) -> str:
    """Blank out the speaker labels, which are no words; all other characters keep their place."""
    return "".join(
        " " * (turn.words_start - turn.start) + transcript.words(turn) for turn in transcript.turns
    )


def without_fillers(text: str) -> str:
    """Blank out fillers, asides and words that were cut off; all else keeps its place."""
    # Most texts hold few of these parts, and looking for them is cheap.
    parts = set(_PART.findall(text.lower()))
    if not FILLERS.isdisjoint(parts):
        text = _FILLER.sub(_blank, text)
    if not _ASIDE_ENDS.isdisjoint(parts):
        text = _ASIDE.sub(_blank, text)
    if _DASHES.isdisjoint(parts):
        return text
    text = _STUTTER.sub(_blank, text)
    return _CUT_OFF.sub(_blank_cut_off, text)


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _blank_cut_off(found: re.Match[str]) -> str:
    word = found[1].lower()
    # After "I- I'm" somebody is still spoken of; after "I- it" nobody is.
    is_said_again = word not in PERSONS or (found[3] is not None and not found[2])
    return " " * len(found[0]) if is_said_again and word not in PROTECTED else found[0]


def _repeated_starts(words: list[str]) -> dict[int, tuple[int, ...]]:
    """Return position → positions where what begins there is said again right after."""
    # A doubled ideograph is a word of its own: 天 is a day, 天天 is every day.
    kept = {word for word in set(words) if word in PROTECTED or is_ideographic(word)}
    found: dict[int, tuple[int, ...]] = {}
    for at, word in enumerate(words[:-1]):
        if word in kept:
            continue
        if words[at + 1].startswith(word) and words[at + 1][len(word) :] in _SHORTENED:
            found[at] = (at + 1,)
            continue
        if word not in words[at + 1 : at + 1 + _LONGEST_REPEAT]:
            continue
        start = [*takewhile(lambda one: one not in kept, words[at : at + _LONGEST_REPEAT])]
        again = tuple(
            at + length
            for length in range(1, len(start) + 1)
            if start[:length] == words[at + length : at + 2 * length]
        )
        if again:
            found[at] = again
    return found
