"""What kind of value a schema allows, in words."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

_WORDS: Final = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "null": "null",
    "array": "list",
    "object": "object",
}
_LIMITS: Final = {
    "minimum": "from {}",
    "maximum": "to {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {}",
    "maxItems": "at most {}",
    "maxProperties": "at most {}",
    "pattern": "as {}",
    "default": "if left out {}",
}


@dataclass(frozen=True, slots=True)
class KindPart:
    """A stretch of the words; with the name of a schema, a reference to it."""

    text: str
    schema: str = ""


def kind_of(schema: Mapping[str, Any]) -> tuple[KindPart, ...]:
    """Return which values a schema allows."""
    return tuple(_parts(schema))


def limits_of(schema: Mapping[str, Any]) -> str:
    """Return the limits of a value, and what stands for one that is left out."""
    kinds = (schema, *schema.get("anyOf", ()))
    told = dict.fromkeys(
        form.format(_shown(kind[name]))
        for kind in kinds
        for name, form in _LIMITS.items()
        if name in kind
    )
    return ", ".join(told)


def _shown(limit: object) -> str:
    if isinstance(limit, float) and limit.is_integer():
        return str(int(limit))
    return limit if isinstance(limit, str) and limit else json.dumps(limit)


def _parts(schema: Mapping[str, Any]) -> Iterator[KindPart]:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        yield KindPart(name, name)
    elif "anyOf" in schema:
        for place, one in enumerate(schema["anyOf"]):
            if place:
                yield KindPart(" or ")
            yield from _parts(one)
    elif "const" in schema:
        yield KindPart(repr(schema["const"]))
    elif "enum" in schema:
        yield KindPart(", ".join(map(str, schema["enum"])))
    elif schema.get("format") == "binary":
        yield KindPart("file")
    else:
        yield KindPart(_WORDS.get(str(schema.get("type")), "anything"))
        yield from _inner(schema)


def _inner(schema: Mapping[str, Any]) -> Iterator[KindPart]:
    values = schema.get("items") or schema.get("additionalProperties")
    if isinstance(values, Mapping):
        yield KindPart(" of ")
        yield from _parts(values)
