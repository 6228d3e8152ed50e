"""What is known of a run's units beside its predictions, so that its figures need no dataset."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, ClassVar, Final

import orjson
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from ai_psychiatrist.domain.phq8 import MAX_TOTAL_SCORE, Item
from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.prediction import ItemScore
from ai_psychiatrist.evaluation.record_lines import complaint_of, line_error, numbered_lines
from ai_psychiatrist.infrastructure.private_files import write_whole

_FIELD: Final = "labels"
_NO_LABELS: Final = Labels(items={}, total=None, binary=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """One unit's labels as they are written."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)

    unit_id: Annotated[str, Field(min_length=1)]
    items: dict[Item, ItemScore | None]
    total: Annotated[int, Field(ge=0, le=MAX_TOTAL_SCORE)] | None
    binary: bool | None
    is_recovered: bool
    second_items: dict[Item, ItemScore | None] = field(default_factory=dict)
    participant: str | None = None


def write_labels(
    path: Path, labels: Mapping[str, Labels], participants: Mapping[str, str] | None = None
) -> None:
    """Write one JSON line for each unit, in the order of the ids, for the owner's eyes alone."""
    owners = participants or {}
    units = sorted(labels.keys() | owners.keys())
    lines = (_to_line(unit, labels.get(unit, _NO_LABELS), owners.get(unit)) for unit in units)
    write_whole(path, lines)


def read_labels(path: Path) -> dict[str, Labels]:
    """Read labels by unit id.

    Raises `InputError` that names the line and the field when one is missing, unknown, of another
    type or out of range, or when a unit comes twice.
    """
    return {
        unit_id: Labels(
            items=record.items,
            total=record.total,
            binary=record.binary,
            is_recovered=record.is_recovered,
            second_items=record.second_items,
        )
        for unit_id, record in _records(path).items()
    }


def read_participants(path: Path) -> dict[str, str]:
    """Read whose each unit is, of those of which the dataset says it; raises as `read_labels`."""
    records = _records(path).items()
    return {at: record.participant for at, record in records if record.participant is not None}


def _records(path: Path) -> dict[str, _Line]:
    records: dict[str, _Line] = {}
    for number, line in numbered_lines(path, field=_FIELD):
        record = _parse(line, number)
        if record.unit_id in records:
            raise line_error(number, "repeats a unit", field=_FIELD)
        records[record.unit_id] = record
    return records


def _to_line(unit: str, labels: Labels, participant: str | None) -> bytes:
    record = {
        "unit_id": unit,
        "items": {item.value: score for item, score in labels.items.items()},
        "second_items": {item.value: score for item, score in labels.second_items.items()},
        "total": labels.total,
        "binary": labels.binary,
        "is_recovered": labels.is_recovered,
        "participant": participant,
    }
    return orjson.dumps(record, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def _parse(line: bytes, number: int) -> _Line:
    try:
        return _adapter().validate_json(line)
    except ValidationError as error:
        complaint = complaint_of(error, known=_KEYS)
        raise line_error(number, complaint, field=_FIELD) from None


_KEYS: Final = frozenset(_Line.__dataclass_fields__) | frozenset(Item)


@cache
def _adapter() -> TypeAdapter[_Line]:
    return TypeAdapter(_Line)
