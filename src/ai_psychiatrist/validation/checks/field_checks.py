"""Check the fields of an answer: required ones, types, allowed values and ranges."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import jsonschema_rs

from ai_psychiatrist.validation.checks.coercion.choices import Choices
from ai_psychiatrist.validation.checks.coercion.coercer import Coerced, CoercionProfile
from ai_psychiatrist.validation.checks.fields.paths import FieldPath, FieldPlace, replaced
from ai_psychiatrist.validation.checks.fields.specs import (
    EnumRule,
    FieldProblem,
    FieldSpec,
    SchemaField,
)
from ai_psychiatrist.validation.checks.schema.compiled import CompiledSchema, fits
from ai_psychiatrist.validation.checks.schema.messages import sort_key
from ai_psychiatrist.validation.checks.step_config import RuleBlock
from ai_psychiatrist.validation.checks.verdict import Coercion, PathPart, UnitError

_NOTHING: Final[Mapping[str, object]] = {}


class FieldChecks:
    """The checks of single fields, compiled once."""

    def __init__(self, block: RuleBlock, schema: CompiledSchema | None = None) -> None:
        """Compile the field rules of a step.

        The step's `schema` says whether a field without declared types takes null or text, and how
        enum values are spelt. Raises `ConfigurationError` for a name that is no path of a field.
        """
        names = dict.fromkeys([*block.required, *block.types, *block.enums, *block.ranges])
        self._fields = tuple(_spec(name, block, schema) for name in names)
        self._in_order = jsonschema_rs.Draft202012Validator(
            {"allOf": [one.schema_in_order for one in self._fields]} if self._fields else True
        )

    def check(self, value: dict[str, object], context: Mapping[str, object] = _NOTHING) -> Coerced:
        """Return an answer with enum values in their own spelling and numbers in ranged fields.

        The answer is never changed in place. The errors are what its fields break then, ordered by
        place; one place has one at most.
        """
        if fits(self._in_order, value):
            return Coerced(value=value)
        coercions: list[Coercion] = []
        errors: dict[tuple[PathPart, ...], UnitError] = {}
        changed: object = value
        for one in self._fields:
            for place in one.path.places(changed):
                held = place.value
                if isinstance(held, str) and (read := one.reading(held)) is not None:
                    coercions.append(Coercion.of(place.parts, held, read.value))
                    changed = replaced(changed, place.parts, read.value)
                    held = read.value
                problem = _problem(one, place, held, context)
                if problem is not None and place.parts not in errors:
                    error = UnitError(parts=place.parts, rule=problem.rule, message=problem.message)
                    errors[place.parts] = error
        return Coerced(
            value=changed if isinstance(changed, dict) else value,
            coercions=tuple(coercions),
            errors=tuple(sorted(errors.values(), key=sort_key)),
        )


def _spec(name: str, block: RuleBlock, schema: CompiledSchema | None) -> FieldSpec:
    path = FieldPath.parse(name)
    enum, bounds = block.enums.get(name), block.ranges.get(name)
    spec = FieldSpec(
        path=path,
        schema=SchemaField.of(schema, path),
        types=frozenset(block.types[name]) if name in block.types else None,
        is_required=name in block.required,
        is_inherited=name in block.inherited,
        choices=None if enum is None else _choices(enum, block.coerce),
        is_folded=enum is not None and enum.match == "casefold",
        range=bounds,
    )
    reads_numbers = bounds is not None and block.coerce.is_enabled and not spec.takes_text
    return replace(spec, reads_numbers=reads_numbers)


def _choices(enum: EnumRule, profile: CoercionProfile) -> Choices:
    if not profile.is_enabled:
        return Choices(enum.values)
    return Choices(enum.values, prefixes=profile.enum_prefixes, separator=profile.enum_split)


def _problem(
    one: FieldSpec, place: FieldPlace, held: object, context: Mapping[str, object]
) -> FieldProblem | None:
    if held is None and one.is_required and not _is_in_context(one, context):
        return FieldProblem("required", place.problem or "must not be null")
    return one.problem(held) if place.problem is None else None


def _is_in_context(one: FieldSpec, context: Mapping[str, object]) -> bool:
    if not one.is_inherited:
        return False
    places = one.path.places(context)
    return bool(places) and all(place.value is not None for place in places)
