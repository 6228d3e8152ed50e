"""Rows of an E-DAIC transcript file: the participant's words as a recogniser wrote them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ai_psychiatrist.services.transcripts.file_lines import MOST_UTTERANCES, lines_of, on_one_line
from ai_psychiatrist.services.transcripts.formats.daic_woz import (
    PARTICIPANT,
    without_personal_details,
)
from ai_psychiatrist.services.transcripts.formats.row_columns import (
    closing_quote,
    is_like_a_time,
    row_header,
    seconds,
    separator_of,
    unquoted,
)
from ai_psychiatrist.services.transcripts.utterances import (
    FileFault,
    FileReading,
    FileRefused,
    Form,
    Noted,
    ReadingNote,
    Utterance,
)

_COLUMNS: Final = ["start_time", "end_time", "text"]
_HEADERS: Final = (_COLUMNS, [*_COLUMNS, "confidence"])


def is_e_daic(text: str) -> bool:
    """Tell by the header whether a file has this form, whatever separates its columns."""
    return separator_of(text, _HEADERS) is not None


def read_e_daic(text: str) -> FileReading:
    """Read the rows; the form has the participant's words only.

    A line begins a row when it has three columns or more and the first two hold a time, a blank,
    or what stands for a missing or unreadable number. Such a line never continues the row before.
    Any other line continues it only inside quotes which open the column of words, and which
    close, before the next row, at the end of that column. A quote mark that does not is speech.
    Raises `FileRefused` for another header, for a line that is neither, for a confidence that is
    no number from 0 to 1, and where nothing is said.
    """
    header = row_header(text)
    if header is None or header[1] not in _HEADERS:
        raise FileRefused(FileFault.WRONG_HEADER, 1)
    columns = _Columns(separator=header[0], has_confidence=header[1] != _COLUMNS)
    notes: list[Noted] = []
    said = tuple(
        utterance
        for row in _rows(lines_of(text), columns)
        if (utterance := _utterance(row, columns, notes)) is not None
    )
    if not said:
        raise FileRefused(FileFault.NO_WORDS)
    return FileReading(form=Form.E_DAIC, utterances=said, notes=tuple(notes))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    line: int
    start: str
    end: str
    words: str = field(repr=False)
    has_loose_separator: bool
    line_count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Columns:
    separator: str
    has_confidence: bool

    def begins_row(self, line: str) -> bool:
        parts = line.split(self.separator, 2)
        return len(parts) == 3 and all(is_like_a_time(part) for part in parts[:2])

    def row(self, lines: Sequence[str], at: int) -> _Row:
        """Read the row that begins at an index of the lines."""
        number = at + 1
        if not self.begins_row(lines[at]):
            raise FileRefused(FileFault.BROKEN_ROW, number)
        start, end, rest = lines[at].split(self.separator, 2)
        row = _Row(line=number, start=start, end=end, words="", has_loose_separator=False)
        quoted = self._quoted(rest, lines, at + 1)
        if quoted is not None:
            return replace(row, words="\n".join(quoted).replace('""', '"'), line_count=len(quoted))
        words = self._loose(rest, number)
        return replace(row, words=words, has_loose_separator=self.separator in words)

    def _quoted(self, rest: str, lines: Sequence[str], following: int) -> list[str] | None:
        """Return the lines of a column in quotes, `None` where its quote mark is speech."""
        if not rest.lstrip(" ").startswith('"'):
            return None
        taken = [rest.lstrip(" ")[1:]]
        while (close := closing_quote(taken[-1])) is None:
            if following == len(lines) or self.begins_row(lines[following]):
                return None
            taken.append(lines[following])
            following += 1
        ending, taken[-1] = taken[-1][close + 1 :], taken[-1][:close]
        return taken if self._is_end(ending) else None

    def _is_end(self, ending: str) -> bool:
        if not self.has_confidence:
            return not ending.strip()
        blank, found, confidence = ending.partition(self.separator)
        return not blank.strip() and bool(found) and _is_confidence(confidence, self.separator)

    def _loose(self, rest: str, number: int) -> str:
        """Return the words of a column without quotes; separators in it are words."""
        if not self.has_confidence:
            return rest
        words, found, confidence = rest.rpartition(self.separator)
        if not found or not _is_confidence(confidence, self.separator):
            raise FileRefused(FileFault.BROKEN_ROW, number)
        return words


def _is_confidence(column: str, separator: str) -> bool:
    """Tell a confidence, which may be blank, from words that end in a number."""
    value = seconds(column, separator)
    return value <= 1 if value is not None else not unquoted(column)


def _rows(lines: Sequence[str], columns: _Columns) -> Iterator[_Row]:
    at, count = 1, 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        row = columns.row(lines, at)
        yield row
        at += row.line_count
        count += 1
        if count > MOST_UTTERANCES:
            raise FileRefused(FileFault.TOO_LARGE, at)


def _utterance(row: _Row, columns: _Columns, notes: list[Noted]) -> Utterance | None:
    words = on_one_line(row.words)
    scrubbed = without_personal_details(words)
    start, end = (seconds(time, columns.separator) for time in (row.start, row.end))
    odd = {
        ReadingNote.UNQUOTED_SEPARATOR: row.has_loose_separator,
        ReadingNote.BLANK_WORDS: not words,
        ReadingNote.SCRUBBED: scrubbed != words,
        ReadingNote.TIME_UNREADABLE: start is None or end is None,
    }
    notes += (Noted(note=note, line=row.line) for note, is_so in odd.items() if is_so)
    if not scrubbed:
        return None
    return Utterance(label=PARTICIPANT, words=scrubbed, start_seconds=start, end_seconds=end)
