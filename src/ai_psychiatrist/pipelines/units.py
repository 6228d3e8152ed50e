"""The units of a run: made of the pipeline's items, or read from a file of lines."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import ConfigurationError, InputError
from ai_psychiatrist.validation.checks.host_fields import SET_ASIDE, UNIT_ID
from ai_psychiatrist.validation.checks.step_validator import DEFAULT_LIMITS
from ai_psychiatrist.validation.config.document import read_document
from ai_psychiatrist.validation.config.pipeline_file import Items, Processing
from ai_psychiatrist.validation.config.problem import unusable_file
from ai_psychiatrist.validation.jsonl.context import read_contexts
from ai_psychiatrist.validation.jsonl.unit import unit_id_of

_REPETITION: Final = "{}__rep{:04d}"
"""How the id of a repeated unit ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredUnit:
    """What the first step is asked about."""

    unit_id: str
    fields: dict[str, object] = field(repr=False)


def declared_units(processing: Processing, folder: Path) -> Iterator[DeclaredUnit]:
    """Yield the units that a pipeline file declares, each once before any is repeated.

    A unit of a cross product holds the fields of each position's item under the position's name.
    `folder`: where the pipeline file lies. Raises `ConfigurationError` for items that cannot be
    used, and for two units of one id.
    """
    items, positions = processing.items, processing.positions
    if items.source is None:
        msg = "the pipeline declares no units (processing.items.source): name a file with --units"
        raise ConfigurationError(msg)
    document = _read(folder / items.source)
    if processing.strategy == "direct":
        listed = list(_items(document, items, items.key))
    else:
        lists = [list(_items(document, items, position.source_key)) for position in positions]
        names = [position.name for position in positions]
        listed = [_crossed(names, factors) for factors in product(*lists)] if lists else []
    if processing.repeat > 1:
        listed = [
            DeclaredUnit(unit_id=_REPETITION.format(unit.unit_id, number), fields=unit.fields)
            for number in range(1, processing.repeat + 1)
            for unit in listed
        ]
    return _each_once(listed)


def units_in(path: Path) -> Iterator[DeclaredUnit]:
    """Yield the units of a file with one JSON object a line, `unit_id` among its fields.

    Raises `InputError` naming a line that cannot be used.
    """
    if not path.is_file():
        raise InputError("the units are no regular file that can be read", field="--units")
    lines = read_contexts(path, DEFAULT_LIMITS)
    return _each_once(DeclaredUnit(unit_id=line.key, fields=line.context) for line in lines)


def _read(path: Path) -> object:
    document = read_document(path)
    if document.has_errors:
        raise ConfigurationError(unusable_file("items", path.name, document.problems))
    return document.value


def _items(document: object, items: Items, key: str | None) -> Iterator[DeclaredUnit]:
    holder = document if isinstance(document, dict) else {}
    listed = document if key is None else holder.get(key)
    if not isinstance(listed, list):
        where = "" if key is None else f" under {key!r}"
        msg = f"{items.source} holds no list{where}"
        raise ConfigurationError(msg)
    for number, item in enumerate(listed, start=1):
        place = f"{items.source}: item {number}{'' if key is None else f' of {key!r}'}"
        if not isinstance(item, dict):
            msg = f"{place} is no mapping of fields"
            raise ConfigurationError(msg)
        name = unit_id_of({UNIT_ID: item.get(items.name_field)})
        if name is None:
            msg = f"{place} has no {items.name_field!r} that is a text or a whole number"
            raise ConfigurationError(msg)
        try:
            json.dumps(item, allow_nan=False)
        except (TypeError, ValueError):
            msg = f"{place} holds a value that JSON has not, such as a date: write it in quotes"
            raise ConfigurationError(msg) from None
        kept = {inner: value for inner, value in item.items() if inner not in SET_ASIDE}
        yield DeclaredUnit(unit_id=str(name), fields=kept)


def _crossed(names: list[str], factors: tuple[DeclaredUnit, ...]) -> DeclaredUnit:
    return DeclaredUnit(
        unit_id="-".join(factor.unit_id for factor in factors),
        fields={name: factor.fields for name, factor in zip(names, factors, strict=True)},
    )


def _each_once(units: Iterable[DeclaredUnit]) -> Iterator[DeclaredUnit]:
    seen: set[str] = set()
    for unit in units:
        if unit.unit_id in seen:
            msg = f"there are two units {unit.unit_id!r}: an id names one"
            raise ConfigurationError(msg)
        seen.add(unit.unit_id)
        yield unit
    if not seen:
        msg = "there are no units: look at processing.items and positions, or at the file of units"
        raise ConfigurationError(msg)
