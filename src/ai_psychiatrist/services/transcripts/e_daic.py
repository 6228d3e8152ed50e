"""Rows of an E-DAIC transcript file: the participant's words as a recogniser wrote them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.evaluation.datasets.lines import Line
from ai_psychiatrist.evaluation.datasets.oddities import OddityCode
from ai_psychiatrist.services.daic_woz import (
    FileFault,
    RowsUnreadable,
    without_personal_details,
)

_SEPARATOR: Final = re.compile(r"[,\t;]")
_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_COLUMNS: Final = (
    ["start_time", "end_time", "text"],
    ["start_time", "end_time", "text", "confidence"],
)
_TIME: Final = r' *"?\d+(?:\.\d+)?"? *'
_CONFIDENCE: Final = re.compile(r'(?:"?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"?)?')


@dataclass(frozen=True, slots=True, kw_only=True)
class RecognisedSpeech:
    """The lines of one session, and what is odd with the line where it first is."""

    lines: tuple[Line, ...]
    found: tuple[tuple[OddityCode, int | None], ...]


def is_e_daic(content: str) -> bool:
    """Tell by the header whether a file has this form, whatever separates its columns."""
    return _separator(content) is not None


def read_recognised(content: str) -> RecognisedSpeech:
    """Read the rows; a row starts with two times, and any other line continues the words before.

    A lone quote mark is speech: rows are not parted by the rules of quoting, which would swallow
    what follows. Raises `RowsUnreadable` for another header and for words before the first row.
    """
    separator = _separator(content)
    if separator is None:
        raise RowsUnreadable(FileFault.WRONG_HEADER, 1)
    found: list[tuple[OddityCode, int | None]] = []
    has_confidence = "confidence" in _LINE_END.split(content, 1)[0].casefold()
    rows = _rows(content, separator, has_confidence=has_confidence)
    lines = tuple(_lines(rows, separator, found))
    if not lines:
        raise RowsUnreadable(FileFault.NO_WORDS)
    return RecognisedSpeech(lines=lines, found=tuple(found))


def _separator(content: str) -> str | None:
    header = _LINE_END.split(content, 1)[0]
    first = _SEPARATOR.search(header)
    if first is None:
        return None
    names = [name.strip().strip('"').casefold() for name in header.split(first[0])]
    return first[0] if names in _COLUMNS else None


def _rows(content: str, separator: str, *, has_confidence: bool) -> Iterator[tuple[int, str]]:
    """Yield (line number, the text column as written)."""
    times = re.compile(f"{_TIME}{separator}{_TIME}{separator}")
    ending = separator if has_confidence else None
    started: list[str] = []
    first_line = 0
    for number, line in enumerate(_LINE_END.split(content)[1:], start=2):
        match = times.match(line)
        if match is None and line.strip() and not started:
            raise RowsUnreadable(FileFault.BROKEN_ROW, number)
        if match is None:
            started += [line] if started else []
            continue
        if started:
            yield first_line, _words_column("\n".join(started), ending, first_line)
        started, first_line = [line[match.end() :]], number
    if started:
        yield first_line, _words_column("\n".join(started), ending, first_line)


def _words_column(row: str, separator: str | None, number: int) -> str:
    """Cut off what stands behind the last separator, if there is a column of confidence."""
    if separator is None:
        return row.strip()
    words, found, confidence = row.rpartition(separator)
    if not found or not _CONFIDENCE.fullmatch(confidence.strip()):
        raise RowsUnreadable(FileFault.BROKEN_ROW, number)
    return words.strip()


def _lines(
    rows: Iterator[tuple[int, str]], separator: str, found: list[tuple[OddityCode, int | None]]
) -> Iterator[Line]:
    for number, written in rows:
        is_quoted = len(written) > 1 and written[0] == written[-1] == '"'
        if not is_quoted and separator in written:
            found.append((OddityCode.UNQUOTED_SEPARATOR, number))
        words = written[1:-1].replace('""', '"') if is_quoted else written
        words = " ".join(words.split())
        scrubbed = without_personal_details(words)
        if not words:
            found.append((OddityCode.BLANK_WORDS, number))
        elif scrubbed != words:
            found.append((OddityCode.SCRUBBED, number))
        if scrubbed:
            yield Line(speaker=Speaker.PARTICIPANT, words=scrubbed)
