"""Read off a schema which types a place allows, and which fields it names."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ai_psychiatrist.validation.checks.schema.messages import json_type
from ai_psychiatrist.validation.checks.schema.references import Schema, SchemaReferences
from ai_psychiatrist.validation.checks.verdict import PathPart

ALL_TYPES: Final = frozenset({"integer", "number", "string", "boolean", "array", "object", "null"})


def allowed_types(references: SchemaReferences, schema: Schema) -> frozenset[str]:
    """Return the types that a schema lets through, all seven where it says nothing."""
    if not isinstance(schema, Mapping):
        return ALL_TYPES if schema else frozenset()
    allowed = ALL_TYPES
    if "type" in schema:
        allowed &= _with_integers(types_of(schema))
    if (values := allowed_values(schema)) is not None:
        allowed &= _with_numbers(frozenset(map(json_type, values)))
    for part in _all_of(references, schema):
        allowed &= allowed_types(references, part)
    for keyword in ("anyOf", "oneOf"):
        if branches := _schemas(schema.get(keyword)):
            allowed &= frozenset().union(*(allowed_types(references, one) for one in branches))
    return allowed


def types_of(schema: Mapping[str, object]) -> frozenset[str]:
    """Return the types that the keyword `type` of one schema lists."""
    listed = schema.get("type")
    if isinstance(listed, str):
        return frozenset({listed})
    return frozenset(map(str, listed)) if isinstance(listed, list) else frozenset()


def allowed_values(schema: Mapping[str, object]) -> Sequence[object] | None:
    """Return the values of `enum` or `const`, `None` where a schema lists none."""
    values = schema.get("enum")
    if isinstance(values, list):
        return values
    return [schema["const"]] if "const" in schema else None


def required_names(references: SchemaReferences, schema: Schema) -> frozenset[str]:
    """Return the names of the fields that a schema always requires."""
    if not isinstance(schema, Mapping):
        return frozenset()
    listed = schema.get("required")
    own = frozenset(map(str, listed)) if isinstance(listed, list) else frozenset()
    return own.union(*(required_names(references, part) for part in _all_of(references, schema)))


def schemas_at(
    references: SchemaReferences, schema: Schema, parts: Sequence[PathPart]
) -> Iterator[Schema]:
    """Yield the schemas that name the place at a path; a position stands for any item.

    Those of alternatives are among them.
    """
    if not parts:
        yield schema
        return
    if not isinstance(schema, Mapping):
        return
    alternatives = [*_schemas(schema.get("anyOf")), *_schemas(schema.get("oneOf"))]
    for part in (*_all_of(references, schema), *alternatives):
        yield from schemas_at(references, part, parts)
    inner = _items(schema) if isinstance(parts[0], int) else _property(schema, parts[0])
    if inner is not None:
        yield from schemas_at(references, inner, parts[1:])


def _property(schema: Mapping[str, object], name: str) -> Schema | None:
    properties = schema.get("properties")
    inner = properties.get(name) if isinstance(properties, Mapping) else None
    return inner if isinstance(inner, (Mapping, bool)) else None


def _items(schema: Mapping[str, object]) -> Schema | None:
    inner = schema.get("items")
    return inner if isinstance(inner, (Mapping, bool)) else None


def _all_of(references: SchemaReferences, schema: Mapping[str, object]) -> Iterator[Schema]:
    for keyword in ("$ref", "$dynamicRef"):
        if (target := references.target(schema, keyword)) is not None:
            yield target
    yield from _schemas(schema.get("allOf"))


def _schemas(listed: object) -> list[Schema]:
    if not isinstance(listed, list):
        return []
    return [one for one in listed if isinstance(one, (Mapping, bool))]


def _with_integers(types: frozenset[str]) -> frozenset[str]:
    return types | {"integer"} if "number" in types else types


def _with_numbers(types: frozenset[str]) -> frozenset[str]:
    return types | {"number"} if "integer" in types else types
