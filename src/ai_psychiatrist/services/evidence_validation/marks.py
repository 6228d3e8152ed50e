"""Marks that a transcriber puts among the words: tags, sounds in brackets, times."""

import re
from collections.abc import Iterator
from typing import Final

from ai_psychiatrist.services.evidence_validation.words import (
    PROTECTED,
    QUANTITIES,
    SOUND_MODIFIERS,
    SOUND_PHRASES,
    SOUNDS,
    STOP_WORDS,
)

_NAME: Final = r"[^\W\d_]\w{0,19}(?:[ -]\w{1,20}){0,4}"
_TIME: Final = r"\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?"
_SPAN: Final = rf"{_TIME}(?:\s?(?:-{{1,2}}>?|–)\s?{_TIME})?"
_CLOCK: Final = r"(?<![\w:.])\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,3})?(?![\w:])"
"""To the second: nobody says it, a tool writes it."""
_MARK: Final = re.compile(
    # A model copies the joiner by which prompts break what could be a control token.
    rf"<\u200d?/?(?P<angle>{_NAME})\s?/?>|\[\u200d?\s?(?P<square>{_NAME})\s?\]"
    rf"|\(\s?(?P<round>{_NAME})\s?\)"
    rf"|<{_SPAN}>|\[{_SPAN}\]|\({_SPAN}\)|{_CLOCK}(?:\s?-{{1,2}}>\s?{_CLOCK})?"
)
_BETWEEN: Final = re.compile(r"[ _-]")
_TIME_OF_DAY: Final = re.compile(r"[<\[(]\d{1,2}:\d{2}[>\])]")


def without_marks(text: str) -> str:
    """Blank out the marks, keeping the length.

    Square and angle brackets hold a mark unless its words could change what is said; round ones
    hold speech unless they name a known sound or a time.
    """
    if ":" not in text and "<" not in text and "[" not in text and "(" not in text:
        return text
    return _MARK.sub(lambda mark: mark[0] if _is_speech(mark) else " " * len(mark[0]), text)


def marks_in(text: str) -> Iterator[str]:
    """Yield the marks of a text as they are written."""
    return (mark[0] for mark in _MARK.finditer(text) if not _is_speech(mark))


def times_of_day_in(text: str) -> Iterator[str]:
    """Yield the marks that may be part of what was said: "(3:15)"."""
    return (mark[0] for mark in _TIME_OF_DAY.finditer(text))


def _is_speech(mark: re.Match[str]) -> bool:
    kind = mark.lastgroup
    if kind is None:
        return False
    name = mark[kind].lower()
    plain = _BETWEEN.sub(" ", name)
    words = set(plain.split())
    if plain in SOUND_PHRASES or (words & SOUNDS and words <= SOUNDS | SOUND_MODIFIERS):
        return False
    if kind == "round" or "-" in name:
        return True
    if not words.isdisjoint(PROTECTED | QUANTITIES) or not PROTECTED.isdisjoint(name):
        return True
    # `<i>` is italics; "[I]" is a word that somebody put in.
    return kind == "square" and words <= STOP_WORDS
