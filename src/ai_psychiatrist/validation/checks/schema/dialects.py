"""The drafts of JSON Schema that are known, and older ones in the words of the last."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import jsonschema_rs

from ai_psychiatrist.validation.checks.schema.references import (
    DIALECT,
    NAMING_KEYWORDS,
    Schema,
    SchemaReferences,
    children,
)
from ai_psychiatrist.validation.nearest import nearest


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """A draft of JSON Schema."""

    engine: type[jsonschema_rs.Validator]
    unknown: frozenset[str] = frozenset()
    """Keywords of the last draft that mean nothing in this one."""


_NEW_IN_2020: Final = frozenset({"prefixItems", "$dynamicRef", "$dynamicAnchor"})
_NEW_IN_2019: Final = frozenset(
    "$anchor dependentRequired dependentSchemas maxContains minContains unevaluatedItems "
    "unevaluatedProperties".split()
)
DIALECTS: Final[Mapping[str, Dialect]] = {
    DIALECT: Dialect(engine=jsonschema_rs.Draft202012Validator),
    "https://json-schema.org/draft/2019-09/schema": Dialect(
        engine=jsonschema_rs.Draft201909Validator,
        unknown=_NEW_IN_2020,
    ),
    "http://json-schema.org/draft-07/schema": Dialect(
        engine=jsonschema_rs.Draft7Validator,
        unknown=_NEW_IN_2020 | _NEW_IN_2019,
    ),
}


def dialect_of(document: Schema) -> Dialect | None:
    """Return the draft that a document names, the last where it names none."""
    named = document.get("$schema", DIALECT) if isinstance(document, Mapping) else DIALECT
    return DIALECTS.get(named.rstrip("#")) if isinstance(named, str) else None


def in_last_draft(schema: Mapping[str, object], dialect: Dialect) -> dict[str, object]:
    """Return a schema in the words of the last draft, for what reads it next to the engine."""
    is_seventh = dialect.engine is jsonschema_rs.Draft7Validator
    unknown = dialect.unknown | {"$schema"}
    said = {name: held for name, held in schema.items() if name not in unknown}
    if is_seventh and "$ref" in said:
        # What stands next to a reference means nothing, but can be referred to.
        said = {name: said[name] for name in ("$ref", "definitions", "$defs") if name in said}
    if is_seventh and str(said.get("$id", "")).startswith("#"):
        said["$anchor"] = str(said.pop("$id"))[1:]
    if isinstance(said.get("items"), list):
        said["prefixItems"] = said.pop("items")
        if "additionalItems" in said:
            said["items"] = said.pop("additionalItems")
    if "$recursiveRef" in said:
        said.setdefault("$ref", said.pop("$recursiveRef"))
    if is_seventh and isinstance(needed := said.pop("dependencies", None), Mapping):
        is_list = {name: isinstance(one, list) for name, one in needed.items()}
        said["dependentRequired"] = {name: one for name, one in needed.items() if is_list[name]}
        said["dependentSchemas"] = {name: one for name, one in needed.items() if not is_list[name]}
    for keyword in {child.keyword for child in children(said, "")}:
        held = said[keyword]
        if keyword in NAMING_KEYWORDS and isinstance(held, Mapping):
            said[keyword] = {name: _inner(one, dialect) for name, one in held.items()}
        else:
            said[keyword] = _inner(held, dialect)
    return said


def _inner(held: object, dialect: Dialect) -> object:
    if isinstance(held, list):
        return [_inner(one, dialect) for one in held]
    return in_last_draft(held, dialect) if isinstance(held, Mapping) else held


_KEYWORDS: Final = frozenset(
    "$anchor $comment $defs $dynamicAnchor $dynamicRef $id $recursiveAnchor $recursiveRef $ref "
    "$schema $vocabulary additionalItems additionalProperties allOf anyOf const contains "
    "contentEncoding contentMediaType contentSchema default definitions dependencies "
    "dependentRequired dependentSchemas deprecated description else enum example examples "
    "exclusiveMaximum exclusiveMinimum format if items maxContains maxItems maxLength "
    "maxProperties maximum minContains minItems minLength minProperties minimum multipleOf not "
    "oneOf pattern patternProperties prefixItems properties propertyNames readOnly required then "
    "title type unevaluatedItems unevaluatedProperties uniqueItems writeOnly".split()
)


def keyword_warnings(references: SchemaReferences, dialect: Dialect) -> Iterator[str]:
    """Yield what to say of keywords that mean nothing in a draft and look as if they did."""
    for pointer, schema in references.sub_schemas():
        for name in schema:
            place = f"{name!r} at {pointer or '/'}"
            if name in dialect.unknown:
                yield f"{place} means nothing in the draft that '$schema' names"
            elif name not in _KEYWORDS and (meant := nearest(name, _KEYWORDS)) is not None:
                yield f"{place} is no keyword of JSON Schema; did you mean {meant!r}?"
