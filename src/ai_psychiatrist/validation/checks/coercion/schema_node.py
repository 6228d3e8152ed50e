"""Read off a schema, once, what it asks of a value that a coercion can give it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeAlias

import jsonschema_rs

from ai_psychiatrist.validation.checks.coercion.choices import Choices, CoercionProfile
from ai_psychiatrist.validation.checks.schema.compiled import PATTERNS, CompiledSchema, fits
from ai_psychiatrist.validation.checks.schema.references import (
    ALL_TYPES,
    allowed_values,
    listed,
    mapped,
    types_of,
)

Check: TypeAlias = Callable[[object], bool]

_ANY: Final[frozenset[type]] = frozenset({dict, list, str, int, float, bool, type(None)})


@dataclass(slots=True, kw_only=True)
class SchemaNode:
    """What one schema asks of a value; parts that can change nothing are left out."""

    changes: frozenset[type] = _ANY
    """The types of values that it can change; all of them while it is being read."""
    parts: "list[SchemaNode]" = field(default_factory=list)
    """What is asked of the same value by `$ref`, `$dynamicRef` and `allOf`."""
    text_types: frozenset[str] = frozenset()
    """The types as which a text is read; none where text is wanted."""
    item_types: frozenset[str] = ALL_TYPES
    may_be_absent: bool = True
    """Whether a word such as `N/A` may become null; not next to an alternative that takes text."""
    is_whole: bool = False
    """Whether 5.0 is to be 5."""
    choices: Choices | None = None
    named: "dict[str, SchemaNode]" = field(default_factory=dict)
    patterns: "list[tuple[Check, SchemaNode]]" = field(default_factory=list)
    rest: "SchemaNode" = field(init=False)
    """What is asked of fields of other names."""
    first_items: "list[SchemaNode]" = field(default_factory=list)
    items: "SchemaNode" = field(init=False)
    """What is asked of the items after the first ones."""
    conditions: "list[tuple[Check, SchemaNode, SchemaNode]]" = field(default_factory=list)
    """What is asked where a check of the value holds, and where it does not."""
    alternatives: "list[Alternatives]" = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        """Whether something is asked of fields that the schema does not name."""
        return bool(_union([self.rest, *(inner for _, inner in self.patterns)]))

    def of_field(self, name: str) -> "list[SchemaNode]":
        """Return what is asked of the field of a name, in order."""
        matching = [inner for matches, inner in self.patterns if matches(name)]
        if name not in self.named and not matching:
            matching = [self.rest]
        return [self.named.get(name, NOTHING), *matching]


NOTHING: Final = SchemaNode(changes=frozenset())


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """One alternative of `anyOf` or `oneOf`."""

    fits: Check
    node: SchemaNode
    types: frozenset[str]
    """The types that it lets through."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternatives:
    """The branches of `anyOf` or `oneOf`."""

    branches: Sequence[Branch]
    most: int
    """How many of them a value may fit that was changed."""
    changes: frozenset[type]


def read_schema(schema: CompiledSchema, profile: CoercionProfile) -> SchemaNode:
    """Return what a whole document asks; it changes no type when a coercion can give it nothing."""
    return _Reader(schema, profile).node(schema.document)


class _Reader:
    """Reads the schemas of one document."""

    def __init__(self, schema: CompiledSchema, profile: CoercionProfile) -> None:
        self._schema = schema
        self._profile = profile
        self._read: dict[tuple[int, bool], SchemaNode] = {}
        self._checks: jsonschema_rs.ValidatorMap | None = None

    def node(self, schema: object, *, may_be_absent: bool = True) -> SchemaNode:
        if not isinstance(schema, Mapping):
            return NOTHING
        key = (id(schema), may_be_absent)
        if key not in self._read:
            # A schema that holds itself finds the node, which is not filled yet.
            self._read[key] = node = SchemaNode(may_be_absent=may_be_absent)
            self._fill(node, schema)
        return self._read[key]

    def _fill(self, node: SchemaNode, schema: Mapping[str, object]) -> None:
        types = types_of(schema)
        node.parts = [
            self.node(part, may_be_absent=node.may_be_absent)
            for part in self._schema.references.in_place(schema, ("allOf",))
        ]
        node.text_types = frozenset() if "string" in types else types
        node.item_types = self._types(schema.get("items"))
        node.is_whole = "integer" in types and "number" not in types
        if (values := allowed_values(schema)) is not None:
            node.choices = Choices(values, self._profile)
        node.named = self._by_name(schema, "properties")
        patterns = self._by_name(schema, "patternProperties")
        node.patterns = [(_key_check(pattern), inner) for pattern, inner in patterns.items()]
        node.rest = self.node(schema.get("additionalProperties"))
        node.first_items = [self.node(inner) for inner in listed(schema, "prefixItems")]
        node.items = self.node(schema.get("items"))
        dependents = self._by_name(schema, "dependentSchemas")
        node.conditions = [(_has_field(name), inner, NOTHING) for name, inner in dependents.items()]
        if "if" in schema:
            branches = (schema.get("then"), schema.get("else"))
            then, other = (self.node(one, may_be_absent=node.may_be_absent) for one in branches)
            node.conditions.append((self._check(schema["if"]), then, other))
        node.alternatives = [
            found
            for keyword in ("anyOf", "oneOf")
            if (found := self._alternatives(node, schema, keyword)).changes
        ]
        node.changes = _changes(node)

    def _by_name(self, schema: Mapping[str, object], keyword: str) -> dict[str, SchemaNode]:
        return {name: self.node(inner) for name, inner in mapped(schema, keyword).items()}

    def _alternatives(
        self, node: SchemaNode, schema: Mapping[str, object], keyword: str
    ) -> Alternatives:
        schemas = listed(schema, keyword)
        takes_text = any("string" in self._types(inner) for inner in schemas)
        may_be_absent = node.may_be_absent and not takes_text
        nodes = [self.node(inner, may_be_absent=may_be_absent) for inner in schemas]
        changes = _union(nodes)
        branches = [
            Branch(fits=self._check(inner), node=one, types=self._types(inner))
            for inner, one in zip(schemas, nodes, strict=True)
            if changes
        ]
        most = 1 if keyword == "oneOf" else len(branches)
        return Alternatives(branches=branches, most=most, changes=changes)

    def _types(self, schema: object) -> frozenset[str]:
        if not isinstance(schema, (Mapping, bool)):
            return ALL_TYPES
        return self._schema.references.allowed_types(schema)

    def _check(self, schema: object) -> Check:
        """Return the check of one schema inside the document, with the document's references."""
        if not isinstance(schema, Mapping):
            return lambda _: bool(schema)
        if self._checks is None:
            self._checks = self._schema.checks_by_pointer()
        validator = self._checks.get(f"#{self._schema.references.pointer(schema)}")
        return (lambda _: False) if validator is None else partial(fits, validator)


def _changes(node: SchemaNode) -> frozenset[type]:
    kinds: dict[type, object] = {
        str: node.text_types or node.choices is not None,
        float: node.is_whole,
        dict: node.is_open or _union(node.named.values()),
        list: _union([node.items, *node.first_items]),
    }
    own = frozenset(kind for kind, asked in kinds.items() if asked)
    inner = [one for _, then, other in node.conditions for one in (then, other)]
    return own | _union([*node.parts, *inner, *node.alternatives])


def _union(asking: "Iterable[SchemaNode | Alternatives]") -> frozenset[type]:
    return frozenset[type]().union(*(one.changes for one in asking))


def _has_field(name: str) -> Check:
    return lambda value: isinstance(value, dict) and name in value


def _key_check(pattern: str) -> Check:
    """Return the check of a key against a pattern as the schema engine reads it."""
    validator = jsonschema_rs.Draft202012Validator({"pattern": pattern}, pattern_options=PATTERNS)
    return partial(fits, validator)
