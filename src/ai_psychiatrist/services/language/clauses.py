"""Clauses of spoken English: where one statement ends and the next begins."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.services.language.memory import remembered
from ai_psychiatrist.services.language.vocabulary import word_list

_WINDOW: Final = 400
"""How many characters on either side of a span are read, and the length of the longest clause."""

_DECIMAL: Final = re.compile(r"\.(?=\d)")
_STOP: Final = r"(?:[.?!;…。！？]+|\n\s{0,80}\n|\s[-–—]{1,3}\s|—)\s{0,80}"


def _any_of(key: str) -> str:
    """Return a pattern of the entries of a list."""
    entries = (re.escape(entry).replace("'", "['’]") for entry in word_list("clauses", key))
    return f"(?:{'|'.join(entries)})"


_SUBJECT: Final = _any_of("subjects")
_OFTEN: Final = rf"(?:{_any_of('how_often')}\s(?:[a-z]{{1,12}}\s){{1,2}})?"
_NOW: Final = (
    rf"(?:{_any_of('hesitations')},?\s{{1,8}}){{0,2}}{_any_of('now')}"
    rf"(?!\s{_any_of('after_no_now')})\b"
)
_BEFORE_CONTRAST: Final = "".join(
    rf"(?<!{re.escape(word)} )" for word in word_list("clauses", "before_no_contrast")
)
_BOUNDARY: Final = re.compile(
    rf"(?P<stop>{_STOP})"
    rf"|\b{_BEFORE_CONTRAST}(?!{_any_of('closing_contrasts')}\s{{0,8}}[?.!,])"
    rf"(?P<contrast>{_any_of('contrasts')})\b"
    rf"|\b(?P<link>{_any_of('links')})(?=,?\s{{1,8}}(?:{_OFTEN}{_SUBJECT}\b|{_NOW}))"
    rf"|(?P<comma>,)(?!\s{{1,8}}{_any_of('parentheses')},)"
    rf"(?=\s{{1,8}}(?:{_any_of('openings')}\s)?{_SUBJECT}\b)",
    re.IGNORECASE,
)
"""What may end a clause."""
_HAS_SUBJECT: Final = re.compile(rf"\b{_SUBJECT}\b", re.IGNORECASE)
_SUBORDINATE: Final = re.compile(
    rf"\s*(?:{_any_of('leading')}\s)?{_any_of('subordinators')}\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A stretch of a text, in characters; start inclusive, end exclusive."""

    start: int
    end: int


@remembered(256)
def clauses_of(words: str) -> tuple[Clause, ...]:
    """Cut words into clauses that tile them; none is longer than 400 characters."""
    return tuple(_cut(words))


def is_asked(clause: str) -> bool:
    """Return whether a clause ends in a question mark."""
    return clause.rstrip(" \t\r\n\"'”’)").endswith("?")


def _cut(words: str) -> Iterator[Clause]:
    start = 0
    for found in _BOUNDARY.finditer(words):
        at = found.end() if found.lastgroup in {"stop", "comma"} else found.start()
        if at > start and _is_boundary(words, start, found):
            yield from _bounded(words, start, at)
            start = at
    if start < len(words):
        yield from _bounded(words, start, len(words))


def _is_boundary(words: str, start: int, found: re.Match[str]) -> bool:
    if found.lastgroup == "stop":
        return _DECIMAL.match(words, found.start()) is None
    if found.lastgroup == "contrast":
        return True
    # "Most days, I feel tired" and "when I was young, I slept" are one statement each.
    piece = words[start : min(found.start(), start + _WINDOW)]
    return _HAS_SUBJECT.search(piece) is not None and _SUBORDINATE.match(piece) is None


def _bounded(words: str, start: int, end: int) -> Iterator[Clause]:
    while end - start > _WINDOW:
        space = words.rfind(" ", start + _WINDOW // 2, start + _WINDOW)
        at = start + _WINDOW if space < 0 else space
        yield Clause(start=start, end=at)
        start = at
    yield Clause(start=start, end=end)
