"""Clauses of spoken English: where one statement ends and the next begins."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

WINDOW: Final = 400
"""How many characters on either side of a span are read, and the length of the longest clause."""

_SUBJECT: Final = (
    r"(?:i|i['’]?m|i['’]?ve|i['’]d|i['’]ll|we|he|he['’]?s|she|she['’]?s|they|it|it['’]?s|"
    r"there|there['’]?s|that['’]?s|you|my)"
)
_NOW: Final = r"(?:(?:um|uh|er|well|yeah|like),?\s{1,8}){0,2}now(?!\s(?:and|then))\b"
_OFTEN: Final = r"(?:(?:every|most|each|some|all)\s(?:[a-z]{1,12}\s){1,2})?"
_BOUNDARY: Final = re.compile(
    r"(?P<stop>(?:[.?!;…。！？]+|\n\s{0,80}\n|\s[-–—]{1,3}\s|—)\s{0,80})"
    r"|\b(?P<contrast>(?<!anything )but|although|though(?!\s{0,8}[?.!,])|however|because|[’']?cause"
    r"|cuz|except|whereas|otherwise)\b"
    rf"|\b(?P<link>and|or|so|yet|while|then|plus)(?=,?\s{{1,8}}(?:{_OFTEN}{_SUBJECT}\b|{_NOW}))"
    r"|(?P<comma>,)(?!\s{1,8}you\s(?:know|see),)"
    rf"(?=\s{{1,8}}(?:(?:um|uh|like|well|now|then|today|lately)\s)?{_SUBJECT}\b)",
    re.IGNORECASE,
)
_HAS_SUBJECT: Final = re.compile(rf"\b{_SUBJECT}\b", re.IGNORECASE)
_SUBORDINATE: Final = re.compile(
    r"\s*(?:and\s|so\s|but\s|well\s|yeah\s|um\s)?(?:when|whenever|if|since|while|after|before|as|"
    r"unless|until|once|every time)\b",
    re.IGNORECASE,
)
_DECIMAL: Final = re.compile(r"\.(?=\d)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A stretch of a text, in characters; start inclusive, end exclusive."""

    start: int
    end: int


def clauses_of(words: str) -> tuple[Clause, ...]:
    """Cut words into clauses that tile them; none is longer than `WINDOW` characters."""
    return tuple(_cut(words, 0, len(words)))


def clauses_around(words: str, start: int, end: int) -> tuple[Clause, ...]:
    """Return the clauses that the span `words[start:end]` lies in."""
    start, end = without_outer_spaces(words, start, end)
    after = max(end, start + 1)
    near = takewhile(lambda clause: clause.start < after, clauses_near(words, start, end))
    return tuple(clause for clause in near if clause.end > start)


def clauses_near(words: str, start: int, end: int) -> tuple[Clause, ...]:
    """Return the clauses about a span.

    At most `WINDOW` characters before the span and after its beginning's window are read, so the
    cost does not grow with the text.
    """
    start, end = without_outer_spaces(words, start, min(end, start + 4 * WINDOW))
    return tuple(_cut(words, max(0, start - WINDOW), min(len(words), end + WINDOW)))


def without_outer_spaces(words: str, start: int, end: int) -> tuple[int, int]:
    """Narrow a span by the spaces at its edges."""
    while start < end and words[start].isspace():
        start += 1
    while end > start and words[end - 1].isspace():
        end -= 1
    return start, end


def _cut(words: str, low: int, high: int) -> Iterator[Clause]:
    start = low
    for found in _BOUNDARY.finditer(words, low, high):
        at = found.end() if found.lastgroup in {"stop", "comma"} else found.start()
        if at > start and _is_boundary(words, start, found):
            yield from _bounded(words, start, at)
            start = at
    if start < high:
        yield from _bounded(words, start, high)


def _is_boundary(words: str, start: int, found: re.Match[str]) -> bool:
    if found.lastgroup == "stop":
        return _DECIMAL.match(words, found.start()) is None
    if found.lastgroup == "contrast":
        return True
    # "Most days, I feel tired" and "when I was young, I slept" are one statement each.
    piece = words[start : min(found.start(), start + WINDOW)]
    return _HAS_SUBJECT.search(piece) is not None and _SUBORDINATE.match(piece) is None


def _bounded(words: str, start: int, end: int) -> Iterator[Clause]:
    while end - start > WINDOW:
        space = words.rfind(" ", start + WINDOW // 2, start + WINDOW)
        at = start + WINDOW if space < 0 else space
        yield Clause(start=start, end=at)
        start = at
    yield Clause(start=start, end=end)
