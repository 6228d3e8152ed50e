"""Tells by its first bytes whether a table of a folder holds labels or an interview."""

import codecs
import csv
import re
from collections.abc import Iterator
from enum import Enum, auto
from pathlib import Path
from typing import Final

from ai_psychiatrist.evaluation.datasets.labels import names_labels
from ai_psychiatrist.evaluation.datasets.texts import beginning_of
from ai_psychiatrist.services.transcripts.encoding import decode_text
from ai_psychiatrist.services.transcripts.formats.tables import Meaning, meaning_of
from ai_psychiatrist.services.transcripts.utterances import FileRefused

_SEPARATORS: Final = (",", "\t", ";")
_SENTENCE: Final = re.compile(r"[^\W\d_]+[^\S\r\n]+[^\W\d_]+[^\S\r\n]+[^\W\d_]+")


class TableContent(Enum):
    """What a table holds."""

    LABELS = auto()
    TRANSCRIPT = auto()
    """Or what cannot be read, and may be one."""
    OTHER = auto()
    """Neither, and no sentence at its beginning."""


def content_of_table(path: Path) -> TableContent:
    """Tell labels from a transcript."""
    text = _beginning(path)
    try:
        for _, names in possible_headers(next(iter(text.splitlines()), "")):
            if Meaning.WORDS in map(meaning_of, names):
                return TableContent.TRANSCRIPT
            if names_labels(names):
                return TableContent.LABELS
    except csv.Error:
        pass
    may_be_interview = not text.strip() or _SENTENCE.search(text)
    return TableContent.TRANSCRIPT if may_be_interview else TableContent.OTHER


def possible_headers(line: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the signs that may separate the columns of a line, each with the columns it makes.

    Raises `csv.Error` for a line of which no columns can be made.
    """
    for separator in _SEPARATORS:
        names = next(csv.reader([line], delimiter=separator), [])
        if len(names) > 1:
            yield separator, names


def _beginning(path: Path) -> str:
    """Decode the first bytes, of which the last ones may be a part of a character."""
    beginning = beginning_of(path)
    if b"\x00" not in beginning:
        try:
            return codecs.getincrementaldecoder("utf-8-sig")().decode(beginning)
        except UnicodeDecodeError:
            pass
    try:
        return decode_text(beginning[: len(beginning) // 2 * 2]).text
    except FileRefused:
        return ""
