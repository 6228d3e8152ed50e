"""Count how much of a schema is applied to one value, before any value is checked against it.

A schema of a few hundred characters can ask for the same part a million times, by references that
double at every link: at one value, or at each level of an answer that is nested.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from ai_psychiatrist.validation.checks.schema.references import Schema, SchemaReferences

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

_Parts = Counter[int]
"""Schema, by its identity → how often it is applied."""


class TooMuchWork(Exception):
    """A schema asks for more than is done; the message says of what."""

    def __init__(self, message: str, schema: Schema) -> None:
        super().__init__(message)
        self.schema = schema
        """Where it does."""


def refuse_too_much_work(document: Schema, references: SchemaReferences) -> None:
    """Raise `TooMuchWork` unless every value of an answer meets few parts of a schema.

    No reference may lead back to its own schema without a step into the data.
    """
    if isinstance(document, Mapping):
        _Unfolding(references).walk(document)


class _Unfolding:
    """Goes through the places that an answer can have, each set of parts once."""

    def __init__(self, references: SchemaReferences) -> None:
        self._references = references
        self._schemas: dict[int, Mapping[str, object]] = {}
        self._applied: dict[int, _Parts] = {}
        self._weights: dict[int, int] = {}
        """Schema, by its identity → the weight of all that is applied with it."""
        self._steps = 0

    def walk(self, document: Mapping[str, object]) -> None:
        seen: set[frozenset[tuple[int, int]]] = set()
        whole = self._together(self._known([(document, 1)]))
        level = [whole] if whole else []
        for _ in range(MOST_LEVELS):
            following = []
            for asked in (asked for place in level for asked in self._children(place)):
                place = self._together(asked)
                key = frozenset(place.items())
                if place and key not in seen:
                    seen.add(key)
                    following.append(place)
            if not following:
                return
            level = following
        message = f"leads more than {MOST_LEVELS} levels into an answer"
        raise TooMuchWork(message, self._schemas[next(iter(level[0]))])

    def _known(self, asked: Iterable[tuple[object, int]]) -> _Parts:
        parts: _Parts = Counter()
        for schema, times in asked:
            if isinstance(schema, Mapping):
                self._schemas[id(schema)] = schema
                parts[id(schema)] += times
        return parts

    def _together(self, asked: _Parts) -> _Parts:
        """Return what is asked of the inside of a value to which some parts are applied."""
        together: _Parts = Counter()
        weight = 0
        for part, times in asked.items():
            applied = self._all_applied(part)
            self._spend(len(applied), part)
            weight += times * self._weights[part]
            self._refuse_heavy(weight, part)
            for inner, inner_times in applied.items():
                if not _INSIDE.isdisjoint(self._schemas[inner]):
                    together[inner] += times * inner_times
        return together

    def _all_applied(self, part: int) -> _Parts:
        waiting = [part]
        while waiting:
            current = waiting[-1]
            if current in self._applied:
                waiting.pop()
                continue
            direct = self._known((one, 1) for one in self._direct(self._schemas[current]))
            lacking = [inner for inner in direct if inner not in self._applied]
            self._spend(len(direct) + 1, current)
            if lacking:
                waiting += lacking
                continue
            weights = [times * self._weights[inner] for inner, times in direct.items()]
            self._weights[current] = _weight(self._schemas[current]) + sum(weights)
            self._refuse_heavy(self._weights[current], current)
            applied = Counter({current: 1})
            for inner, times in direct.items():
                self._spend(len(self._applied[inner]), current)
                for deeper, deeper_times in self._applied[inner].items():
                    applied[deeper] += times * deeper_times
            self._applied[current] = applied
            waiting.pop()
        return self._applied[part]

    def _direct(self, schema: Mapping[str, object]) -> Iterator[Schema]:
        return (one for one in self._references.same_place(schema) if one is not None)

    def _children(self, place: _Parts) -> Iterator[_Parts]:
        """Yield what is asked of each kind of value inside a value."""
        schemas = [(self._schemas[part], times) for part, times in place.items()]
        yield self._known((one.get("propertyNames"), times) for one, times in schemas)
        names = dict.fromkeys(name for one, _ in schemas for name in mapped(one, "properties"))
        for name in (*names, None):
            self._spend(len(schemas), next(iter(place)))
            yield self._known(
                (held, times) for one, times in schemas for held in _of_name(one, name)
            )
        longest = max((len(listed(one, "prefixItems")) for one, _ in schemas), default=0)
        for position in range(longest + 1):
            self._spend(len(schemas), next(iter(place)))
            yield self._known(
                (held, times) for one, times in schemas for held in _of_item(one, position)
            )

    def _refuse_heavy(self, weight: int, culprit: int) -> None:
        if weight > MOST_APPLIED:
            message = f"applies more than {MOST_APPLIED} parts to one value; join them"
            raise TooMuchWork(message, self._schemas[culprit])

    def _spend(self, steps: int, culprit: int) -> None:
        self._steps += steps
        if self._steps > _MOST_STEPS:
            message = "combines its parts in too many ways"
            raise TooMuchWork(message, self._schemas[culprit])


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


def mapped(schema: Mapping[str, object], keyword: str) -> Mapping[str, object]:
    """Return what a keyword holds by name, nothing where it holds no object."""
    held = schema.get(keyword)
    return held if isinstance(held, Mapping) else {}


def listed(schema: Mapping[str, object], keyword: str) -> list[object]:
    """Return what a keyword lists, nothing where it holds no list."""
    held = schema.get(keyword)
    return held if isinstance(held, list) else []
