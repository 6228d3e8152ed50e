"""Change one value to the type or spelling that its own schema asks for."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.validation.checks.coercion.changes import CoercionNotes, Parts, Step
from ai_psychiatrist.validation.checks.coercion.choices import Choice, Choices
from ai_psychiatrist.validation.checks.coercion.text_values import (
    MAX_DIGITS,
    array_of,
    means_no_value,
    number_of,
    object_in,
    truth_of,
    whole_number_of,
    whole_of_float,
)
from ai_psychiatrist.validation.checks.verdict import UnitError

_TEXT: Final = frozenset({str})
_FLOAT: Final = frozenset({float})


@dataclass(frozen=True, slots=True, kw_only=True)
class CoercionProfile:
    """Which changes are made, and which spellings of enum values are read."""

    is_enabled: bool = True
    enum_prefixes: tuple[str, ...] = ()
    """Prefixes of which one is cut from a text before it is compared, such as `shadow `."""
    enum_split: str | None = None
    """A separator; of the parts around it the first that matches counts, such as ` | `."""


DEFAULT: Final = CoercionProfile()
STRICT: Final = CoercionProfile(is_enabled=False)


def whole_number_step(types: frozenset[str]) -> Step | None:
    """Return the step that writes 5.0 as 5 where an integer is wanted.

    A whole float of more than 15 digits is an error: nobody wrote these digits.
    """
    if "integer" not in types or "number" in types:
        return None

    def run(value: object, parts: Parts, notes: CoercionNotes) -> object:
        if not isinstance(value, float) or not value.is_integer():
            return value
        whole = whole_of_float(value)
        if whole is None:
            message = f"expected integer of at most {MAX_DIGITS} digits, got a larger number"
            notes.errors.append(UnitError(parts=parts, rule="schema_type", message=message))
            return value
        notes.changed(parts, value, whole)
        return whole

    return Step(types=_FLOAT, run=run)


def reading_step(
    types: frozenset[str], item_types: frozenset[str], *, may_be_absent: bool
) -> Step | None:
    """Return the step that reads a text as another type where no text is wanted.

    `item_types`: those of the items of a list. `may_be_absent`: whether a word such as `N/A` may
    become null; not beside an alternative that takes text.
    """
    if not types or "string" in types:
        return None

    def run(value: object, parts: Parts, notes: CoercionNotes) -> object:
        if not isinstance(value, str):
            return value
        read = _scalar(value, types, may_be_absent=may_be_absent)
        if read is None and "array" in types:
            is_wrapped_already = bool(parts) and parts[:-1] in notes.wrapped
            read = _array(value, item_types, wraps=not is_wrapped_already)
            if read is not None and read.value == [value]:
                notes.wrapped.add(parts)
        if read is None:
            return value
        notes.changed(parts, value, read.value)
        return read.value

    return Step(types=_TEXT, run=run)


def choice_step(values: Sequence[object] | None, profile: CoercionProfile) -> Step | None:
    """Return the step that writes an allowed value in the schema's spelling."""
    if values is None:
        return None
    choices = Choices(values, prefixes=profile.enum_prefixes, separator=profile.enum_split)

    def run(value: object, parts: Parts, notes: CoercionNotes) -> object:
        if not isinstance(value, str) or choices.has(value):
            return value
        choice = choices.match(value)
        if choice is None:
            return value
        notes.changed(parts, value, choice.value)
        return choice.value

    return Step(types=_TEXT, run=run)


def _scalar(text: str, types: frozenset[str], *, may_be_absent: bool) -> Choice | None:
    readings: Sequence[object] = (
        whole_number_of(text) if "integer" in types else None,
        number_of(text) if "number" in types else None,
        truth_of(text) if "boolean" in types else None,
    )
    for reading in readings:
        if reading is not None:
            return Choice(value=reading)
    if "null" in types and may_be_absent and means_no_value(text):
        return Choice(value=None)
    return None


_JSON_START: Final = re.compile(r'\s*(?:\[\s*(?:["\[{\]]|-?[0-9])|\{\s*["}])')


def _array(text: str, item_types: frozenset[str], *, wraps: bool) -> Choice | None:
    """Read a list, or make one of a single value that may be an item.

    JSON that is broken off is no value, and neither is an empty text.
    """
    array = array_of(text)
    if array is not None:
        return Choice(value=array)
    single = object_in(text)
    if single is not None:
        return Choice(value=[single]) if "object" in item_types else None
    if not wraps or text.strip().lower() in {"", "null"} or _JSON_START.match(text):
        return None
    if "string" in item_types or _scalar(text, item_types, may_be_absent=False):
        return Choice(value=[text])
    return None
