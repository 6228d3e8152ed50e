"""Label files: comma-separated, under many headers, several of them for one unit."""

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.datasets.identifiers import identifier_of
from ai_psychiatrist.evaluation.datasets.labels import (
    LabelColumns,
    RawLabels,
    label_columns,
    merged,
    read_labels,
)
from ai_psychiatrist.evaluation.datasets.oddities import Oddity, OddityCode, tallied

_SPLIT: Final = re.compile(r"train|dev|test")
_SEPARATORS: Final = (",", "\t", ";")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRow:
    """One row of a label file."""

    unit_id: str
    raw: RawLabels
    split: str | None
    line: int
    participant: str | None = None
    """Who spoke, where the file says it beside the unit."""
    is_broken: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelFile:
    """All rows of one file, and what is odd about it."""

    rows: tuple[LabelRow, ...]
    oddities: tuple[Oddity, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitLabels:
    """What all label files together say about one unit."""

    labels: Labels | None
    split: str | None
    oddities: tuple[OddityCode, ...]


def read_label_file(content: bytes, *, where: str, unit_id: Callable[[str], str]) -> LabelFile:
    """Read one file; `unit_id` gives an identifier its one spelling, "" for none.

    Raises `InputError` for a file that is no table and for two columns of one meaning.
    """
    lines = _text(content, where).splitlines()
    try:
        return _read(lines, where, unit_id)
    except csv.Error:
        msg = f"the label file {where!r} is no table of separated values"
        raise InputError(msg, field=where) from None


def _read(lines: Sequence[str], where: str, unit_id: Callable[[str], str]) -> LabelFile:
    separator, columns = _columns(lines[0] if lines else "", where)
    if columns is None:
        oddity = Oddity(where=where, code=OddityCode.NOT_A_LABEL_FILE)
        return LabelFile(rows=(), oddities=(oddity,))
    found: list[tuple[OddityCode, int | None]] = []
    rows = tuple(_rows(lines, separator, columns, found, where=where, unit_id=unit_id))
    return LabelFile(rows=rows, oddities=tuple(tallied(where, found)))


def joined(rows: Sequence[LabelRow]) -> UnitLabels:
    """Join what several rows say about one unit; a contradiction is never resolved."""
    splits = {row.split for row in rows if row.split is not None}
    oddities = [OddityCode.IN_TWO_SPLITS] if len(splits) > 1 else []
    split = min(splits) if len(splits) == 1 else None
    if any(row.is_broken for row in rows):
        return UnitLabels(labels=None, split=split, oddities=(*oddities, OddityCode.ROW_BROKEN))
    raw = merged(row.raw for row in rows)
    if raw is None:
        return UnitLabels(labels=None, split=split, oddities=(*oddities, OddityCode.LABELS_DIFFER))
    reading = read_labels(raw)
    return UnitLabels(labels=reading.labels, split=split, oddities=(*oddities, *reading.oddities))


def _text(content: bytes, where: str) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\x00"
    # UTF-16 of Latin letters is UTF-8 as well, with a NUL beside each.
    if "\x00" in text:
        msg = f"the label file {where!r} is not UTF-8 text; convert it, for example with iconv"
        raise InputError(msg, field=where)
    return text


def _columns(header: str, where: str) -> tuple[str, LabelColumns | None]:
    """Return the separator under which a column of identifiers appears, and the columns."""
    for separator in _SEPARATORS:
        names = next(csv.reader([header], delimiter=separator), [])
        columns = label_columns(names, where=where)
        if columns.unit_id is not None and len(names) > 1:
            return separator, columns
    return ",", None


def _rows(
    lines: Sequence[str],
    separator: str,
    columns: LabelColumns,
    found: list[tuple[OddityCode, int | None]],
    *,
    where: str,
    unit_id: Callable[[str], str],
) -> Iterator[LabelRow]:
    split_of_file = split_of(where)
    seen: set[str] = set()
    reader = csv.reader(lines, delimiter=separator)
    width = len(next(reader))
    for cells in reader:
        if not any(cell.strip() for cell in cells):
            continue
        identifier = identifier_of(unit_id(_cell(cells, columns.unit_id) or ""))
        if identifier is None:
            found.append((OddityCode.ROW_WITHOUT_ID, reader.line_num))
            continue
        if identifier in seen:
            found.append((OddityCode.ROW_REPEATED, reader.line_num))
        seen.add(identifier)
        yield LabelRow(
            unit_id=identifier,
            raw=_raw(cells, columns),
            split=split_of(_cell(cells, columns.split) or "") or split_of_file,
            line=reader.line_num,
            participant=identifier_of(_cell(cells, columns.participant) or ""),
            is_broken=any(cell.strip() for cell in cells[width:]),
        )


def split_of(name: str) -> str | None:
    """Return the split that a file's or a cell's name says; `None` for none and for several."""
    named = set(_SPLIT.findall(name.rpartition("/")[2].casefold()))
    return named.pop() if len(named) == 1 else None


def _raw(cells: Sequence[str], columns: LabelColumns) -> RawLabels:
    return RawLabels(
        items={item: _cell(cells, at) for item, at in columns.items.items()},
        second_items={item: _cell(cells, at) for item, at in columns.second_items.items()},
        total=_cell(cells, columns.total),
        binary=_cell(cells, columns.binary),
    )


def _cell(cells: Sequence[str], at: int | None) -> str | None:
    """Return a cell; `None` for a column that is not there and for a row that ends before it."""
    return cells[at].strip() if at is not None and at < len(cells) else None
