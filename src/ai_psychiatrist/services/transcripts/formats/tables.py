"""Reads tables whose header names a column of words, parted by commas, tabs or semicolons."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ai_psychiatrist.services.transcripts.file_lines import MOST_UTTERANCES
from ai_psychiatrist.services.transcripts.formats.columns import (
    Columns,
    Meaning,
    columns_of,
    is_of_labels,
    meaning_of,
)
from ai_psychiatrist.services.transcripts.formats.gathering import Gathering, speaker_name
from ai_psychiatrist.services.transcripts.utterances import (
    FileFault,
    FileReading,
    FileRefused,
    Form,
)

_MAY_TELL_SPEAKERS: Final = frozenset({"channel", "id", "segment", "turn"})
_SEPARATORS: Final = "\t;,"
_LONGEST_HEADER: Final = 4_000
_MOST_CELLS_OF_LINE: Final = 10_000
"""Separators within quoted words count as well."""
_FIRST_LINE: Final = re.compile(r"(?:[^\S\r\n]*+[\r\n])*+([^\r\n]*)")
_SECOND_LINE: Final = re.compile(r"(?:[^\S\r\n]*+[\r\n])*+[^\r\n]*[\r\n]++([^\r\n]*)")
_NAME: Final = re.compile(r"\s*(?:(?!\d)[^\s.!?:;,]{1,40}(?:[ .][^\s.!?:;,]{1,40}){0,3}\s*)?")
_LINE_BREAK: Final = re.compile(r"\r\n|\n|\r")
_MILLISECONDS: Final = 1_000
_LONGEST_RECORDING_SECONDS: Final = 36_000
_WHISPER_HEADERS: Final = (["start", "end", "text"], ["start", "end", "speaker", "text"])
_WHOLE: Final = re.compile(r"\d{1,12}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    line: int
    cells: Sequence[str] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The first line of a table."""

    names: Sequence[str]
    separator: str


def header_of(text: str) -> Header | None:
    """Return the first line in its columns, `None` for one that is not parted."""
    line = _FIRST_LINE.match(text)
    first = line[1] if line else ""
    if len(first) > _LONGEST_HEADER:
        return None
    for separator in _SEPARATORS:
        if separator in first:
            try:
                (names,) = csv.reader([first], delimiter=separator, strict=True)
            except (csv.Error, ValueError):
                return None
            return Header(names=names, separator=separator)
    return None


def is_table(text: str, header: Header) -> bool:
    """Tell by its first lines a table of words: names of columns, and a row as wide.

    Raises `FileRefused` for a table that is known, and known to be no transcript.
    """
    if is_of_labels(header.names):
        raise FileRefused(FileFault.UNKNOWN_FORM, 1)
    if not all(map(_NAME.fullmatch, header.names)):
        return False
    meanings = {meaning_of(name) for name in header.names} - {None}
    if Meaning.WORDS not in meanings:
        return False
    row = _SECOND_LINE.match(text)
    is_as_wide = row is not None and row[1].count(header.separator) >= len(header.names) - 1
    return is_as_wide or len(meanings) > 1


def read_table(text: str, header: Header) -> FileReading:
    """Read the rows; quotation marks are read by the rules of CSV.

    Raises `FileRefused` for a row of another width, for quotation marks that do not close or
    close over other rows, for a cell longer than the library's limit and for too many rows.
    """
    columns = columns_of(header.names)
    if columns is None:
        raise FileRefused(FileFault.WRONG_HEADER, 1)
    rows = list(_rows(text, header, columns))[1:]
    columns = _with_speakers(columns, header, rows)
    _refuse_several(rows, columns)
    _refuse_swallowed(rows, columns, header.separator)
    gathering = Gathering(Form.TABLE)
    per_second = _MILLISECONDS if _is_in_milliseconds(rows, columns, header) else 1
    for row in rows:
        label = speaker_name(row.cells[columns.speaker]) if columns.speaker is not None else None
        gathering.add(
            label,
            row.cells[columns.words],
            line=row.line,
            start=_seconds(row, columns.start, gathering, per_second),
            end=_seconds(row, columns.end, gathering, per_second),
        )
    return gathering.reading()


def _rows(text: str, header: Header, columns: Columns) -> Iterator[_Row]:
    """Yield the rows behind the header, but for blank ones."""
    reader = csv.reader(_bounded(text, header.separator), delimiter=header.separator, strict=True)
    line = 1
    try:
        for count, cells in enumerate(reader):
            if count > MOST_UTTERANCES:
                raise FileRefused(FileFault.TOO_LARGE, line)
            if any(cell.strip() for cell in cells):
                if len(cells) != columns.width:
                    raise FileRefused(FileFault.BROKEN_ROW, line)
                yield _Row(line=line, cells=cells)
            line = reader.line_num + 1
    except csv.Error:
        raise FileRefused(FileFault.BROKEN_ROW, line) from None


def _bounded(text: str, separator: str) -> Iterator[str]:
    """Yield the lines; raises `FileRefused` at one of more cells than any table has."""
    for number, line in enumerate(io.StringIO(text, newline=""), start=1):
        if line.count(separator) > _MOST_CELLS_OF_LINE:
            raise FileRefused(FileFault.BROKEN_ROW, number)
        yield line


def _with_speakers(columns: Columns, header: Header, rows: Sequence[_Row]) -> Columns:
    """Take a column of names or channels that recur for that of the speakers, where none is."""
    if columns.speaker is not None:
        return columns
    for at, name in enumerate(header.names):
        values = [row.cells[at].strip() for row in rows]
        is_of_few = 1 < len(set(values)) < len(values) and all(values)
        if name.strip().casefold() in _MAY_TELL_SPEAKERS and is_of_few:
            return replace(columns, speaker=at)
    return columns


def _refuse_several(rows: Sequence[_Row], columns: Columns) -> None:
    if columns.interview is None:
        return
    for row in rows:
        if row.cells[columns.interview].strip() != rows[0].cells[columns.interview].strip():
            raise FileRefused(FileFault.SEVERAL_INTERVIEWS, row.line)


def _refuse_swallowed(rows: Sequence[_Row], columns: Columns, separator: str) -> None:
    """Refuse words of several lines of which one is a row of a speaker in the table.

    A lone quotation mark before it would otherwise give one speaker's words to another.
    """
    at = columns.speaker
    if at is None:
        return
    labels = {row.cells[at].strip() for row in rows}
    for row in rows:
        for line in _LINE_BREAK.split(row.cells[columns.words])[1:]:
            cells = line.split(separator, columns.width - 1)
            if len(cells) == columns.width and cells[at].strip().strip('"') in labels:
                raise FileRefused(FileFault.BROKEN_ROW, row.line)


def _is_in_milliseconds(rows: Sequence[_Row], columns: Columns, header: Header) -> bool:
    """Tell the tables that Whisper writes: whole numbers, and with speakers such as no day has."""
    if [name.strip().casefold() for name in header.names] not in _WHISPER_HEADERS:
        return False
    times = [row.cells[at].strip() for row in rows for at in (columns.start, columns.end) if at]
    if not all(map(_WHOLE.fullmatch, times)):
        return False
    return columns.speaker is None or max(map(int, times)) > _LONGEST_RECORDING_SECONDS


def _seconds(row: _Row, at: int | None, gathering: Gathering, per_second: int) -> float | None:
    if at is None:
        return None
    return gathering.written_seconds(row.cells[at], row.line, per_second=per_second)
