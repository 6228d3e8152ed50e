"""Clauses of spoken English: where one statement ends and the next begins."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from ai_psychiatrist.services.language.remembered import remembered
from ai_psychiatrist.services.language.vocabulary import word_list

_WINDOW: Final = 400
"""How many characters on either side of a span are read, and the length of the longest clause."""

_DECIMAL: Final = re.compile(r"\.(?=\d)")
_STOP: Final = r"(?:[.?!;…。！？]+|\n\s{0,80}\n|\s[-–—]{1,3}\s|—)\s{0,80}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A stretch of a text, in characters; start inclusive, end exclusive."""

    start: int
    end: int


@remembered(256)
def clauses_of(words: str) -> tuple[Clause, ...]:
    """Cut words into clauses that tile them; none is longer than 400 characters."""
    return tuple(_cut(words))


@cache
def _boundary() -> re.Pattern[str]:
    """Return what may end a clause."""
    subject = _any_of("subjects")
    closing = rf"(?!{_any_of('closing_contrasts')}\s{{0,8}}[?.!,])"
    often = rf"(?:{_any_of('how_often')}\s(?:[a-z]{{1,12}}\s){{1,2}})?"
    now = (
        rf"(?:{_any_of('hesitations')},?\s{{1,8}}){{0,2}}{_any_of('now')}"
        rf"(?!\s{_any_of('after_no_now')})\b"
    )
    return re.compile(
        rf"(?P<stop>{_STOP})"
        rf"|\b{_not_after('before_no_contrast')}{closing}(?P<contrast>{_any_of('contrasts')})\b"
        rf"|\b(?P<link>{_any_of('links')})(?=,?\s{{1,8}}(?:{often}{subject}\b|{now}))"
        rf"|(?P<comma>,)(?!\s{{1,8}}{_any_of('parentheses')},)"
        rf"(?=\s{{1,8}}(?:{_any_of('openings')}\s)?{subject}\b)",
        re.IGNORECASE,
    )


def is_asked(clause: str) -> bool:
    """Return whether a clause ends in a question mark."""
    return clause.rstrip(" \t\r\n\"'”’)").endswith("?")


def _cut(words: str) -> Iterator[Clause]:
    start = 0
    for found in _boundary().finditer(words):
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
    return _has_subject().search(piece) is not None and _subordinate().match(piece) is None


def _bounded(words: str, start: int, end: int) -> Iterator[Clause]:
    while end - start > _WINDOW:
        space = words.rfind(" ", start + _WINDOW // 2, start + _WINDOW)
        at = start + _WINDOW if space < 0 else space
        yield Clause(start=start, end=at)
        start = at
    yield Clause(start=start, end=end)


@cache
def _has_subject() -> re.Pattern[str]:
    return re.compile(rf"\b{_any_of('subjects')}\b", re.IGNORECASE)


@cache
def _subordinate() -> re.Pattern[str]:
    return re.compile(rf"\s*(?:{_any_of('leading')}\s)?{_any_of('subordinators')}\b", re.IGNORECASE)


def _any_of(key: str) -> str:
    """Return a pattern of the entries of a list."""
    entries = (re.escape(entry).replace("'", "['’]") for entry in word_list("clauses", key))
    return f"(?:{'|'.join(entries)})"


def _not_after(key: str) -> str:
    return "".join(rf"(?<!{re.escape(word)} )" for word in word_list("clauses", key))
