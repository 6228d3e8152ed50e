"""Check the fields of an answer: required ones, types, allowed values and ranges."""

import math
from collections.abc import Mapping, Sequence
from typing import Final

from ai_psychiatrist.validation.checks.coercion.choices import Choice
from ai_psychiatrist.validation.checks.coercion.coercer import DEFAULT, Coerced, CoercionProfile
from ai_psychiatrist.validation.checks.coercion.notes import CoercionNotes, Parts
from ai_psychiatrist.validation.checks.coercion.text_values import (
    number_of,
    whole_number_of,
    whole_of_float,
)
from ai_psychiatrist.validation.checks.fields.paths import FieldPath, replaced
from ai_psychiatrist.validation.checks.fields.rules import EnumRule, RangeRule
from ai_psychiatrist.validation.checks.fields.specs import (
    FieldSpec,
    SchemaField,
    declared_choices,
    declared_range,
    declared_types,
)
from ai_psychiatrist.validation.checks.schema.compiled import CompiledSchema
from ai_psychiatrist.validation.checks.schema.messages import (
    expected_type,
    json_type,
    outside_of,
    sort_key,
)
from ai_psychiatrist.validation.checks.verdict import UnitError

__all__ = ["EnumRule", "FieldChecks", "RangeRule"]

_NOTHING: Final[Mapping[str, object]] = {}


class FieldChecks:
    """The checks of single fields, compiled once."""

    def __init__(self, fields: Sequence[FieldSpec], profile: CoercionProfile) -> None:
        self._fields = tuple(fields)
        self._spelt = tuple(one for one in fields if one.choices is not None and one.is_folded)
        self._ranged = tuple(
            one
            for one in fields
            if one.range is not None and profile.is_enabled and not one.takes_text
        )

    @classmethod
    def compile(
        cls,
        *,
        required: Sequence[str] = (),
        types: Mapping[str, Sequence[str]] | None = None,
        enums: Mapping[str, EnumRule] | None = None,
        ranges: Mapping[str, RangeRule] | None = None,
        inherited: Sequence[str] = (),
        schema: CompiledSchema | None = None,
        profile: CoercionProfile = DEFAULT,
    ) -> "FieldChecks":
        """Compile the field rules of a step.

        `inherited` names required fields that may come from the context. The step's `schema` says
        whether a field without declared types takes null or text, and how enum values are spelt.
        Raises `ConfigurationError` naming the field and what is wrong with its rule.
        """
        types, enums, ranges = types or {}, enums or {}, ranges or {}
        names = dict.fromkeys([*required, *types, *enums, *ranges])
        return cls(
            [
                FieldSpec(
                    path=(path := FieldPath.parse(name)),
                    schema=SchemaField.of(schema, path),
                    types=declared_types(name, types[name]) if name in types else None,
                    is_required=name in required,
                    is_inherited=name in inherited,
                    choices=declared_choices(enums[name], profile) if name in enums else None,
                    is_folded=name in enums and enums[name].match == "casefold",
                    range=declared_range(name, ranges[name]) if name in ranges else None,
                )
                for name in names
            ],
            profile,
        )

    def normalise(self, value: dict[str, object]) -> Coerced:
        """Return an answer with enum values in their own spelling and numbers in ranged fields.

        The argument is never changed in place.
        """
        notes = CoercionNotes()
        changed = value
        for one in self._spelt:
            for place in one.path.places(changed):
                if isinstance(place.value, str) and (choice := _spelling(one, place.value)):
                    changed = _with(changed, place.parts, choice.value, place.value, notes)
        for one in self._ranged:
            for place in one.path.places(changed):
                if isinstance(place.value, str) and (number := _number(one, place.value)):
                    changed = _with(changed, place.parts, number.value, place.value, notes)
        return Coerced(value=changed, coercions=tuple(notes.coercions))

    def apply(
        self, value: Mapping[str, object], context: Mapping[str, object] | None = None
    ) -> list[UnitError]:
        """Return what the fields of an answer break, ordered by place; nothing is changed.

        One place has one error at most: a value of the wrong type is not looked at any further.
        """
        errors: dict[Parts, UnitError] = {}
        for one in self._fields:
            for place in one.path.places(value):
                if place.problem is None and place.value is not None:
                    error = _value_error(one, place.parts, place.value)
                elif one.is_required and not _is_in_context(one, context or _NOTHING):
                    problem = place.problem or "must not be null"
                    error = UnitError(parts=place.parts, rule="required", message=problem)
                else:
                    error = None if place.problem else _null_error(one, place.parts)
                if error is not None:
                    errors.setdefault(error.parts, error)
        return sorted(errors.values(), key=sort_key) if errors else []


def _value_error(one: FieldSpec, parts: Parts, value: object) -> UnitError | None:
    if one.types is not None and not _has_type(value, one.types):
        message = expected_type(list(one.types), value)
        return UnitError(parts=parts, rule="type", message=message)
    if one.choices is not None and not _is_allowed(one, value):
        message = outside_of(len(one.choices))
        return UnitError(parts=parts, rule="enum", message=message)
    if one.range is None:
        return None
    if not isinstance(value, (int, float)) or isinstance(value, bool) or math.isnan(value):
        message = f"expected a number, got {_shown_type(value)}"
        return UnitError(parts=parts, rule="range", message=message)
    if not one.range.holds(value):
        return UnitError(parts=parts, rule="range", message=one.range.wanted)
    return None


def _null_error(one: FieldSpec, parts: Parts) -> UnitError | None:
    if one.types is not None and "null" not in one.types:
        message = expected_type(list(one.types), None)
        return UnitError(parts=parts, rule="type", message=message)
    if one.is_nullable:
        return None
    if one.choices is not None and not one.choices.has(None):
        message = outside_of(len(one.choices))
        return UnitError(parts=parts, rule="enum", message=message)
    if one.range is not None:
        return UnitError(parts=parts, rule="range", message="expected a number, got null")
    return None


def _has_type(value: object, types: frozenset[str]) -> bool:
    if isinstance(value, float):
        if not math.isfinite(value):
            return False
        return "number" in types or ("integer" in types and whole_of_float(value) is not None)
    name = json_type(value)
    return name in types or (name == "integer" and "number" in types)


def _shown_type(value: object) -> str:
    return "NaN" if isinstance(value, float) else json_type(value)


def _is_allowed(one: FieldSpec, value: object) -> bool:
    if one.choices is None or one.choices.has(value):
        return True
    return one.is_folded and isinstance(value, str) and one.choices.match(value) is not None


def _is_in_context(one: FieldSpec, context: Mapping[str, object]) -> bool:
    if not one.is_inherited:
        return False
    places = one.path.places(context)
    return bool(places) and all(place.value is not None for place in places)


def _spelling(one: FieldSpec, text: str) -> Choice | None:
    """Return how a text is to be written, unless the schema wants it another way."""
    if one.choices is None or one.choices.has(text) or one.schema.lists_values:
        return None
    choice = one.choices.match(text)
    return choice if choice is not None and json_type(choice.value) in one.allowed else None


def _number(one: FieldSpec, text: str) -> Choice | None:
    if one.allowed & {"number"}:
        number = number_of(text)
    else:
        number = whole_number_of(text) if "integer" in one.allowed else None
    return None if number is None else Choice(value=number)


def _with(
    value: dict[str, object], parts: Parts, after: object, before: object, notes: CoercionNotes
) -> dict[str, object]:
    notes.changed(parts, before, after)
    changed = replaced(value, parts, after)
    return changed if isinstance(changed, dict) else value
