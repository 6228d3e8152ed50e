"""Reads `speakers.csv`: whose label is whose, for one file of a folder or for all of them."""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.evaluation.datasets.file_names import SPEAKERS_FILE
from ai_psychiatrist.evaluation.datasets.unit_transcripts import UnitRoles
from ai_psychiatrist.services.transcripts.encoding import decode
from ai_psychiatrist.services.transcripts.labels import given_roles, label_key
from ai_psychiatrist.services.transcripts.utterances import FileRefused

_COLUMNS: Final = ("file", "label", "role")
_SEPARATORS: Final = ",;\t"
_EVERY_FILE: Final = frozenset({"", "*"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    line: int
    unit_id: str | None
    """`None` for every unit."""
    label: str = field(repr=False)
    speaker: Speaker


def read_speakers(
    content: bytes, units: Sequence[str], *, unit_of: Callable[[str], str | None]
) -> Mapping[str, UnitRoles]:
    """Return the roles of each unit; `unit_of` finds the unit of a file by its name.

    Raises `InputError`, naming the line, for a row that cannot be used.
    """
    roles: dict[str | None, dict[str, _Row]] = {}
    for row in _rows(_lines(content), unit_of):
        before = roles.setdefault(row.unit_id, {}).setdefault(label_key(row.label), row)
        if before.speaker is not row.speaker:
            raise _broken(row.line, f"the label has another role in line {before.line}")
    shared = roles.get(None, {})
    found = {}
    for unit_id in units:
        own = roles.get(unit_id, {})
        found[unit_id] = UnitRoles(
            own=tuple((row.label, row.speaker) for row in own.values()),
            shared=tuple((row.label, row.speaker) for key, row in shared.items() if key not in own),
        )
    return found


def _rows(lines: Sequence[str], unit_of: Callable[[str], str | None]) -> Iterator[_Row]:
    separator, places = _columns(lines[0] if lines else "")
    reader = csv.reader(lines, delimiter=separator, strict=True)
    try:
        width = len(next(reader))
        for cells in reader:
            if any(cell.strip() for cell in cells):
                if len(cells) != width:
                    raise _broken(reader.line_num, "it has other columns than the header")
                yield _row([cells[at].strip() for at in places], reader.line_num, unit_of)
    except csv.Error:
        raise _broken(reader.line_num, "it is no row of separated values") from None


def _row(cells: Sequence[str], line: int, unit_of: Callable[[str], str | None]) -> _Row:
    file, label, role = cells
    unit_id = None if file in _EVERY_FILE else unit_of(file)
    if unit_id is None and file not in _EVERY_FILE:
        raise _broken(line, "no transcript of the folder has the name in its column file")
    ((_, speaker),) = given_roles({label: role}, field=f"{SPEAKERS_FILE}, line {line}")
    return _Row(line=line, unit_id=unit_id, label=label, speaker=speaker)


def _columns(header: str) -> tuple[str, list[int]]:
    """Return the separator, and where each column is."""
    for separator in _SEPARATORS:
        names = [name.strip().strip('"').casefold() for name in header.split(separator)]
        if all(names.count(column) == 1 for column in _COLUMNS):
            return separator, [names.index(column) for column in _COLUMNS]
    raise _broken(1, f"the header has to be {','.join(_COLUMNS)}")


def _lines(content: bytes) -> list[str]:
    try:
        return decode(content).text.splitlines()
    except FileRefused:
        msg = f"{SPEAKERS_FILE} is not text; save it as CSV in UTF-8"
        raise InputError(msg, field=SPEAKERS_FILE) from None


def _broken(line: int, reason: str) -> InputError:
    return InputError(f"{SPEAKERS_FILE}, line {line}: {reason}", field=SPEAKERS_FILE)
