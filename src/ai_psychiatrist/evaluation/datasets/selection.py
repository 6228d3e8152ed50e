"""Some of a dataset's units: a split of its own or of a file, and those with all item scores."""

import csv
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.dataset import Dataset, Unit
from ai_psychiatrist.evaluation.datasets.label_tables import headers_of
from ai_psychiatrist.evaluation.datasets.names import identifier_of
from ai_psychiatrist.evaluation.datasets.texts import content_of
from ai_psychiatrist.services.transcripts.encoding import decode_text
from ai_psychiatrist.services.transcripts.utterances import FileRefused

_FIELD: Final = "--split"
_DIGEST_LENGTH: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which units are wanted; all of them, when nothing is said."""

    split: str | None = None
    """A file of participants, one a line, or the name of a split of the dataset."""
    has_items: bool = False
    """Whether only units count of which all eight items are known."""


def selected(dataset: Dataset, selection: Selection) -> Dataset:
    """Return the dataset with the wanted units alone; its digest stays that of all files.

    Raises `InputError` for a split that the dataset does not have, for a file that names
    participants who are not in it, and where no unit is left.
    """
    if selection == Selection():
        return dataset
    wanted = units_of_split(dataset.units, selection.split)
    units = tuple(
        unit
        for unit in dataset.units
        if unit.unit_id in wanted
        and (not selection.has_items or (unit.labels is not None and unit.labels.has_all_items))
    )
    if not units:
        raise InputError("no unit is left of the dataset", field=_FIELD)
    ids = "\0".join(unit.unit_id for unit in units)
    digest = hashlib.sha256(ids.encode()).hexdigest()[:_DIGEST_LENGTH]
    return replace(dataset, units=units, selection=digest)


def units_of_split(units: Sequence[Unit], split: str | None) -> set[str]:
    """Return the identifiers of the units of a split, of all without one.

    Raises `InputError` as `selected` does.
    """
    if split is None:
        return {unit.unit_id for unit in units}
    path = Path(split)
    if path.is_file():
        return _of_file(units, _participants(path))
    names = sorted({unit.split for unit in units if unit.split is not None})
    if split not in names:
        known = f"the dataset's splits are {', '.join(names)}" if names else "the dataset has none"
        raise InputError(f"{split!r} is no file and no split: {known}", field=_FIELD)
    return {unit.unit_id for unit in units if unit.split == split}


def _of_file(units: Iterable[Unit], participants: set[str]) -> set[str]:
    names: Mapping[str, set[str]] = {
        unit.unit_id: {unit.unit_id, str(unit.participant_id)} for unit in units
    }
    known = set().union(*names.values())
    missing = participants - known
    if missing:
        msg = (
            f"{len(missing)} of the {len(participants)} participants in the file of the split are "
            "not among the units"
        )
        raise InputError(msg, field=_FIELD)
    return {unit_id for unit_id, called in names.items() if called & participants}


def _participants(path: Path) -> set[str]:
    """Read the first column; a header is known by its end, as in `Participant_ID`."""
    try:
        lines = decode_text(content_of(path)).text.splitlines()
        header = next(headers_of(lines[0] if lines else ""), None)
        separator = "," if header is None else header.separator
        cells = [row[0] for row in csv.reader(lines, delimiter=separator) if row]
    except (FileRefused, csv.Error):
        raise InputError(f"{path.name!r} is no list of participants", field=_FIELD) from None
    if cells and cells[0].strip().casefold().endswith("id"):
        cells = cells[1:]
    found = {name for name in map(identifier_of, cells) if name is not None}
    if not found:
        raise InputError(f"{path.name!r} names no participant", field=_FIELD)
    return found
