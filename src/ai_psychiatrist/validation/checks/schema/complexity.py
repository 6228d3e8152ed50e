"""Count how much of a schema is applied to one value, before any value is checked against it.

A schema of a few hundred characters can ask for the same part a million times, by references that
double at every link: at one value, or at each level of an answer that is nested.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from ai_psychiatrist.validation.checks.schema.references import (
    Schema,
    SchemaInvalid,
    SchemaReferences,
    listed,
    mapped,
)

MOST_APPLIED: Final = 1_000
"""Parts of a schema that are applied to one value; 100 names or listed values count as one."""
MOST_LEVELS: Final = 200
"""Levels of an answer in which further parts of a schema come up."""

_MOST_STEPS: Final = 400_000
_NAMES_PER_PART: Final = 100
_PATTERN_PARTS: Final = 20
_SIZED: Final = ("dependentRequired", "enum", "properties", "required")
_ANY_NAME: Final = ("additionalProperties", "unevaluatedProperties")
_ANY_ITEM: Final = ("contains", "unevaluatedItems")

_INSIDE: Final = frozenset(
    {*_ANY_NAME, *_ANY_ITEM, "items", "patternProperties", "prefixItems", "properties"}
    | {"propertyNames"}
)
"""Keywords that ask something of the values inside a value."""


def require_bounded(document: Schema, references: SchemaReferences, name: str) -> None:
    """Raise `SchemaInvalid` unless every value of an answer meets few parts of a schema.

    No reference may lead back to its own schema without a step into the data.
    """
    if isinstance(document, Mapping):
        _Unfolding(references, name).walk(document)


class _Unfolding:
    """Goes through the places that an answer can have, each set of parts once."""

    def __init__(self, references: SchemaReferences, name: str) -> None:
        self._references, self._name = references, name
        self._schemas: dict[int, Mapping[str, object]] = {}
        self._in_place: dict[int, list[Schema]] = {}
        self._steps = 0

    def walk(self, document: Mapping[str, object]) -> None:
        seen: set[frozenset[tuple[int, int]]] = set()
        whole = self._applied([(document, 1)])
        level = [whole] if whole else []
        for _ in range(MOST_LEVELS):
            following = []
            for asked in (asked for place in level for asked in self._children(place)):
                place = self._applied(asked)
                key = frozenset(place.items())
                if place and key not in seen:
                    seen.add(key)
                    following.append(place)
            if not following:
                return
            level = following
        culprit = self._schemas[next(iter(level[0]))]
        raise self._invalid(f"leads more than {MOST_LEVELS} levels into an answer", culprit)

    def _applied(self, asked: Iterable[tuple[object, int]]) -> Counter[int]:
        """Return how often each schema that asks for the inside of a value is applied to one."""
        waiting, applied, weight = [*asked], Counter[int](), 0
        while waiting:
            schema, times = waiting.pop()
            if not isinstance(schema, Mapping):
                continue
            part = id(schema)
            if part not in self._in_place:
                self._schemas[part] = schema
                self._in_place[part] = list(self._references.in_place(schema))
            weight += times * _weight(schema)
            if weight > MOST_APPLIED:
                message = f"applies more than {MOST_APPLIED} parts to one value; join them"
                raise self._invalid(message, schema)
            self._spend(1 + len(self._in_place[part]), schema)
            waiting += [(inner, times) for inner in self._in_place[part]]
            if not _INSIDE.isdisjoint(schema):
                applied[part] += times
        return applied

    def _children(self, place: Counter[int]) -> Iterator[list[tuple[object, int]]]:
        """Yield what is asked of each kind of value inside a value."""
        schemas = [(self._schemas[part], times) for part, times in place.items()]
        yield [(one.get("propertyNames"), times) for one, times in schemas]
        names = dict.fromkeys(name for one, _ in schemas for name in mapped(one, "properties"))
        for name in (*names, None):
            self._spend(len(schemas), schemas[0][0])
            yield [(held, times) for one, times in schemas for held in _of_name(one, name)]
        longest = max((len(listed(one, "prefixItems")) for one, _ in schemas), default=0)
        for position in range(longest + 1):
            self._spend(len(schemas), schemas[0][0])
            yield [(held, times) for one, times in schemas for held in _of_item(one, position)]

    def _spend(self, steps: int, culprit: Mapping[str, object]) -> None:
        self._steps += steps
        if self._steps > _MOST_STEPS:
            raise self._invalid("combines its parts in too many ways", culprit)

    def _invalid(self, problem: str, culprit: Mapping[str, object]) -> SchemaInvalid:
        pointer = self._references.pointer(culprit)
        return SchemaInvalid(self._name, pointer=pointer, keyword="", problem=problem)


def _weight(schema: Mapping[str, object]) -> int:
    names = sum(len(held) for key in _SIZED if isinstance(held := schema.get(key), list | Mapping))
    patterns = len(mapped(schema, "patternProperties")) + ("pattern" in schema)
    return 1 + names // _NAMES_PER_PART + patterns * _PATTERN_PARTS


def _of_name(schema: Mapping[str, object], name: str | None) -> Iterator[object]:
    """Yield what is asked of the field of a name; `None` is a name that no schema knows."""
    properties = mapped(schema, "properties")
    if name is not None and name in properties:
        yield properties[name]
    else:
        yield schema.get(_ANY_NAME[0])
    yield schema.get(_ANY_NAME[1])
    yield from mapped(schema, "patternProperties").values()


def _of_item(schema: Mapping[str, object], position: int) -> Iterator[object]:
    first = listed(schema, "prefixItems")
    yield first[position] if position < len(first) else schema.get("items")
    yield from (schema.get(keyword) for keyword in _ANY_ITEM)
