"""Check values against a JSON Schema that is compiled once."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import jsonschema_rs

from ai_psychiatrist.validation.checks.schema.complexity import require_bounded
from ai_psychiatrist.validation.checks.schema.messages import sort_key, unit_errors
from ai_psychiatrist.validation.checks.schema.references import (
    ALL_TYPES,
    DIALECT,
    NAMING_KEYWORDS,
    Schema,
    SchemaInvalid,
    SchemaReferences,
    allowed_values,
    children,
    listed,
    mapped,
)
from ai_psychiatrist.validation.checks.verdict import PathPart, UnitError, json_pointer
from ai_psychiatrist.validation.nearest import nearest
from ai_psychiatrist.validation.reply.json_decoder import is_deeper

_UNCHECKABLE: Final = UnitError(
    rule="schema_text", message="holds half a character or a key that is no text"
)


PATTERNS: Final = jsonschema_rs.RegexOptions(size_limit=1 << 17)
"""The engine whose time grows with the text alone; the size of a pattern is its factor."""
_MAY_HOLD: Final = ("allOf", "anyOf", "oneOf", "if", "then", "else")
_MOST_LEVELS: Final = 100
_FORMATS: Final = frozenset(
    "date-time date time duration email idn-email hostname idn-hostname ipv4 ipv6 uri iri uuid "
    "uri-reference iri-reference uri-template json-pointer relative-json-pointer regex".split()
)
"""JSON Schema Validation, draft 2020-12, section 7.3."""


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


class CompiledSchema:
    """A JSON Schema that says whether a value fits it, and if not, why.

    It is of draft 2020-12, or of 2019-09 or draft-07 where `$schema` names them: values are checked
    by that draft's own rules, and `document` is the schema in the words of the last.
    `format` is asserted as the standard's vocabulary does, unless `checks_formats` is false, and
    nothing is fetched. Raises `SchemaInvalid` naming the keyword and the place.
    """

    def __init__(
        self,
        document: Schema,
        *,
        name: str,
        checks_formats: bool = True,
    ) -> None:
        self.name = name
        self._checks_formats = checks_formats
        given = dict(document) if isinstance(document, Mapping) else document
        if is_deeper(given, _MOST_LEVELS):
            problem = f"is nested deeper than {_MOST_LEVELS} levels"
            raise SchemaInvalid(name, pointer="", keyword="", problem=problem)
        references = SchemaReferences(given)
        dialect = _only_dialect(name, given, references)
        try:
            jsonschema_rs.meta.validate(given)
            self.document = given
            if dialect.unknown and isinstance(given, dict):
                self.document = in_last_draft(given, dialect)
            self.references = SchemaReferences(self.document)
            self.references.require_sound(name)
            require_bounded(self.document, self.references, name)
            self._validator = dialect.engine(
                given,
                validate_formats=checks_formats,
                offline=True,
                pattern_options=PATTERNS,
            )
        except jsonschema_rs.ValidationError as error:
            raise _broken_keyword(name, error, given) from None
        warnings = keyword_warnings(references, dialect)
        self.warnings = tuple(f"schema {name!r}: {one}" for one in warnings)
        """Keywords that look wrong; the schema is used all the same."""

    def is_valid(self, value: object) -> bool:
        """Return whether a value fits the schema."""
        return fits(self._validator, value)

    def field_names(self) -> frozenset[str]:
        """Return the fields that the schema names, at whatever depth."""
        schemas = [schema for _, schema in self.references.sub_schemas()]
        held = (one.get(key) for one in schemas for key in ("properties", "required"))
        return frozenset(name for one in held if isinstance(one, dict | list) for name in one)

    def at(self, parts: Sequence[PathPart]) -> list[Schema]:
        """Return the schemas that name a place; a position stands for any item."""
        return list(self.references.at(self.document, parts))

    def types_at(self, parts: Sequence[PathPart]) -> frozenset[str]:
        """Return the types that a place may hold: those of all alternatives, all where none is."""
        types = list(map(self.references.allowed_types, self.at(parts)))
        return frozenset[str]().union(*types) if types else ALL_TYPES

    def names_at(self, parts: Sequence[PathPart]) -> frozenset[str]:
        """Return the fields that are named inside a place, even if under a condition."""
        named = (
            mapped(schema, "properties")
            for inner in self.at(parts)
            for schema in self.references.applied(inner, _MAY_HOLD)
        )
        return frozenset[str]().union(*named)

    @property
    def is_closed(self) -> bool:
        """Whether top-level fields that the schema does not name are refused."""
        return any(
            schema.get(keyword) is False and "patternProperties" not in schema
            for schema in self.references.applied(self.document, ("allOf",))
            for keyword in ("additionalProperties", "unevaluatedProperties")
        )

    def required_names(self) -> frozenset[str]:
        """Return the fields that an answer always has to have."""
        schemas = self.references.applied(self.document, ("allOf",))
        return frozenset(str(name) for one in schemas for name in listed(one, "required"))

    def lists_values_at(self, parts: Sequence[PathPart]) -> bool:
        """Return whether the values that a place may hold are listed."""
        schemas = (one for one in self.at(parts) if isinstance(one, Mapping))
        return any(allowed_values(one) is not None for one in schemas)

    def unchecked_formats(self) -> frozenset[str]:
        """Return the formats that the schema names and the standard does not know."""
        named = {schema.get("format") for _, schema in self.references.sub_schemas()}
        return frozenset(name for name in named if isinstance(name, str) and name not in _FORMATS)

    def checks_by_pointer(self) -> jsonschema_rs.ValidatorMap:
        """Return a check of every schema in the document, each by its JSON pointer after `#`."""
        return jsonschema_rs.validator_map_for(
            self.document,
            validate_formats=self._checks_formats,
            offline=True,
            pattern_options=PATTERNS,
        )

    def errors(self, value: object) -> list[UnitError]:
        """Return everything in which a value breaks the schema, ordered by place and rule."""
        try:
            found = {
                (error.parts, error.rule, error.message): error
                for engine_error in self._validator.iter_errors(value)
                for error in unit_errors(engine_error, value)
            }
        except ValueError:
            return [_UNCHECKABLE]
        return sorted(found.values(), key=sort_key)


def fits(validator: jsonschema_rs.Validator, value: object) -> bool:
    """Return whether a value passes a check; half a character and what is no JSON never do."""
    try:
        return validator.is_valid(value)
    except ValueError:
        return False


def non_finite_errors(value: object) -> list[UnitError]:
    """Return an error for every NaN and infinity in a value, ordered by place."""
    errors = [
        UnitError(
            parts=parts, rule="schema_non_finite_number", message="NaN and Infinity are no numbers"
        )
        for parts in _non_finite(value, ())
    ]
    return sorted(errors, key=sort_key)


def _non_finite(value: object, parts: tuple[PathPart, ...]) -> Iterator[tuple[PathPart, ...]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _non_finite(inner, (*parts, key))
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            yield from _non_finite(inner, (*parts, position))
    elif isinstance(value, float) and not math.isfinite(value):
        yield parts


def _only_dialect(name: str, document: Schema, references: SchemaReferences) -> Dialect:
    """Return the draft that a document names; raises `SchemaInvalid` for another or a second."""
    dialect = dialect_of(document)
    for pointer, schema in references.sub_schemas():
        named = schema.get("$schema")
        if named is not None and (dialect is None or dialect_of(schema) is not dialect):
            problem = f"names {named!r}; write {DIALECT!r} or leave it out"
            raise SchemaInvalid(name, pointer=pointer, keyword="$schema", problem=problem)
    return dialect or DIALECTS[DIALECT]


def _broken_keyword(
    name: str, error: jsonschema_rs.ValidationError, document: Schema
) -> SchemaInvalid:
    path = [str(part) for part in error.instance_path]
    keyword = next((part for part in reversed(path) if not part.isdecimal()), "")
    is_a_name = len(path) > 1 and path[-2] in NAMING_KEYWORDS
    problem = None if is_a_name else _CURES.get(keyword)
    if problem is None:
        problem = "; ".join(found.message for found in unit_errors(error, document))
    return SchemaInvalid(
        name, pointer=json_pointer(path), keyword=keyword, problem=f"is wrong: {problem}"
    )


_CURES: Final = {
    "type": "the types are array, boolean, integer, null, number, object and string",
    "pattern": (
        "it is no regular expression, or one that can take without end: look-around, a reference "
        "to a group, or repetitions of repetitions that are too many"
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
