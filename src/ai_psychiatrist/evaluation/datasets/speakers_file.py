"""Reads `speakers.csv`: whose label is whose, for one file of a folder or for all of them."""

import csv
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.evaluation.datasets.label_tables import headers_of
from ai_psychiatrist.evaluation.datasets.names import SPEAKERS_FILE, UnitNames
from ai_psychiatrist.evaluation.datasets.texts import UnitRoles
from ai_psychiatrist.services.transcripts.encoding import decode_text
from ai_psychiatrist.services.transcripts.speaker_labels import given_roles, label_key
from ai_psychiatrist.services.transcripts.utterances import FileRefused

_COLUMNS: Final = ("file", "label", "role")
_EVERY_FILE: Final = frozenset({"", "*"})


def read_speakers(content: bytes, units: UnitNames) -> Mapping[str, UnitRoles]:
    """Return the roles of each unit.

    Raises `InputError`, naming the line, for a row that cannot be used.
    """
    roles: dict[str | None, dict[str, tuple[str, Speaker]]] = {}
    first_lines: dict[tuple[str | None, str], int] = {}
    for line, (file, label, role) in _rows(content):
        unit_id = None if file in _EVERY_FILE else units.of_file(file)
        if unit_id is None and file not in _EVERY_FILE:
            raise _broken(line, "no transcript of the folder has the name in its column file")
        (given,) = given_roles({label: role}, field=f"{SPEAKERS_FILE}, line {line}")
        key = label_key(label)
        first_line = first_lines.setdefault((unit_id, key), line)
        if roles.setdefault(unit_id, {}).setdefault(key, given)[1] is not given[1]:
            raise _broken(line, f"the label has another role in line {first_line}")
    shared = roles.get(None, {})
    found = {}
    for unit_id in units.files:
        own = roles.get(unit_id, {})
        others = tuple(role for key, role in shared.items() if key not in own)
        found[unit_id] = UnitRoles(own=tuple(own.values()), shared=others)
    return found


def _rows(content: bytes) -> Iterator[tuple[int, list[str]]]:
    """Yield each row's line and its three columns."""
    try:
        lines = decode_text(content).text.splitlines()
    except FileRefused:
        msg = f"{SPEAKERS_FILE} is not text; save it as CSV in UTF-8"
        raise InputError(msg, field=SPEAKERS_FILE) from None
    separator, header = _header(lines[0] if lines else "")
    reader = csv.reader(lines, delimiter=separator, strict=True)
    try:
        width = len(next(reader))
        for cells in reader:
            if any(cell.strip() for cell in cells):
                if len(cells) != width:
                    raise _broken(reader.line_num, "it has other columns than the header")
                row = [cells[header.index(column)].strip() for column in _COLUMNS]
                yield reader.line_num, row
    except csv.Error:
        raise _broken(reader.line_num, "it is no row of separated values") from None


def _header(line: str) -> tuple[str, list[str]]:
    with suppress(csv.Error):
        for header in headers_of(line):
            names = [column.strip().strip('"').casefold() for column in header.names]
            if all(names.count(column) == 1 for column in _COLUMNS):
                return header.separator, names
    raise _broken(1, f"the header has to be {','.join(_COLUMNS)}")


def _broken(line: int, reason: str) -> InputError:
    return InputError(f"{SPEAKERS_FILE}, line {line}: {reason}", field=SPEAKERS_FILE)
