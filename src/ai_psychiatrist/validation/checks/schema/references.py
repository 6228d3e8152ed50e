"""Find the sub-schemas of a JSON Schema, follow its references, and read off types and fields."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Final, NamedTuple
from urllib.parse import unquote, urldefrag, urljoin

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.validation.checks.schema.messages import json_type
from ai_psychiatrist.validation.checks.verdict import PathPart, json_pointer

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
NAMING_KEYWORDS: Final = (
    "$defs",
    "definitions",
    "dependentSchemas",
    "patternProperties",
    "properties",
)
"""Keywords that hold schemas by name."""

_VOCABULARY: Final = "https://json-schema.org/draft/2020-12/"
_SINGLE: Final = (
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
)
_LISTS: Final = ("allOf", "anyOf", "items", "oneOf", "prefixItems")
"""`items` is a list in older drafts alone."""
_REFERENCES: Final = ("$ref", "$dynamicRef")
_SAME_PLACE: Final = ("if", "then", "else", "not", "allOf", "anyOf", "oneOf", "dependentSchemas")
ALL_TYPES: Final = frozenset({"integer", "number", "string", "boolean", "array", "object", "null"})

Schema = Mapping[str, object] | bool


class SubSchema(NamedTuple):
    """A schema inside a document, and where it stands."""

    keyword: str
    """The keyword that holds it, empty for the document itself."""
    schema: Schema
    pointer: str
    """Its JSON pointer from the top of its document."""


class SchemaInvalid(ConfigurationError):
    """A schema is no JSON Schema of a known draft, asks too much, or has a reference to nothing."""

    def __init__(self, name: str, *, pointer: str, keyword: str, problem: str) -> None:
        place = f"{keyword!r} at {pointer or '/'}" if keyword else f"the schema at {pointer or '/'}"
        super().__init__(f"schema {name!r}: {place} {problem}")
        self.pointer = pointer
        self.keyword = keyword


class _Place(NamedTuple):
    base: str
    pointer: str


class SchemaReferences:
    """The sub-schemas, identifiers and anchors of a document, and what it says of its values."""

    def __init__(self, document: Schema) -> None:
        self._roots: dict[str, Schema] = {}
        self._anchors: dict[tuple[str, str], Schema] = {}
        self._places: dict[int, _Place] = {}
        self._document = document
        self._add(document, _Place("", ""))

    def sub_schemas(self) -> Iterator[tuple[str, Mapping[str, object]]]:
        """Yield every object that is a schema of the document, in its order, with its pointer."""
        waiting = [SubSchema("", self._document, "")]
        while waiting:
            _, schema, pointer = waiting.pop()
            if isinstance(schema, Mapping):
                yield pointer, schema
                waiting += [*children(schema, pointer)][::-1]

    def pointer(self, schema: Mapping[str, object]) -> str:
        """Return where a schema of the document stands."""
        return self._places[id(schema)].pointer

    def target(self, schema: Mapping[str, object], keyword: str) -> Schema | None:
        """Return what `$ref` or `$dynamicRef` of a schema names, `None` where that is unknown.

        A dynamic reference is followed to where it leads at first; the metaschemas are unknown.
        """
        reference = schema.get(keyword)
        place = self._places.get(id(schema))
        if not isinstance(reference, str) or place is None:
            return None
        uri, fragment = urldefrag(_join(place.base, reference))
        fragment = unquote(fragment)
        root = self._roots.get(uri)
        if root is None or not fragment:
            return root
        if not fragment.startswith("/"):
            return self._anchors.get((uri, fragment))
        return self._down(root, fragment)

    def in_place(
        self, schema: Mapping[str, object], keywords: Iterable[str] = _SAME_PLACE
    ) -> Iterator[Schema]:
        """Yield the schemas that one applies to the same value, by reference or under keywords."""
        for keyword in _REFERENCES:
            if (target := self.target(schema, keyword)) is not None:
                yield target
        for keyword in keywords:
            yield from (child.schema for child in _under(schema, keyword, ""))

    def applied(self, schema: Schema, keywords: Iterable[str]) -> Iterator[Mapping[str, object]]:
        """Yield a schema and all that it applies to the same value in such ways."""
        if isinstance(schema, Mapping):
            yield schema
            for inner in self.in_place(schema, keywords):
                yield from self.applied(inner, keywords)

    def at(self, schema: Schema, parts: Sequence[PathPart]) -> Iterator[Schema]:
        """Yield the schemas that name the place at a path; a position stands for any item.

        Those of alternatives are among them.
        """
        if not parts:
            yield schema
        elif isinstance(schema, Mapping):
            for part in self.in_place(schema, ("allOf", "anyOf", "oneOf")):
                yield from self.at(part, parts)
            fields = schema if isinstance(parts[0], int) else mapped(schema, "properties")
            inner = fields.get("items" if isinstance(parts[0], int) else parts[0])
            if isinstance(inner, (Mapping, bool)):
                yield from self.at(inner, parts[1:])

    def allowed_types(self, schema: Schema) -> frozenset[str]:
        """Return the types that a schema lets through, all seven where it says nothing."""
        if not isinstance(schema, Mapping):
            return ALL_TYPES if schema else frozenset()
        allowed = ALL_TYPES
        if "type" in schema:
            types = types_of(schema)
            allowed &= types | {"integer"} if "number" in types else types
        if (values := allowed_values(schema)) is not None:
            types = frozenset(map(json_type, values))
            allowed &= types | {"number"} if "integer" in types else types
        for part in self.in_place(schema, ("allOf",)):
            allowed &= self.allowed_types(part)
        for keyword in ("anyOf", "oneOf"):
            branches = [self.allowed_types(one.schema) for one in _under(schema, keyword, "")]
            allowed &= frozenset[str]().union(*branches) if branches else ALL_TYPES
        return allowed

    def require_sound(self, name: str) -> None:
        """Raise `SchemaInvalid` for a reference to nothing, to elsewhere, or round in a circle."""
        circle = self._circle()
        for pointer, schema in self.sub_schemas():
            for keyword in _REFERENCES:
                problem = self._problem(schema, keyword)
                if problem is None and keyword in schema and id(schema) in circle:
                    problem = "leads back to itself without a step into the data, so it never ends"
                if problem is not None:
                    raise SchemaInvalid(name, pointer=pointer, keyword=keyword, problem=problem)

    def _problem(self, schema: Mapping[str, object], keyword: str) -> str | None:
        reference = schema.get(keyword)
        if not isinstance(reference, str) or self.target(schema, keyword) is not None:
            return None
        uri = urldefrag(_join(self._places[id(schema)].base, reference)).url
        if uri.startswith(_VOCABULARY):
            return None
        if uri in self._roots:
            return f"names {reference!r}, which is not in the schema"
        return f"names {reference!r} outside the schema, and nothing is fetched; copy it to '$defs'"

    def _circle(self) -> Collection[int]:
        """Return the schemas of a way that leads back without a step into the data, or none."""
        following: dict[int, list[int]] = {}
        waiting = [schema for _, schema in self.sub_schemas()]
        while waiting:
            schema = waiting.pop()
            if id(schema) not in following:
                reached = [one for one in self.in_place(schema) if isinstance(one, Mapping)]
                following[id(schema)] = list(map(id, reached))
                waiting += reached
        try:
            TopologicalSorter(following).prepare()
        except CycleError as error:
            circle: list[int] = error.args[1]
            return circle
        return ()

    def _down(self, root: Schema, pointer: str) -> Schema | None:
        """Follow a pointer; a schema under a keyword that is not known is taken in on the way."""
        current: object = root
        base, walked = self._places[id(root)]
        for step in pointer.split("/")[1:]:
            current = _step_into(current, step.replace("~1", "/").replace("~0", "~"))
            walked += f"/{step}"
            if isinstance(current, Mapping):
                base = _own_base(current, base)
        if not isinstance(current, (Mapping, bool)):
            return None
        if isinstance(current, Mapping) and id(current) not in self._places:
            self._add(current, _Place(base, walked))
        return current

    def _add(self, schema: Schema, place: _Place) -> None:
        if not place.pointer:
            self._roots.setdefault(place.base, schema)
        if not isinstance(schema, Mapping):
            return
        base = _own_base(schema, place.base)
        if base != place.base:
            self._roots.setdefault(base, schema)
        self._places[id(schema)] = _Place(base, place.pointer)
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(name := schema.get(keyword), str):
                self._anchors.setdefault((base, name), schema)
        for child in children(schema, place.pointer):
            self._add(child.schema, _Place(base, child.pointer))


def types_of(schema: Mapping[str, object]) -> frozenset[str]:
    """Return the types that the keyword `type` of one schema lists."""
    named = schema.get("type")
    return (
        frozenset({named})
        if isinstance(named, str)
        else frozenset(map(str, listed(schema, "type")))
    )


def allowed_values(schema: Mapping[str, object]) -> Sequence[object] | None:
    """Return the values of `enum` or `const`, `None` where a schema lists none."""
    if isinstance(schema.get("enum"), list):
        return listed(schema, "enum")
    return [schema["const"]] if "const" in schema else None


def mapped(schema: Mapping[str, object], keyword: str) -> Mapping[str, object]:
    """Return what a keyword holds by name, nothing where it holds no object."""
    held = schema.get(keyword)
    return held if isinstance(held, Mapping) else {}


def listed(schema: Mapping[str, object], keyword: str) -> list[object]:
    """Return what a keyword lists, nothing where it holds no list."""
    held = schema.get(keyword)
    return held if isinstance(held, list) else []


def _own_base(schema: Mapping[str, object], base: str) -> str:
    identifier = schema.get("$id")
    return urldefrag(_join(base, identifier)).url if isinstance(identifier, str) else base


def _join(base: str, reference: str) -> str:
    # `urljoin` knows no relative references of a URN.
    return base + reference if reference.startswith("#") else urljoin(base, reference)


def _step_into(current: object, step: str) -> object:
    if isinstance(current, Mapping):
        return current.get(step)
    if isinstance(current, list) and step.isdecimal() and int(step) < len(current):
        return current[int(step)]
    return None


def children(schema: Mapping[str, object], pointer: str) -> Iterator[SubSchema]:
    """Yield the schemas right inside a schema that stands at a pointer."""
    for keyword in schema:
        yield from _under(schema, keyword, pointer)


def _under(schema: Mapping[str, object], keyword: str, pointer: str) -> Iterator[SubSchema]:
    held, place = schema.get(keyword), f"{pointer}/{keyword}"
    inner: Iterable[tuple[str, object]] = ()
    if isinstance(held, list):
        if keyword in _LISTS:
            inner = ((f"{place}/{position}", item) for position, item in enumerate(held))
    elif keyword in _SINGLE:
        inner = [(place, held)]
    elif keyword in NAMING_KEYWORDS and isinstance(held, Mapping):
        inner = ((place + json_pointer([str(name)]), item) for name, item in held.items())
    for at, item in inner:
        if isinstance(item, (Mapping, bool)):
            yield SubSchema(keyword=keyword, schema=item, pointer=at)
