"""What speakers say without meaning it: fillers, words they cut off, and starts they repeat.

A faithful quote may leave these out. Nothing is left out here that negates, counts, says how often,
or answers.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from ai_psychiatrist.services.evidence_validation.tokens import is_ideographic
from ai_psychiatrist.services.evidence_validation.words import FILLERS, PERSONS, PROTECTED

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
MOST_LEFT_OUT: Final = 12
"""How many repeated words a quote may leave out altogether."""


class SearchTooCostly(Exception):
    """The steps of a search are spent."""


@dataclass(slots=True)
class SearchBudget:
    """The comparisons of words that a search may still make."""

    left: int

    def take(self, count: int) -> None:
        """Spend some. Raises `SearchTooCostly` when there are not that many."""
        self.left -= count
        if self.left < 0:
            raise SearchTooCostly


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


def repeated_starts(words: list[str]) -> dict[int, tuple[int, ...]]:
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


def end_without_repeats(
    spoken: Sequence[str],
    start: int,
    words: Sequence[str],
    repeats: Mapping[int, Sequence[int]],
    steps: SearchBudget,
) -> int | None:
    """Match words from a position on, leaving out starts that are said again right after.

    Returns the position after the last word, or `None` where they do not match. Raises
    `SearchTooCostly` when the steps are spent.
    """
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
        steps.take(matched - begun + 1)
        if matched == len(words):
            return at
    return None
