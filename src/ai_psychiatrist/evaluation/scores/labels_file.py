"""The labels of a run beside its predictions, so that its figures need no dataset."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, ClassVar, Final

import orjson
from pydantic import ConfigDict, Field, TypeAdapter

from ai_psychiatrist.domain.phq8 import MAX_TOTAL_SCORE, Item
from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.scores.prediction import ItemScore
from ai_psychiatrist.evaluation.scores.record_lines import records_by_unit
from ai_psychiatrist.infrastructure.private_files import write_whole

FIELD: Final = "labels"


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
    columns: dict[str, str] = field(default_factory=dict)


def write_labels(path: Path, labels: Mapping[str, Labels]) -> None:
    """Write one JSON line for each unit, in the order of the ids, for the owner's eyes alone."""
    write_whole(path, (_to_line(unit, labels[unit]) for unit in sorted(labels)))


def read_labels(path: Path) -> dict[str, Labels]:
    """Read labels by unit id. Raises `InputError` as `records_by_unit` does."""
    records = records_by_unit(path, _adapter(), known=_KEYS, field=FIELD)
    return {
        unit_id: Labels(
            items=record.items,
            total=record.total,
            binary=record.binary,
            is_recovered=record.is_recovered,
            second_items=record.second_items,
            columns=record.columns,
        )
        for unit_id, record in records.items()
    }


def _to_line(unit: str, labels: Labels) -> bytes:
    record = {
        "unit_id": unit,
        "items": {item.value: score for item, score in labels.items.items()},
        "second_items": {item.value: score for item, score in labels.second_items.items()},
        "total": labels.total,
        "binary": labels.binary,
        "is_recovered": labels.is_recovered,
        **({"columns": dict(labels.columns)} if labels.columns else {}),
    }
    return orjson.dumps(record, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


_KEYS: Final = frozenset(_Line.__dataclass_fields__) | frozenset(Item)


@cache
def _adapter() -> TypeAdapter[_Line]:
    return TypeAdapter(_Line)
