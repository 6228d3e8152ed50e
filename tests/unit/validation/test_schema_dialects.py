"""Schemas of draft-07 and 2019-09 by their own rules, and keywords that mean nothing."""

from typing import Any

import jsonschema
import pytest

from ai_psychiatrist.validation.checks.coercion.coercer import Coercer
from ai_psychiatrist.validation.checks.schema.compiled import CompiledSchema
from ai_psychiatrist.validation.checks.schema.references import SchemaInvalid

SEVENTH = "http://json-schema.org/draft-07/schema#"
OF_2019 = "https://json-schema.org/draft/2019-09/schema"
ORACLES = {SEVENTH: jsonschema.Draft7Validator, OF_2019: jsonschema.Draft201909Validator}
INTEGER: dict[str, object] = {"type": "integer"}


@pytest.mark.parametrize(
    ("draft", "schema", "values"),
    [
        pytest.param(
            SEVENTH,
            {"properties": {"a": {"items": [INTEGER], "additionalItems": False}}},
            [{"a": [1]}, {"a": ["x"]}, {"a": [1, 2]}],
            id="first items",
        ),
        pytest.param(
            SEVENTH,
            {
                "properties": {"a": {"$ref": "#/definitions/n", "type": "string"}},
                "definitions": {"n": INTEGER},
            },
            [{"a": 1}, {"a": "x"}],
            id="keywords next to a reference",
        ),
        pytest.param(
            SEVENTH,
            {
                "properties": {"a": {"$ref": "#n"}},
                "definitions": {"n": {"$id": "#n", "minimum": 2}},
            },
            [{"a": 1}, {"a": 2}],
            id="anchor",
        ),
        pytest.param(
            SEVENTH,
            {"dependencies": {"a": ["b"], "c": {"required": ["d"]}}},
            [{"a": 1}, {"a": 1, "b": 1}, {"c": 1}, {"c": 1, "d": 1}],
            id="dependencies",
        ),
        pytest.param(
            SEVENTH,
            {"properties": {"a": {"contains": INTEGER, "minContains": 2}}},
            [{"a": [1]}, {"a": []}],
            id="newer keyword",
        ),
        pytest.param(
            OF_2019,
            {"properties": {"a": {"items": [INTEGER], "additionalItems": INTEGER}}},
            [{"a": [1, 2]}, {"a": [1, "x"]}],
            id="items of 2019",
        ),
        pytest.param(
            OF_2019,
            {"properties": {"a": {"$recursiveRef": "#"}, "b": INTEGER}},
            [{"a": {"a": {"b": 1}}}, {"a": {"a": {"b": "x"}}}],
            id="recursion",
        ),
    ],
)
def test_a_value_is_judged_by_the_draft_that_the_schema_names(
    draft: str, schema: dict[str, Any], values: list[dict[str, object]]
) -> None:
    document = {"$schema": draft, **schema}
    compiled, oracle = CompiledSchema(document, name="old"), ORACLES[draft](document)
    for value in values:
        assert compiled.is_valid(value) is not bool(compiled.errors(value))
        assert compiled.is_valid(value) is oracle.is_valid(value)
    assert {compiled.is_valid(value) for value in values} == {True, False}


def test_values_are_coerced_as_an_older_draft_asks() -> None:
    schema = {
        "$schema": SEVENTH,
        "properties": {
            "scores": {"type": "array", "items": [INTEGER, {"enum": ["Warm"]}]},
            "tone": {"$ref": "#/definitions/n", "type": "string"},
        },
        "definitions": {"n": INTEGER},
        "dependencies": {"tone": {"properties": {"sure": {"type": "boolean"}}}},
    }
    answer: dict[str, object] = {"scores": ["1", "warm", "2"], "tone": "3", "sure": "true"}
    coerced = Coercer(CompiledSchema(schema, name="old")).coerce(answer)
    assert coerced.value == {"scores": [1, "Warm", "2"], "tone": 3, "sure": True}


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        pytest.param(
            {"$schema": "http://json-schema.org/draft-04/schema#"}, "draft-04", id="older"
        ),
        pytest.param(
            {"$schema": OF_2019, "items": {"$schema": SEVENTH}}, "'.schema' at /items", id="two"
        ),
        pytest.param({"$schema": SEVENTH, "items": [{"type": "int"}]}, "'items'", id="a fault"),
    ],
)
def test_what_is_no_schema_of_a_known_draft_is_refused(
    schema: dict[str, object], words: str
) -> None:
    with pytest.raises(SchemaInvalid, match=words):
        CompiledSchema(schema, name="old")


@pytest.mark.parametrize(
    ("schema", "warnings"),
    [
        pytest.param(
            {"properties": {"a": {"requird": ["b"]}}},
            ("'requird' at /properties/a is no keyword of JSON Schema; did you mean 'required'?",),
            id="misspelt",
        ),
        pytest.param(
            {"$schema": SEVENTH, "minContains": 2},
            ("'minContains' at / means nothing in the draft that '$schema' names",),
            id="newer than the draft",
        ),
        pytest.param({"x-note": 1, "nullable": True, "example": 1}, (), id="of another program"),
        pytest.param({"properties": {"requird": {}}, "enum": [{"typo": 1}]}, (), id="names"),
    ],
)
def test_a_keyword_that_means_nothing_is_a_warning(
    schema: dict[str, object], warnings: tuple[str, ...]
) -> None:
    said = tuple(f"schema 's': {warning}" for warning in warnings)
    assert CompiledSchema(schema, name="s").warnings == said
