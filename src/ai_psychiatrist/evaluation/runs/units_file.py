"""The units of a run with digests of what was read, and their labels: figures need no dataset."""

import hashlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Final

import orjson
from pydantic import Field, TypeAdapter

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.datasets.dataset import DatasetUnit, Labels, Unit
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder, part_of
from ai_psychiatrist.evaluation.scores.record_lines import StrictRecord, records_by_unit
from ai_psychiatrist.infrastructure.given_files import open_regular
from ai_psychiatrist.infrastructure.private_files import write_whole

_DIGEST_LENGTH: Final = 32
_READ_BYTES: Final = 1 << 20
_KEY: Final = "labels"
_OF_LABELS: Final = tuple(Labels.__dataclass_fields__)
_LINE: Final = orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE


@dataclass(frozen=True, slots=True, kw_only=True)
class RunUnit(StrictRecord, Unit):
    """One unit that a run is asked for."""

    participant_id: int | str | None
    split: str | None
    text_digest: str | None
    """Of the interview as models are shown it; `None` when it cannot be read."""


def text_digest(unit_id: str, text: str) -> str:
    """Return 32 hex digits of SHA-256; under no key, because two runs are to have the same."""
    content = f"{unit_id}\0{text}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(content).hexdigest()[:_DIGEST_LENGTH]


def write_units(path: Path, units: Iterable[RunUnit]) -> None:
    """Write one JSON line for each unit, for the owner's eyes alone."""
    write_whole(path, (orjson.dumps(asdict(unit), option=_LINE) for unit in units))


def read_units(path: Path) -> dict[str, RunUnit]:
    """Read the units by id; a run of an earlier version has none.

    Raises `InputError` as `records_by_unit` does.
    """
    if not path.exists():
        return {}
    known = frozenset(RunUnit.__dataclass_fields__)
    return records_by_unit(path, TypeAdapter(RunUnit), known=known, field="units")


def participants_of(units: Mapping[str, RunUnit]) -> dict[str, str]:
    """Return whose each unit is, where the dataset says it."""
    return {
        unit_id: str(unit.participant_id)
        for unit_id, unit in units.items()
        if unit.participant_id is not None
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _LabelsLine(StrictRecord, Labels):
    """One unit's labels as they are written."""

    unit_id: Annotated[str, Field(min_length=1)]
    is_recovered: bool


def write_labels(path: Path, labels: Mapping[str, Labels]) -> None:
    """Write one JSON line for each unit, in the order of the ids, for the owner's eyes alone."""
    write_whole(path, (_labels_line(unit, labels[unit]) for unit in sorted(labels)))


def _labels_line(unit: str, labels: Labels) -> bytes:
    record = {"unit_id": unit, **asdict(labels)}
    if not labels.columns:
        del record["columns"]
    return orjson.dumps(record, option=_LINE | orjson.OPT_NON_STR_KEYS)


def read_labels(path: Path) -> dict[str, Labels]:
    """Read labels by unit id. Raises `InputError` as `records_by_unit` does."""
    known = frozenset({"unit_id", *_OF_LABELS, *Item})
    records = records_by_unit(path, TypeAdapter(_LabelsLine), known=known, field=_KEY)
    return {
        unit_id: Labels(**{name: getattr(record, name) for name in _OF_LABELS})
        for unit_id, record in records.items()
    }


def keep_labels(
    folder: RunFolder, record: Mapping[str, object], labels: Mapping[str, Labels], digest: str
) -> dict[str, object]:
    """Write labels, and return the record of the run with their digests.

    `digest`: of the label files that they were read from, "" where there are none.
    """
    write_labels(folder.labels, labels)
    kept = {"digest": digest, "kept_digest": _digest_of(folder), "units": len(labels)}
    return dict(record) | {_KEY: kept}


def labels_digest_of(record: Mapping[str, object]) -> str:
    """Return the digest of the label files that a run's labels were read from, "" for none."""
    return str(part_of(record, _KEY).get("digest", ""))


def require_no_label_lost(folder: RunFolder, units: Iterable[DatasetUnit]) -> None:
    """Raise `InputError` where units of a dataset had labels when the run was begun, and have none.

    What the run keeps is compared as far as it can be read.
    """
    kept: Mapping[str, Labels] = {}
    with suppress(InputError):
        kept = read_labels(folder.labels) if folder.labels.exists() else kept
    lost = sum(unit.labels is None and unit.unit_id in kept for unit in units)
    if lost:
        msg = (
            f"{lost} of the {len(kept)} interviews that had labels have none now: restore the "
            "label files, give the options that they were read with, or continue without these "
            "labels with --accept-changed"
        )
        raise InputError(msg, field="labels")


def read_kept_labels(folder: RunFolder) -> dict[str, Labels]:
    """Read the labels that a run keeps; raises `InputError` as `require_kept_labels`."""
    require_kept_labels(folder)
    return read_labels(folder.labels)


def require_kept_labels(folder: RunFolder) -> None:
    """Raise `InputError` for labels that are not as the run wrote them."""
    known = part_of(folder.require_run(), _KEY).get("kept_digest")
    if known is not None and folder.labels.exists() and _digest_of(folder) != known:
        msg = (
            f"{folder.labels} is not as the run wrote it: to measure with corrected labels, give "
            "them by --labels FILE; --resume writes those of the dataset again"
        )
        raise InputError(msg, field="labels")


def _digest_of(folder: RunFolder) -> str:
    digest = hashlib.sha256()
    with open_regular(folder.labels) as file:
        while part := file.read(_READ_BYTES):
            digest.update(part)
    return digest.hexdigest()
