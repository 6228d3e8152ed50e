"""Label files: separated values under many headers, several of them for one unit."""

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.datasets.identifiers import identifier_of
from ai_psychiatrist.evaluation.datasets.labels import checked_labels, label_columns, merged
from ai_psychiatrist.evaluation.datasets.oddities import Oddity, OddityCode
from ai_psychiatrist.evaluation.datasets.table_headers import possible_headers

_SPLIT: Final = re.compile(r"train|dev|test")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRow:
    """One row of a label file."""

    unit_id: str
    participant: str | None
    """Who spoke, where the file says it beside the unit."""
    split: str | None
    scores: Mapping[str, str]
    """By the names of `label_columns`; a name is absent where the row ends before its column."""
    is_broken: bool
    """Whether it has more columns than the header."""


def read_label_file(
    content: bytes, *, where: str, unit_id: Callable[[str], str]
) -> tuple[list[LabelRow], list[Oddity]]:
    """Read the rows of one file, and what is odd about them.

    `unit_id` gives an identifier its one spelling, "" for none. Raises `InputError` for a file that
    is no table with identifiers, and for two columns of one meaning.
    """
    lines = _text(content, where).splitlines()
    rows: list[LabelRow] = []
    odd: dict[OddityCode, list[int]] = {}
    seen: set[str] = set()
    try:
        separator, columns = _columns(lines[0] if lines else "", where)
        reader = csv.reader(lines, delimiter=separator)
        width = len(next(reader))
        for cells in reader:
            row = _row(cells, columns, width=width, where=where, unit_id=unit_id)
            if row is not None:
                rows.append(row)
                if row.unit_id in seen:
                    odd.setdefault(OddityCode.ROW_REPEATED, []).append(reader.line_num)
                seen.add(row.unit_id)
            elif any(cell.strip() for cell in cells):
                odd.setdefault(OddityCode.ROW_WITHOUT_ID, []).append(reader.line_num)
    except csv.Error:
        msg = f"the label file {where!r} is no table of separated values"
        raise InputError(msg, field=where) from None
    return rows, [
        Oddity(where=where, code=code, line=at[0], count=len(at)) for code, at in odd.items()
    ]


def labels_of(rows: Sequence[LabelRow]) -> tuple[Labels | None, list[OddityCode]]:
    """Join what several rows say about one unit; a contradiction is never resolved."""
    if any(row.is_broken for row in rows):
        return None, [OddityCode.ROW_BROKEN]
    scores = merged(row.scores for row in rows)
    return (None, [OddityCode.LABELS_DIFFER]) if scores is None else checked_labels(scores)


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


def _columns(header: str, where: str) -> tuple[str, dict[str, int]]:
    """Return the separator under which a column of identifiers appears, and the columns."""
    for separator, names in possible_headers(header):
        columns = label_columns(names, where=where)
        if "unit_id" in columns:
            return separator, columns
    raise InputError(f"{where} has no column 'unit_id' with the names of the files", field=where)


def _row(
    cells: Sequence[str],
    columns: Mapping[str, int],
    *,
    width: int,
    where: str,
    unit_id: Callable[[str], str],
) -> LabelRow | None:
    """Return a row, `None` for one that names no unit."""
    scores = {name: cells[at].strip() for name, at in columns.items() if at < len(cells)}
    identifier = identifier_of(unit_id(scores.pop("unit_id", "")))
    if identifier is None:
        return None
    return LabelRow(
        unit_id=identifier,
        participant=identifier_of(scores.pop("participant", "")),
        split=split_of(scores.pop("split", "")) or split_of(where),
        scores=scores,
        is_broken=any(cell.strip() for cell in cells[width:]),
    )


def split_of(name: str) -> str | None:
    """Return the split that a file's or a cell's name says; `None` for none and for several."""
    named = set(_SPLIT.findall(name.rpartition("/")[2].casefold()))
    return named.pop() if len(named) == 1 else None
