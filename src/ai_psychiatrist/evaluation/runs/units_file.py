"""The units of a run: whose they are, their part of the dataset, and a digest of what was read."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, ClassVar, Final

import orjson
from pydantic import ConfigDict, Field, TypeAdapter

from ai_psychiatrist.evaluation.scores.record_lines import records_by_unit
from ai_psychiatrist.infrastructure.private_files import write_whole

_FIELD: Final = "units"
_DIGEST_LENGTH: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class RunUnit:
    """One unit that a run is asked for."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)

    unit_id: Annotated[str, Field(min_length=1)]
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
    option = orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    write_whole(path, (orjson.dumps(asdict(unit), option=option) for unit in units))


def read_units(path: Path) -> dict[str, RunUnit]:
    """Read the units by id; a run of an earlier version has none.

    Raises `InputError` as `records_by_unit` does.
    """
    if not path.exists():
        return {}
    known = frozenset(RunUnit.__dataclass_fields__)
    return records_by_unit(path, _adapter(), known=known, field=_FIELD)


def participants_of(units: Mapping[str, RunUnit]) -> dict[str, str]:
    """Return whose each unit is, where the dataset says it."""
    return {
        unit_id: str(unit.participant_id)
        for unit_id, unit in units.items()
        if unit.participant_id is not None
    }


@cache
def _adapter() -> TypeAdapter[RunUnit]:
    return TypeAdapter(RunUnit)
