"""An example of every field of the OpenAPI document, and words where its schema has none.

They are apart from the models: nobody but who reads the document needs them.
"""

import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any, Final

_DEEPEST: Final = 4
"""Beyond it an object is shown with the fields alone that it needs and that hold no object."""


class FieldExamples:
    """Puts examples into the schemas of a document."""

    def __init__(self, schemas: Mapping[str, Any]) -> None:
        self._schemas = schemas
        text = (files("ai_psychiatrist.api") / "reference" / "examples.toml").read_text("utf-8")
        self._kept: dict[str, object] = tomllib.loads(text)

    def add(self) -> None:
        """Give every field without an example one, and without words those of its schema."""
        for name, schema in self._schemas.items():
            for field, value in schema.get("properties", {}).items():
                if "description" not in value:
                    value.update(self._words(value))
                if "examples" not in value:
                    value["examples"] = list(self._of_field(f"{name}.{field}", value, 0))

    def _words(self, value: Mapping[str, Any]) -> dict[str, str]:
        named = [one["$ref"] for one in (value, *value.get("anyOf", ())) if "$ref" in one]
        if len(named) != 1:
            return {}
        words = self._schemas[named[0].rpartition("/")[2]].get("description")
        return {"description": words} if words else {}

    def _of_field(self, name: str, value: Mapping[str, Any], depth: int) -> Iterator[object]:
        field = name.partition(".")[2]
        if name in self._kept:
            yield self._kept[name]
        elif "const" in value:
            yield value["const"]
        elif self._is_made(value):
            yield from self._of_kind(value, depth)
        elif field in self._kept:
            yield self._kept[field]

    def _is_made(self, value: Mapping[str, Any]) -> bool:
        inner = value.get("items") or value.get("additionalProperties")
        kinds = (value, *value.get("anyOf", ()))
        return any("$ref" in one or "enum" in one for one in kinds) or (
            self._is_made(inner)
            if isinstance(inner, Mapping)
            else any(self._is_made(one) for one in value.get("anyOf", ()))
        )

    def _of_kind(self, value: Mapping[str, Any], depth: int) -> Iterator[object]:
        if "$ref" in value:
            yield from self._of_schema(value["$ref"].rpartition("/")[2], depth)
        elif "enum" in value:
            yield value["enum"][0]
        elif "anyOf" in value:
            made = (one for one in value["anyOf"] if self._is_made(one))
            yield from self._of_kind(next(made), depth)
        elif "items" in value:
            yield list(self._of_kind(value["items"], depth))
        else:
            (key, *_) = self._key_of(value)
            yield dict.fromkeys([key], *self._of_kind(value["additionalProperties"], depth))

    def _key_of(self, value: Mapping[str, Any]) -> list[str]:
        names = value.get("propertyNames", {})
        if "$ref" in names:
            found: list[str] = self._schemas[names["$ref"].rpartition("/")[2]]["enum"]
            return found
        return ["PHQ8_Sleep"]

    def _of_schema(self, name: str, depth: int) -> Iterator[object]:
        schema = self._schemas[name]
        if "enum" in schema:
            yield schema["enum"][0]
            return
        required = schema.get("required", ())
        yield {
            field: example
            for field, value in schema.get("properties", {}).items()
            if depth < _DEEPEST or field in required
            for example in self._of_field(f"{name}.{field}", value, depth + 1)
        }
