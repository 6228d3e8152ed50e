"""Rows as JSON lines or CSV, one at a time: a file of any length needs no more memory."""

import csv
import io
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final, TypeAlias

import orjson

Cell: TypeAlias = str | int | float | bool | Sequence[str] | None
Row: TypeAlias = Mapping[str, Cell]

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "＝", "＋", "－", "＠")
"""What a spreadsheet takes for the beginning of a formula, or skips before one."""
_SKIPPED: Final = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf"})
"""Blanks and characters that are not seen: some programs take them away when they read."""
_QUOTED: Final = "'"


class TableFormat(StrEnum):
    """How rows are written."""

    JSONL = "jsonl"
    CSV = "csv"

    @property
    def media_type(self) -> str:
        """What the bytes are, for HTTP."""
        if self is TableFormat.JSONL:
            return "application/jsonl"
        return "text/csv; charset=utf-8; header=present"


def written(
    rows: Iterable[Row], columns: Sequence[str], table_format: TableFormat
) -> Iterator[bytes]:
    """Yield the lines of a table; a CSV has its header also without rows."""
    if table_format is TableFormat.JSONL:
        for row in rows:
            yield jsonl_line(row)
        return
    lines = (csv_line([row[column] for column in columns]) for row in rows)
    # Read before the header is written: where the first row fails there is no file to be misled by.
    first = next(lines, b"")
    yield csv_line(columns) + first
    yield from lines


def jsonl_line(row: Row) -> bytes:
    """Return a row as one line of JSON."""
    return orjson.dumps(dict(row), option=orjson.OPT_APPEND_NEWLINE)


def csv_line(cells: Sequence[Cell]) -> bytes:
    """Return cells as one record of RFC 4180 in UTF-8.

    Texts are inert, and numbers stay numbers.
    """
    line = io.StringIO(newline="")
    csv.writer(line, lineterminator="\r\n").writerow([_cell(cell) for cell in cells])
    return line.getvalue().encode()


def inert(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula.

    One that could be taken for it gets an apostrophe before it, and one that begins with an
    apostrophe another, so that taking one away gives back what was there.
    """
    return f"{_QUOTED}{text}" if _could_begin_a_formula(text) else text


def _cell(cell: Cell) -> str | int | float:
    match cell:
        case None:
            return ""
        case bool():
            return "true" if cell else "false"
        case int() | float():
            return cell
        case str():
            return inert(cell)
        case _:
            return orjson.dumps(list(cell)).decode() if cell else ""


def _could_begin_a_formula(text: str) -> bool:
    if text.startswith((*_FORMULA, _QUOTED)):
        return True
    seen = next((at for at in text if unicodedata.category(at) not in _SKIPPED), "")
    return seen != "" and seen in _FORMULA
