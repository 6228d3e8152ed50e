"""The units of a run: whose they are, their part of the dataset, and a digest of what was read."""

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from operator import itemgetter
from pathlib import Path
from types import NoneType
from typing import Annotated, ClassVar, Final

import orjson
from pydantic import ConfigDict, Field, TypeAdapter

from ai_psychiatrist.evaluation.scores.record_lines import numbered_lines, records_by_unit
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


def read_participants(path: Path) -> dict[str, str]:
    """Read whose each unit is, of those of which the dataset says it; raises as `read_units` does.

    Quickly where all lines are as we write them: without an object for each.
    """
    try:
        return _participants(path) if path.exists() else {}
    except (KeyError, TypeError, ValueError):
        units = read_units(path)
    return {
        unit_id: str(unit.participant_id)
        for unit_id, unit in units.items()
        if unit.participant_id is not None
    }


def _participants(path: Path) -> dict[str, str]:
    found: dict[str, str | None] = {}
    count = 0
    for _, line in numbered_lines(path, field=_FIELD):
        unit_id, participant, split, digest = _of_line(record := orjson.loads(line))
        is_ours = len(record) == len(_TYPES) and unit_id != ""
        kinds = type(unit_id), type(participant), type(split), type(digest)
        if not (is_ours and all(one in known for one, known in zip(kinds, _TYPES, strict=True))):
            raise ValueError
        count += 1
        found[unit_id] = None if participant is None else str(participant)
    if count != len(found):
        raise ValueError
    return {unit_id: owner for unit_id, owner in found.items() if owner is not None}


_of_line = itemgetter("unit_id", "participant_id", "split", "text_digest")
_TYPES: Final[tuple[set[type], ...]] = (
    {str},
    {int, str, NoneType},
    {str, NoneType},
    {str, NoneType},
)


@cache
def _adapter() -> TypeAdapter[RunUnit]:
    return TypeAdapter(RunUnit)
