"""Which values fit a schema, what is said of those that do not, and which schemas are none."""

import math
from typing import Any

import pytest

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.validation.checks.schema.compiled import (
    CompiledSchema,
    non_finite_errors,
)
from ai_psychiatrist.validation.checks.schema.references import Schema, SchemaInvalid

SCORES = {
    "type": "object",
    "required": ["score", "tone"],
    "properties": {
        "score": {"type": "integer", "minimum": 0, "maximum": 3},
        "tone": {"enum": ["warm", "cold"]},
    },
}


def errors(schema: Schema, value: object) -> list[tuple[str, str, str]]:
    compiled = CompiledSchema(schema, name="answer.json")
    found = compiled.errors(value)
    assert compiled.is_valid(value) is not bool(found)
    return [(error.pointer, error.rule, error.message) for error in found]


def test_a_value_that_fits_has_no_errors() -> None:
    assert errors(SCORES, {"score": 2, "tone": "warm"}) == []


def test_a_missing_field_and_a_wrong_type_elsewhere_are_both_reported() -> None:
    assert errors(SCORES, {"score": "x"}) == [
        ("/score", "schema_type", "expected integer, got string"),
        ("/tone", "schema_required", "the field 'tone' is missing"),
    ]


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        pytest.param(
            {"type": ["null", "integer"]},
            2.5,
            ("", "schema_type", "expected integer or null, got number"),
            id="types are named in one order",
        ),
        pytest.param({"maximum": 3}, 4, ("", "schema_maximum", "must be at most 3"), id="maximum"),
        pytest.param(
            {"exclusiveMinimum": 0.5},
            0.5,
            ("", "schema_exclusiveMinimum", "must be more than 0.5"),
            id="exclusive minimum",
        ),
        pytest.param(
            {"multipleOf": 2},
            3,
            ("", "schema_multipleOf", "must be a multiple of 2"),
            id="multiple",
        ),
        pytest.param(
            {"minLength": 2},
            "a",
            ("", "schema_minLength", "must have at least 2 characters"),
            id="length",
        ),
        pytest.param(
            {"enum": [1, "a", None]},
            "b",
            ("", "schema_enum", "is none of the 3 allowed values"),
            id="enum",
        ),
        pytest.param(
            {"const": "a"}, "b", ("", "schema_const", "is not the one allowed value"), id="const"
        ),
        pytest.param(
            {"pattern": "^a"},
            "b",
            ("", "schema_pattern", "does not have the required pattern"),
            id="pattern",
        ),
        pytest.param(
            {"pattern": "^(a|a)*$"},
            "a" * 40_000 + "b",
            ("", "schema_pattern", "does not have the required pattern"),
            id="a pattern that takes others forever",
        ),
        pytest.param(
            {"dependentRequired": {"a": ["b"]}},
            {"a": 1},
            ("/b", "schema_dependentRequired", "the field 'b' is missing"),
            id="required by another field",
        ),
        pytest.param(
            {"contains": {"type": "integer"}, "minContains": 2},
            [1, "a"],
            ("", "schema_minContains", "has too few items of the required form"),
            id="contains too few",
        ),
        pytest.param(
            {"properties": {"a": False}},
            {"a": 1},
            ("/a", "schema_false_schema", "is not allowed here"),
            id="boolean schema",
        ),
        pytest.param(
            {"propertyNames": {"maxLength": 1}},
            {"ab": 1},
            ("", "schema_propertyNames", "has a field whose name is not allowed"),
            id="field names",
        ),
        pytest.param(
            {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "x",
            ("", "schema_anyOf", "expected integer or null, got string"),
            id="alternatives of other types",
        ),
        pytest.param(
            {"anyOf": [{"type": "integer", "maximum": 3}, {"type": "null"}]},
            7,
            ("", "schema_anyOf", "fits none of the 2 alternatives: must be at most 3"),
            id="the alternative of the value's type is the one that is explained",
        ),
        pytest.param(
            {
                "oneOf": [
                    {"required": ["a"]},
                    {"properties": {"b": {"type": "null"}}, "minItems": 1},
                ]
            },
            {"b": 1},
            (
                "",
                "schema_oneOf",
                (
                    "fits none of the 2 alternatives: a the field 'a' is missing,"
                    " or b expected null, got integer"
                ),
            ),
            id="places inside alternatives are named",
        ),
        pytest.param(
            {"oneOf": [{"minimum": 1}, {"minimum": 2}]},
            3,
            ("", "schema_oneOf", "fits more than one of the alternatives"),
            id="two alternatives at once",
        ),
    ],
)
def test_what_is_wrong_is_said_in_plain_words(
    schema: dict[str, object], value: object, expected: tuple[str, str, str]
) -> None:
    assert errors(schema, value) == [expected]


@pytest.mark.parametrize(
    "closed",
    [
        {"additionalProperties": False},
        {"properties": {"a": {}}, "additionalProperties": False},
        {"properties": {"a": {}}, "unevaluatedProperties": False},
    ],
    ids=["no field is known", "additional", "unevaluated"],
)
def test_every_unknown_field_is_an_error_of_its_own(closed: dict[str, object]) -> None:
    places = [place for place, _, message in errors(closed, {"z": 1, "b": 2}) if "known" in message]
    assert places == ["/b", "/z"]


def test_errors_are_ordered_by_place_with_positions_as_numbers() -> None:
    found = errors({"items": {"type": "integer"}}, ["x"] * 11)
    assert [place for place, _, _ in found] == [f"/{position}" for position in range(11)]


def test_one_error_of_two_sub_schemas_is_reported_once() -> None:
    assert len(errors({"allOf": [{"required": ["a"]}, {"required": ["a"]}]}, {})) == 1


def test_messages_hold_no_value_of_the_answer() -> None:
    schema = {
        "properties": {
            "a": {"enum": ["x"]},
            "b": {"type": "integer"},
            "c": {"pattern": "^x"},
            "d": {"anyOf": [{"const": 1}, {"maxLength": 1}]},
            "e": {"items": False},
        }
    }
    found = errors(schema, dict.fromkeys("abcd", "SECRET") | {"e": ["SECRET"]})
    assert len(found) == 5
    assert not any("SECRET" in message for _, _, message in found)


def test_format_is_an_assertion_unless_that_is_not_wished() -> None:
    schema = {"type": "string", "format": "date"}
    message = "does not have the format 'date'"
    assert errors(schema, "tomorrow") == [("", "schema_format", message)]
    assert errors(schema, "2024-02-29") == []
    assert CompiledSchema(schema, name="a.json", checks_formats=False).is_valid("tomorrow")


def test_half_a_character_is_an_error_and_no_crash() -> None:
    assert errors({"properties": {"a": {"enum": ["a"]}}}, {"a": "\ud800"})[0][1] == "schema_text"


def test_integers_of_any_length_are_compared_exactly() -> None:
    assert errors({"type": "integer", "maximum": 10**30}, 10**30) == []
    assert errors({"type": "integer", "maximum": 10**30}, 10**30 + 1) != []


@pytest.mark.parametrize(
    ("schema", "keyword", "pointer"),
    [
        pytest.param({"type": "intger"}, "type", "/type", id="unknown type"),
        pytest.param(
            {"properties": {"a/b": {"minimum": "x"}}},
            "minimum",
            "/properties/a~1b/minimum",
            id="deep",
        ),
        pytest.param({"required": "a"}, "required", "/required", id="no list"),
        pytest.param({"pattern": "("}, "pattern", "/pattern", id="no pattern"),
        pytest.param(
            {"$schema": "http://json-schema.org/draft-06/schema#"}, "$schema", "", id="older draft"
        ),
        pytest.param(
            {"$defs": {"a": {"$schema": "https://example.org/own"}}},
            "$schema",
            "/$defs/a",
            id="own dialect inside",
        ),
        pytest.param({"$ref": "#/$defs/a"}, "$ref", "", id="reference to nothing"),
        pytest.param({"items": {"$ref": "#a"}}, "$ref", "/items", id="anchor that is not there"),
        pytest.param({"$ref": "https://example.org/a.json"}, "$ref", "", id="reference outside"),
        pytest.param({"$ref": "other.json"}, "$ref", "", id="reference to a file"),
        pytest.param({"$ref": "#"}, "$ref", "", id="reference to itself"),
        pytest.param(
            {
                "properties": {"a": {"$ref": "#/$defs/x"}},
                "$defs": {"x": {"$ref": "#/$defs/y"}, "y": {"allOf": [{"$ref": "#/$defs/x"}]}},
            },
            "$ref",
            "/$defs/x",
            id="circle",
        ),
    ],
)
def test_a_schema_that_is_none_is_refused_with_keyword_and_place(
    schema: dict[str, object], keyword: str, pointer: str
) -> None:
    with pytest.raises(SchemaInvalid) as refused:
        CompiledSchema(schema, name="answer.json")
    assert (refused.value.keyword, refused.value.pointer) == (keyword, pointer)
    assert "'answer.json'" in str(refused.value)
    assert repr(keyword) in str(refused.value)
    assert isinstance(refused.value, ConfigurationError)


@pytest.mark.parametrize(
    "schema",
    [
        {"$defs": {"n": {"properties": {"next": {"$ref": "#/$defs/n"}}}}, "$ref": "#/$defs/n"},
        {"items": {"$ref": "#"}},
        {"$id": "https://example.org/tree", "properties": {"a": {"$ref": "tree"}}},
        {"$defs": {"a": {"$anchor": "here", "type": "object"}}, "$ref": "#here"},
        {"properties": {"a": True, "b": {}}},
        {"$schema": "https://json-schema.org/draft/2020-12/schema#"},
        {"$ref": "https://json-schema.org/draft/2020-12/schema"},
        True,
    ],
    ids=["list", "tree", "own id", "anchor", "boolean", "draft", "metaschema", "true"],
)
def test_recursion_through_the_data_and_boolean_schemas_are_fine(
    schema: dict[str, object] | bool,
) -> None:
    assert CompiledSchema(schema, name="answer.json").is_valid({})


@pytest.mark.parametrize(
    "document", [[], "object", None, 5], ids=["list", "text", "null", "number"]
)
def test_a_document_that_is_neither_object_nor_boolean_is_no_schema(document: Any) -> None:
    with pytest.raises(SchemaInvalid, match="expected boolean or object"):
        CompiledSchema(document, name="answer.json")


def test_the_error_of_a_misspelt_type_lists_the_types() -> None:
    with pytest.raises(SchemaInvalid, match="the types are array, boolean"):
        CompiledSchema({"type": "intger"}, name="answer.json")


def test_numbers_that_are_not_finite_are_found_at_any_depth() -> None:
    value = {"b": [1.0, {"c": math.inf}], "a": math.nan, "d": "NaN"}
    found = non_finite_errors(value)
    assert [(error.pointer, error.rule) for error in found] == [
        ("/a", "schema_non_finite_number"),
        ("/b/1/c", "schema_non_finite_number"),
    ]


def doubled(keyword: str) -> dict[str, object]:
    """Return a schema of 25 links, each of which applies the next one twice."""
    links = {f"d{n}": {keyword: [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(25)}
    return {"$ref": "#/$defs/d0", "$defs": {**links, "d25": {"minProperties": 1}}}


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param(doubled("allOf"), id="allOf"),
        pytest.param(doubled("anyOf"), id="anyOf"),
        pytest.param(doubled("oneOf"), id="oneOf"),
        pytest.param({"allOf": [{"items": {"$ref": "#"}}] * 2}, id="each level of an answer"),
        pytest.param({"properties": {"a": {"enum": list(range(200_000))}}}, id="listed values"),
        pytest.param({"allOf": [{"pattern": "a"} for _ in range(200)]}, id="patterns"),
        pytest.param(
            {"allOf": [{"$ref": "#/$defs/a"}] * 999 + [{"required": ["b"]}], "$defs": {"a": True}},
            id="many parts",
        ),
    ],
)
def test_a_schema_that_asks_too_much_of_one_value_is_refused(schema: dict[str, object]) -> None:
    with pytest.raises(SchemaInvalid, match="applies more than 1000 parts to one value"):
        CompiledSchema(schema, name="answer.json")


def test_a_schema_of_many_fields_that_holds_itself_is_none_that_asks_too_much() -> None:
    fields = {f"f{n}": {"$ref": "#"} for n in range(1_000)}
    CompiledSchema({"properties": fields, "items": {"$ref": "#"}}, name="answer.json")


def test_a_way_of_references_that_is_too_long_is_refused_at_once() -> None:
    links = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(3_000)}
    schema = {"$ref": "#/$defs/d0", "$defs": {**links, "d3000": True}}
    with pytest.raises(SchemaInvalid):
        CompiledSchema(schema, name="answer.json")


def test_a_schema_is_nested_a_hundred_levels_deep_at_most() -> None:
    schema: dict[str, object] = {"minimum": 1}
    for _ in range(100):
        schema = {"not": schema}
    with pytest.raises(SchemaInvalid, match="nested deeper than 100 levels"):
        CompiledSchema(schema, name="answer.json")


@pytest.mark.parametrize("pattern", ["(?=(a+)+$)b", r"(a)\1", "(?<=a)b", "((a{1,99}){1,99}){1,99}"])
def test_a_pattern_that_can_take_without_end_is_refused_with_its_place(pattern: str) -> None:
    with pytest.raises(SchemaInvalid, match="'pattern' at /properties/a/pattern"):
        CompiledSchema({"properties": {"a": {"pattern": pattern}}}, name="answer.json")
