"""Clauses of spoken English: where one statement ends and the next begins."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

WINDOW: Final = 400
"""How many characters on either side of a span are read, and the length of the longest clause."""

_SUBJECT: Final = (
    r"(?:i|i['’]?m|i['’]?ve|i['’]d|i['’]ll|we|he|he['’]?s|she|she['’]?s|they|it|it['’]?s|"
    r"there|there['’]?s|that['’]?s|you|my)"
)
_NOW: Final = r"(?:(?:um|uh|er|well|yeah|like),?\s{1,8}){0,2}now(?!\s(?:and|then))\b"
_OFTEN: Final = r"(?:(?:every|most|each|some|all)\s(?:[a-z]{1,12}\s){1,2})?"


_HAS_SUBJECT: Final = re.compile(rf"\b{_SUBJECT}\b", re.IGNORECASE)
_SUBORDINATE: Final = re.compile(
    r"\s*(?:and\s|so\s|but\s|well\s|yeah\s|um\s)?(?:when|whenever|if|since|while|after|before|as|"
    r"unless|until|once|every time)\b",
    re.IGNORECASE,
)
_DECIMAL: Final = re.compile(r"\.(?=\d)")


def boundary(*, before_subject: str = "") -> re.Pattern[str]:
    """Return what may end a clause.

    `before_subject`: a pattern of what may stand between a link and the subject after it.
    """
    return re.compile(
        r"(?P<stop>(?:[.?!;…。！？]+|\n\s{0,80}\n|\s[-–—]{1,3}\s|—)\s{0,80})"
        r"|\b(?P<contrast>(?<!anything )but|although|though(?!\s{0,8}[?.!,])|however|because"
        r"|[’']?cause|cuz|except|whereas|otherwise)\b"
        r"|\b(?P<link>and|or|so|yet|while|then|plus)"
        rf"(?=,?\s{{1,8}}(?:{before_subject}{_SUBJECT}\b|{_NOW}))"
        r"|(?P<comma>,)(?!\s{1,8}you\s(?:know|see),)"
        rf"(?=\s{{1,8}}(?:(?:um|uh|like|well|now|then|today|lately)\s)?{_SUBJECT}\b)",
        re.IGNORECASE,
    )


_BOUNDARY: Final = boundary(before_subject=_OFTEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A stretch of a text, in characters; start inclusive, end exclusive."""

    start: int
    end: int


def clauses_of(words: str) -> tuple[Clause, ...]:
    """Cut words into clauses that tile them; none is longer than `WINDOW` characters."""
    return tuple(cut(words, 0, len(words), _BOUNDARY))


def cut(words: str, low: int, high: int, ends: re.Pattern[str]) -> Iterator[Clause]:
    """Yield the clauses between two characters, at what may end them."""
    start = low
    for found in ends.finditer(words, low, high):
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
