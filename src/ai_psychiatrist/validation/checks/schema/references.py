"""Find the sub-schemas of a JSON Schema, and follow its references without a network."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Final
from urllib.parse import unquote, urldefrag, urljoin

from ai_psychiatrist.validation.checks.verdict import json_pointer

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
_SAME_PLACE: Final = {"if", "then", "else", "not", "allOf", "anyOf", "oneOf", "dependentSchemas"}

Schema = Mapping[str, object] | bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SubSchema:
    """A schema inside a document, and where it stands."""

    keyword: str
    """The keyword that holds it, empty for the document itself."""
    schema: Schema
    pointer: str
    """Its JSON pointer from the top of its document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceProblem:
    """A reference that cannot be followed, or that never ends."""

    keyword: str
    pointer: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    base: str
    pointer: str
    is_own: bool
    """Whether it stands in the document itself and not in a resource."""


class SchemaReferences:
    """The sub-schemas, identifiers and anchors of a document and of the resources beside it."""

    def __init__(self, document: Schema, resources: Mapping[str, Schema] | None = None) -> None:
        self._roots: dict[str, Schema] = {}
        self._anchors: dict[tuple[str, str], Schema] = {}
        self._places: dict[int, _Place] = {}
        self._document = document
        self._add(document, _Place(base="", pointer="", is_own=True))
        for uri, resource in (resources or {}).items():
            self._add(resource, _Place(base=uri, pointer="", is_own=False))

    def sub_schemas(self) -> Iterator[SubSchema]:
        """Yield the document and every schema inside it, in its order."""
        yield SubSchema(keyword="", schema=self._document, pointer="")
        yield from _inside(self._document, "")

    def pointer(self, schema: Schema) -> str | None:
        """Return where a schema of the document stands; `None` for a schema of a resource."""
        place = self._places.get(id(schema))
        return place.pointer if place is not None and place.is_own else None

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

    def problems(self) -> Iterator[ReferenceProblem]:
        """Yield the references that lead nowhere, out of the document, or round in a circle."""
        circle = self._circle()
        for found in self.sub_schemas():
            if not isinstance(found.schema, Mapping):
                continue
            for keyword in _REFERENCES:
                problem = self._problem(found.schema, keyword)
                if problem is None and keyword in found.schema and id(found.schema) in circle:
                    problem = "leads back to itself without a step into the data, so it never ends"
                if problem is not None:
                    yield ReferenceProblem(keyword=keyword, pointer=found.pointer, message=problem)

    def _problem(self, schema: Mapping[str, object], keyword: str) -> str | None:
        reference = schema.get(keyword)
        if not isinstance(reference, str):
            return None
        if self.target(schema, keyword) is not None:
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
        waiting: list[Schema | None] = [found.schema for found in self.sub_schemas()]
        while waiting:
            schema = waiting.pop()
            if isinstance(schema, Mapping) and id(schema) not in following:
                reached = [one for one in self.same_place(schema) if isinstance(one, Mapping)]
                following[id(schema)] = list(map(id, reached))
                waiting += reached
        try:
            TopologicalSorter(following).prepare()
        except CycleError as error:
            circle: list[int] = error.args[1]
            return circle
        return ()

    def same_place(self, schema: Mapping[str, object]) -> Iterator[Schema | None]:
        """Yield the schemas that are applied to a value to which a schema is."""
        yield from (self.target(schema, keyword) for keyword in _REFERENCES)
        for child in children(schema, ""):
            if child.keyword in _SAME_PLACE:
                yield child.schema

    def _down(self, root: Schema, pointer: str) -> Schema | None:
        """Follow a pointer; a schema under a keyword that is not known is taken in on the way."""
        current: object = root
        start = self._places[id(root)]
        base, walked = start.base, start.pointer
        for step in pointer.split("/")[1:]:
            current = _step_into(current, step.replace("~1", "/").replace("~0", "~"))
            walked += f"/{step}"
            if isinstance(current, Mapping):
                base = _own_base(current, base)
        if not isinstance(current, (Mapping, bool)):
            return None
        if isinstance(current, Mapping) and id(current) not in self._places:
            self._add(current, _Place(base=base, pointer=walked, is_own=start.is_own))
        return current

    def _add(self, schema: Schema, place: _Place) -> None:
        if not place.pointer:
            self._roots.setdefault(place.base, schema)
        if not isinstance(schema, Mapping):
            return
        base = _own_base(schema, place.base)
        if base != place.base:
            self._roots.setdefault(base, schema)
        self._places[id(schema)] = _Place(base=base, pointer=place.pointer, is_own=place.is_own)
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(name := schema.get(keyword), str):
                self._anchors.setdefault((base, name), schema)
        for child in children(schema, place.pointer):
            self._add(child.schema, _Place(base=base, pointer=child.pointer, is_own=place.is_own))


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


def _inside(schema: Schema, pointer: str) -> Iterator[SubSchema]:
    for child in children(schema, pointer):
        yield child
        yield from _inside(child.schema, child.pointer)


def children(schema: Schema, pointer: str) -> Iterator[SubSchema]:
    """Yield the schemas right inside a schema that stands at a pointer."""
    if not isinstance(schema, Mapping):
        return
    for keyword, held in schema.items():
        place = f"{pointer}/{keyword}"
        if keyword in _SINGLE and not isinstance(held, list):
            yield from _if_schema(keyword, held, place)
        elif isinstance(held, list) and keyword in _LISTS:
            for position, item in enumerate(held):
                yield from _if_schema(keyword, item, f"{place}/{position}")
        elif keyword in NAMING_KEYWORDS and isinstance(held, Mapping):
            for name, item in held.items():
                yield from _if_schema(keyword, item, place + json_pointer([str(name)]))


def _if_schema(keyword: str, held: object, pointer: str) -> Iterator[SubSchema]:
    if isinstance(held, (Mapping, bool)):
        yield SubSchema(keyword=keyword, schema=held, pointer=pointer)
