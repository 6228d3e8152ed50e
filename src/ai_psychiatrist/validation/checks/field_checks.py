"""Check the fields of an answer: those that are required, and the values that each may have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import jsonschema_rs

from ai_psychiatrist.validation.checks.coercion.choices import Choice
from ai_psychiatrist.validation.checks.coercion.coercer import Coerced
from ai_psychiatrist.validation.checks.field_kinds import FieldCheck, FieldTerms
from ai_psychiatrist.validation.checks.field_paths import FieldPath, FieldPlace, replaced
from ai_psychiatrist.validation.checks.schema.compiled import CompiledSchema, fits
from ai_psychiatrist.validation.checks.schema.messages import sort_key
from ai_psychiatrist.validation.checks.schema.references import ALL_TYPES
from ai_psychiatrist.validation.checks.step_config import RuleBlock
from ai_psychiatrist.validation.checks.verdict import Coercion, PathPart, UnitError

_NOTHING: Final[Mapping[str, object]] = {}


class FieldChecks:
    """The checks of single fields, compiled once."""

    def __init__(self, block: RuleBlock, schema: CompiledSchema) -> None:
        """Compile the field rules of a step.

        The step's `schema` says whether a field without declared types takes null or text, and how
        enum values are spelt. Raises `ConfigurationError` for a name that is no path of a field.
        """
        self._fields = [compiled_field(name, block, schema) for name in block.field_names()]
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
                problem = one.error(place, held, context)
                if problem is not None:
                    errors.setdefault(place.parts, problem)
        return Coerced(
            value=changed if isinstance(changed, dict) else value,
            coercions=tuple(coercions),
            errors=tuple(sorted(errors.values(), key=sort_key)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedField:
    """One field and its checks."""

    path: FieldPath
    is_required: bool
    is_inherited: bool
    """Whether the context may have it instead of the answer."""
    is_nullable: bool
    """Whether null is allowed by a word, and not only because nothing is said."""
    checks: Sequence[FieldCheck]

    def reading(self, text: str) -> Choice | None:
        """Return what a text is read as, by the first check that reads it."""
        found = (one.reading(text) for one in self.checks if one.reading is not None)
        return next(filter(None, found), None)

    def error(
        self, place: FieldPlace, held: object, context: Mapping[str, object]
    ) -> UnitError | None:
        """Return the first thing that a value breaks, or its absence."""
        if held is None and self.is_required and not self._is_in(context):
            message = place.problem or "must not be null"
            return UnitError(parts=place.parts, rule="required", message=message)
        if place.problem is None and not (held is None and self.is_nullable):
            for check in self.checks:
                if (problem := check.problem(held)) is not None:
                    return UnitError(parts=place.parts, rule=check.rule, message=problem)
        return None

    def _is_in(self, context: Mapping[str, object]) -> bool:
        places = self.path.places(context) if self.is_inherited else ()
        return bool(places) and all(place.value is not None for place in places)

    @property
    def schema_in_order(self) -> dict[str, object]:
        """A JSON Schema; in an answer that fits it, this field breaks nothing and is not read.

        Of an answer that does not fit it that is still to be seen.
        """
        lacking: list[dict[str, object]] = [{"not": {"type": "null"}}] if self.is_required else []
        schema: dict[str, object] = {"allOf": [*(one.schema for one in self.checks), *lacking]}
        for part in reversed(self.path.parts):
            if isinstance(part, int):
                schema = {"items": schema, **({"type": "array"} if self.is_required else {})}
            else:
                lacks = {"type": "object", "required": [part]} if self.is_required else {}
                schema = {"properties": {part: schema}, **lacks}
        return schema


def compiled_field(name: str, block: RuleBlock, schema: CompiledSchema) -> CheckedField:
    """Return a field that a block names, with the checks of every kind.

    Raises `ConfigurationError` for a name that is no path of a field.
    """
    path, is_listed = FieldPath.parse(name), name in block.types
    types = schema.types_at(path.parts)
    is_typed = is_listed or types != ALL_TYPES
    types &= block.types[name].types if is_listed else ALL_TYPES
    terms = FieldTerms(
        types=types,
        named_types=types if is_typed else frozenset(),
        lists_values=schema.lists_values_at(path.parts),
        profile=block.coerce,
    )
    return CheckedField(
        path=path,
        is_required=name in block.required,
        is_inherited=name in block.inherited,
        is_nullable="null" in terms.named_types,
        checks=[rules[name].check(terms) for _, rules in block.kinds() if name in rules],
    )
