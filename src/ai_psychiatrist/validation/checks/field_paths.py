"""Find the places of an answer that a field name of a rule block stands for."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.validation.checks.schema.messages import json_type, missing_field
from ai_psychiatrist.validation.checks.verdict import PathPart

EACH: Final = 0
"""Stands for every item where a path asks a schema, which knows no positions."""

_STEP: Final = re.compile(r"\.?([^.\[\]*$\s][^.\[\]*]*)|\[(\*)\]")


class FieldPlace(NamedTuple):
    """One place of an answer, or the first step towards it that is not there."""

    parts: tuple[PathPart, ...]
    value: object = None
    problem: str | None = None
    """Why there is no value; `None` when there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldPath:
    """A field by name, nested ones as `a.b`, fields of every item of a list as `items[*].score`."""

    name: str
    parts: tuple[PathPart, ...]
    """Keys, and `EACH` for every item."""

    @classmethod
    def parse(cls, name: str) -> "FieldPath":
        """Read a path; raises `ConfigurationError` where it is none."""
        rest = name.removeprefix("$.")
        parts: list[PathPart] = []
        position = 0
        for step in _STEP.finditer(rest):
            if step.start() != position or (position == 0 and step[0][0] in ".["):
                break
            parts.append(EACH if step[2] else step[1])
            position = step.end()
        if position != len(rest) or not parts:
            message = f"{name!r} is no field: write a name, 'a.b' or 'items[*].score'"
            raise ConfigurationError(message)
        return cls(name=name, parts=tuple(parts))

    def places(self, value: object) -> Sequence[FieldPlace]:
        """Return every place that the path stands for in an answer, in the answer's order."""
        if len(self.parts) == 1 and isinstance(value, dict) and self.parts[0] in value:
            return (FieldPlace(self.parts, value[self.parts[0]]),)
        found: list[FieldPlace] = []
        _collect(value, (), self.parts, found)
        return found


def parts_of(field: str) -> tuple[PathPart, ...]:
    """Return the way to a field such as `items[*].score`; a malformed name is one key."""
    try:
        return FieldPath.parse(field).parts
    except ConfigurationError:
        return (field,)


def top_name(field: str) -> str:
    """Return the top-level name of a field such as `items[*].score`."""
    return str(parts_of(field)[0])


def replaced(value: object, parts: Sequence[PathPart], new: object) -> object:
    """Return a copy of a value with another value at one place; what lies aside is shared."""
    if not parts:
        return new
    if isinstance(value, dict):
        return {**value, parts[0]: replaced(value[parts[0]], parts[1:], new)}
    if isinstance(value, list) and isinstance(parts[0], int):
        position = parts[0]
        inner = replaced(value[position], parts[1:], new)
        return [*value[:position], inner, *value[position + 1 :]]
    return value


def _collect(
    value: object, walked: tuple[PathPart, ...], left: tuple[PathPart, ...], found: list[FieldPlace]
) -> None:
    if not left:
        found.append(FieldPlace(walked, value))
        return
    step, rest = left[0], left[1:]
    if isinstance(step, str):
        if isinstance(value, dict) and step in value:
            _collect(value[step], (*walked, step), rest, found)
        else:
            found.append(FieldPlace((*walked, step), None, missing_field(step)))
    elif isinstance(value, list):
        for position, item in enumerate(value):
            _collect(item, (*walked, position), rest, found)
    else:
        found.append(FieldPlace(walked, None, f"expected array, got {json_type(value)}"))
