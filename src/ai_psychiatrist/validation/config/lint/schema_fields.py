"""What a JSON Schema says about the fields of an answer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.validation.checks.schema.references import SchemaReferences
from ai_psychiatrist.validation.checks.schema.type_names import (
    ALL_TYPES,
    allowed_types,
    allowed_values,
    schemas_at,
)
from ai_psychiatrist.validation.checks.step_config import Schema
from ai_psychiatrist.validation.checks.verdict import PathPart

_ALWAYS: Final = ("allOf",)
_SAME_VALUE: Final = ("allOf", "anyOf", "oneOf", "if", "then", "else")


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaFields:
    """The fields that a schema describes."""

    document: Schema = field(repr=False)
    references: SchemaReferences = field(repr=False)

    @classmethod
    def of(cls, document: Schema) -> "SchemaFields":
        """Look at a schema that compiles."""
        return cls(document=document, references=SchemaReferences(document))

    @property
    def names(self) -> frozenset[str]:
        """The top-level fields that the schema names."""
        return self.names_at(())

    @property
    def is_closed(self) -> bool:
        """Whether the schema refuses top-level fields that it does not name."""
        return any(
            schema.get(keyword) is False and "patternProperties" not in schema
            for schema in self._branches(self.document, _ALWAYS)
            for keyword in ("additionalProperties", "unevaluatedProperties")
        )

    def names_at(self, parts: Sequence[PathPart]) -> frozenset[str]:
        """Return the fields that the schema names inside a place; a position stands for any."""
        found: set[str] = set()
        for place in schemas_at(self.references, self.document, parts):
            for schema in self._branches(place):
                properties = schema.get("properties")
                found |= set(properties) if isinstance(properties, Mapping) else set()
        return frozenset(found)

    def types_at(self, parts: Sequence[PathPart]) -> frozenset[str] | None:
        """Return the JSON types that a place may hold, or `None` if the schema does not say."""
        places = schemas_at(self.references, self.document, parts)
        types = frozenset().union(*(allowed_types(self.references, place) for place in places))
        return types if types and types != ALL_TYPES else None

    def values_at(self, parts: Sequence[PathPart]) -> Sequence[object] | None:
        """Return the values that a place may hold, or `None` if the schema lists none."""
        places = list(schemas_at(self.references, self.document, parts))
        if len(places) != 1 or not isinstance(places[0], Mapping):
            return None
        return allowed_values(places[0])

    def _branches(
        self, schema: Schema, keywords: Sequence[str] = _SAME_VALUE
    ) -> Iterator[Mapping[str, object]]:
        """Yield a schema and those under `keywords`, which apply to the same value, each once."""
        waiting: list[object] = [schema]
        seen: set[int] = set()
        while waiting:
            current = waiting.pop(0)
            if not isinstance(current, Mapping) or id(current) in seen:
                continue
            seen.add(id(current))
            yield current
            waiting.append(self.references.target(current, "$ref"))
            for keyword in keywords:
                held = current.get(keyword)
                waiting += held if isinstance(held, list) else [held]
