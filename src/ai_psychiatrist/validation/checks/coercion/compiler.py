"""Compile a schema into the steps that change a value where the schema asks for it."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

import jsonschema_rs

from ai_psychiatrist.validation.checks.coercion.changes import (
    Branch,
    Check,
    CoercionNotes,
    Parts,
    Step,
    all_fields_step,
    all_types,
    branch_step,
    conditional_step,
    in_turn,
    items_step,
    named_fields_step,
    run_step,
)
from ai_psychiatrist.validation.checks.coercion.leaves import (
    CoercionProfile,
    choice_step,
    reading_step,
    whole_number_step,
)
from ai_psychiatrist.validation.checks.schema.compiled import PATTERNS, CompiledSchema, fits
from ai_psychiatrist.validation.checks.schema.complexity import listed, mapped
from ai_psychiatrist.validation.checks.schema.type_names import (
    ALL_TYPES,
    allowed_types,
    allowed_values,
    types_of,
)

_ANY: Final[frozenset[type]] = frozenset({dict, list, str, int, float, bool, type(None)})


class StepCompiler:
    """Compiles the schemas of one document."""

    def __init__(self, schema: CompiledSchema, profile: CoercionProfile) -> None:
        self._schema = schema
        self._profile = profile
        self._done: dict[tuple[int, bool], Step | None] = {}
        self._checks: jsonschema_rs.ValidatorMap | None = None

    def compile(self) -> Step | None:
        """Return the step of the whole document, `None` when it can change nothing."""
        return self._step(self._schema.document, may_be_absent=True)

    def _step(self, schema: object, *, may_be_absent: bool = True) -> Step | None:
        if not isinstance(schema, Mapping):
            return None
        key = (id(schema), may_be_absent)
        if key not in self._done:
            self._done[key] = Step(types=_ANY, run=self._later(key))
            self._done[key] = self._compiled(schema, may_be_absent=may_be_absent)
        return self._done[key]

    def _later(self, key: tuple[int, bool]) -> Callable[[object, Parts, CoercionNotes], object]:
        """Return the step of a schema that holds itself and is still being compiled."""

        def run(value: object, parts: Parts, notes: CoercionNotes) -> object:
            return run_step(self._done[key], value, parts, notes)

        return run

    def _compiled(self, schema: Mapping[str, object], *, may_be_absent: bool) -> Step | None:
        references, types = self._schema.references, types_of(schema)
        inherited = [references.target(schema, keyword) for keyword in ("$ref", "$dynamicRef")]
        return in_turn(
            [
                *(
                    self._step(part, may_be_absent=may_be_absent)
                    for part in (*inherited, *listed(schema, "allOf"))
                ),
                reading_step(types, self._types(schema.get("items")), may_be_absent=may_be_absent),
                whole_number_step(types),
                choice_step(allowed_values(schema), self._profile),
                self._fields(schema),
                self._items(schema),
                *self._dependents(schema),
                self._condition(schema, may_be_absent=may_be_absent),
                self._branches(schema, "anyOf", may_be_absent=may_be_absent),
                self._branches(schema, "oneOf", may_be_absent=may_be_absent),
            ]
        )

    def _fields(self, schema: Mapping[str, object]) -> Step | None:
        named = {
            name: step
            for name, inner in mapped(schema, "properties").items()
            if (step := self._step(inner)) is not None
        }
        patterns = [
            (_key_check(pattern), self._step(inner))
            for pattern, inner in mapped(schema, "patternProperties").items()
        ]
        rest = self._step(schema.get("additionalProperties"))
        if rest is None and not any(step for _, step in patterns):
            return named_fields_step(named) if named else None
        known = frozenset(mapped(schema, "properties"))
        return all_fields_step(known, named, patterns, rest)

    def _items(self, schema: Mapping[str, object]) -> Step | None:
        first = [self._step(inner) for inner in listed(schema, "prefixItems")]
        rest = self._step(schema.get("items"))
        if rest is None and not any(first):
            return None
        return items_step(first, rest)

    def _dependents(self, schema: Mapping[str, object]) -> list[Step]:
        found = []
        for name, inner in mapped(schema, "dependentSchemas").items():
            if (step := self._step(inner)) is not None:
                found.append(conditional_step(_has_field(name), step, None))
        return found

    def _condition(self, schema: Mapping[str, object], *, may_be_absent: bool) -> Step | None:
        if "if" not in schema:
            return None
        then = self._step(schema.get("then"), may_be_absent=may_be_absent)
        other = self._step(schema.get("else"), may_be_absent=may_be_absent)
        if then is None and other is None:
            return None
        return conditional_step(self._check(schema["if"]), then, other)

    def _branches(
        self, schema: Mapping[str, object], keyword: str, *, may_be_absent: bool
    ) -> Step | None:
        schemas = listed(schema, keyword)
        takes_text = any("string" in self._types(inner) for inner in schemas)
        steps = [
            self._step(inner, may_be_absent=may_be_absent and not takes_text) for inner in schemas
        ]
        types = all_types(steps)
        if not types:
            return None
        branches = [
            Branch(fits=self._check(inner), step=step, types=self._types(inner))
            for inner, step in zip(schemas, steps, strict=True)
        ]
        return branch_step(branches, types, most=1 if keyword == "oneOf" else len(branches))

    def _types(self, schema: object) -> frozenset[str]:
        if not isinstance(schema, (Mapping, bool)):
            return ALL_TYPES
        return allowed_types(self._schema.references, schema)

    def _check(self, schema: object) -> Check:
        """Return the check of one schema inside the document, with the document's references."""
        if not isinstance(schema, Mapping):
            return lambda _: bool(schema)
        if self._checks is None:
            self._checks = self._schema.checks_by_pointer()
        pointer = self._schema.references.pointer(schema)
        validator = None if pointer is None else self._checks.get(f"#{pointer}")
        return (lambda _: False) if validator is None else partial(fits, validator)


def _has_field(name: str) -> Check:
    return lambda value: isinstance(value, dict) and name in value


def _key_check(pattern: str) -> Check:
    """Return the check of a key against a pattern as the schema engine reads it."""
    validator = jsonschema_rs.Draft202012Validator({"pattern": pattern}, pattern_options=PATTERNS)
    return partial(fits, validator)
