"""Schemas and answers for property tests: few names and values, so that they often meet."""

from typing import Any

from hypothesis import strategies as st

from ai_psychiatrist.validation.checks.schema.complexity import require_bounded
from ai_psychiatrist.validation.checks.schema.references import SchemaInvalid, SchemaReferences

NAMES = st.sampled_from(["a", "b", "response"])
TYPES = st.sampled_from(["integer", "number", "string", "boolean", "array", "object", "null"])
TEXTS = st.one_of(
    st.sampled_from(["", "0", "1", " 2 ", "5.0", "1.5", "1e3", "true", "FALSE", "null", "N/A"]),
    st.sampled_from(["warm", "WARM", "shadow warm", "cold | x", "[1]", '["1", "a"]', "[1"]),
    st.sampled_from(['{"a": 1}', '{"a": "1", "b": "x"}', '{"response": "{\\"a\\": 1}"}']),
)
NUMBERS = st.one_of(
    st.integers(-1, 6), st.sampled_from([0.0, 1.0, 1.5, 5.0, 1e15, 1e300, -2.0, 0.1, 0.3])
)
SCALARS = st.one_of(TEXTS, NUMBERS, st.booleans(), st.none())


def values() -> st.SearchStrategy[object]:
    """Return a strategy for JSON values."""
    return st.recursive(
        SCALARS,
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner)),
        max_leaves=8,
    )


def answers() -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy for JSON objects."""
    return st.fixed_dictionaries({}, optional={"a": TEXTS, "b": values(), "response": values()})


def schemas() -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy for schemas of objects; `#/$defs/d` is a schema that may hold itself."""
    return st.builds(
        lambda fields, more, definition: {**more, **fields, "$defs": {"d": definition}},
        st.fixed_dictionaries(
            {"properties": st.fixed_dictionaries({"a": _typed(), "b": _any_schema()})}
        ),
        _few(_applicators(_any_schema())),
        _any_schema(),
    ).filter(_is_bounded)


def _is_bounded(schema: dict[str, Any]) -> bool:
    """Return whether no part of a schema doubles with each level of an answer."""
    try:
        require_bounded(schema, SchemaReferences(schema), "drawn")
    except SchemaInvalid:
        return False
    return True


def _typed() -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy for schemas that a text may be coerced to."""
    several = st.lists(_few(_ASSERTIONS), min_size=1, max_size=3)
    return st.one_of(
        st.fixed_dictionaries({"type": _ASSERTIONS["type"]}, optional={"items": _few(_ASSERTIONS)}),
        st.fixed_dictionaries({"enum": _ASSERTIONS["enum"]}),
        st.fixed_dictionaries({"anyOf": several}),
        st.fixed_dictionaries({"type": st.just("array"), "items": st.just({"$ref": "#/$defs/d"})}),
        st.just({"$ref": "#/$defs/d"}),
    )


def _any_schema() -> st.SearchStrategy[Any]:
    leaf = st.one_of(
        _few(_ASSERTIONS),
        _few(_ASSERTIONS),
        st.sampled_from([True, False, {"items": {"$ref": "#/$defs/d"}}, {}]),
    )
    return st.recursive(
        leaf, lambda inner: _few({**_ASSERTIONS, **_applicators(inner)}), max_leaves=5
    )


def _few(keywords: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy for schemas of one to three keywords: with many, hardly a value fits."""
    return st.lists(st.sampled_from(list(keywords)), min_size=1, max_size=3, unique=True).flatmap(
        lambda names: st.fixed_dictionaries({name: keywords[name] for name in names})
    )


_ASSERTIONS: dict[str, st.SearchStrategy[Any]] = {
    "type": st.one_of(TYPES, st.lists(TYPES, min_size=1, max_size=3, unique=True)),
    "enum": st.lists(SCALARS, min_size=1, max_size=4),
    "const": SCALARS,
    "minimum": st.integers(-1, 3),
    "maximum": st.integers(0, 6),
    "multipleOf": st.sampled_from([1, 2, 0.5]),
    "minLength": st.integers(0, 3),
    "pattern": st.sampled_from(["^[a-z]+$", "^1", "a|b"]),
    "required": st.lists(NAMES, max_size=2, unique=True),
    "minItems": st.integers(0, 2),
    "uniqueItems": st.booleans(),
    "dependentRequired": st.just({"a": ["b"]}),
    "propertyNames": st.just({"maxLength": 3}),
}


def _applicators(inner: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    several = st.lists(inner, min_size=1, max_size=3)
    return {
        "properties": st.dictionaries(NAMES, inner, min_size=1, max_size=3),
        "patternProperties": st.fixed_dictionaries({"^[ab]$": inner}),
        "additionalProperties": inner,
        "items": inner,
        "prefixItems": several,
        "contains": inner,
        "allOf": several,
        "anyOf": several,
        "oneOf": several,
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
    }
