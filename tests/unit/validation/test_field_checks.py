"""Field rules: what is required, which types, values and numbers are taken, and what is written."""

import math
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.validation.checks.coercion.choices import DEFAULT, STRICT, CoercionProfile
from ai_psychiatrist.validation.checks.field_checks import FieldChecks, compiled_field
from ai_psychiatrist.validation.checks.schema.compiled import CompiledSchema
from ai_psychiatrist.validation.checks.schema.references import ALL_TYPES, Schema
from ai_psychiatrist.validation.checks.step_config import RuleBlock

UNIT_RANGE = [0, 1]
TONE = ["warm", "cold"]


def found(
    checks: FieldChecks, value: dict[str, object], context: Mapping[str, object] | None = None
) -> list[tuple[str, str, str]]:
    return [
        (error.path, error.rule, error.message)
        for error in checks.check(value, context or {}).errors
    ]


def checks_of(
    *, schema: Schema = True, profile: CoercionProfile = DEFAULT, **rules: Any
) -> FieldChecks:
    """Return the checks of a block that says of single fields what a pipeline file would."""
    return FieldChecks(RuleBlock.model_validate({"coerce": profile, **rules}), compiled(schema))


def compiled(schema: Schema) -> CompiledSchema:
    return CompiledSchema(schema, name="answer.json")


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        pytest.param("a", {}, [("$.a", "the field 'a' is missing")], id="absent"),
        pytest.param("a", {"a": None}, [("$.a", "must not be null")], id="null"),
        pytest.param("a", {"a": ""}, [], id="empty text is there"),
        pytest.param("a", {"a": False}, [], id="false is there"),
        pytest.param("a.b", {"a": {"b": 1}}, [], id="nested"),
        pytest.param("a.b", {}, [("$.a", "the field 'a' is missing")], id="nested, none"),
        pytest.param("a.b", {"a": {}}, [("$.a.b", "the field 'b' is missing")], id="nested, half"),
        pytest.param("a.b", {"a": 5}, [("$.a.b", "the field 'b' is missing")], id="no object"),
        pytest.param("$.a[*].b", {"a": []}, [], id="no items"),
        pytest.param("a[*].b", {"a": {}}, [("$.a", "expected array, got object")], id="no list"),
        pytest.param(
            "a[*].b",
            {"a": [{"b": 1}, {}, {"b": None}]},
            [("$.a[1].b", "the field 'b' is missing"), ("$.a[2].b", "must not be null")],
            id="some items",
        ),
    ],
)
def test_required_fields_are_there_and_not_null(
    field: str, value: dict[str, object], expected: list[tuple[str, str]]
) -> None:
    errors = found(checks_of(required=[field]), value)
    assert errors == [(path, "required", message) for path, message in expected]


def test_a_required_field_comes_from_the_answer_unless_it_is_inherited() -> None:
    context = {"a": 1, "b": 2, "c": None}
    checks = checks_of(required=["a", "b", "c"], inherited=["b", "c"])
    assert [path for path, _, _ in found(checks, {}, context)] == ["$.a", "$.c"]
    assert [path for path, _, _ in found(checks, {})] == ["$.a", "$.b", "$.c"]


@pytest.mark.parametrize(
    ("types", "value", "is_taken"),
    [
        pytest.param(["integer"], 5, True, id="integer"),
        pytest.param(["integer"], 5.0, True, id="whole float"),
        pytest.param(["integer"], 5.5, False, id="fraction"),
        pytest.param(["integer"], True, False, id="true is no integer"),
        pytest.param(["number"], 5, True, id="integer is a number"),
        pytest.param(["number"], False, False, id="false is no number"),
        pytest.param(["number"], math.nan, False, id="nan is no number"),
        pytest.param(["number"], "5", False, id="text is no number"),
        pytest.param(["string"], "5", True, id="string"),
        pytest.param(["boolean"], 1, False, id="1 is no boolean"),
        pytest.param(["array"], [], True, id="array"),
        pytest.param(["object"], {}, True, id="object"),
        pytest.param(["object"], [], False, id="array is no object"),
        pytest.param(["null"], None, True, id="null"),
        pytest.param(["integer", "null"], None, True, id="union with null"),
        pytest.param(["integer", "string"], "x", True, id="union with text"),
        pytest.param(["integer"], None, False, id="null is no integer"),
    ],
)
def test_types_are_those_of_json(types: list[str], value: object, is_taken: bool) -> None:
    errors = found(checks_of(types={"a": types}), {"a": value})
    assert [(path, rule) for path, rule, _ in errors] == ([] if is_taken else [("$.a", "type")])


def test_a_field_that_is_absent_breaks_only_the_rule_that_requires_it() -> None:
    checks = checks_of(
        types={"a": ["integer"], "b": ["integer"]},
        enums={"a": TONE},
        ranges={"a": UNIT_RANGE},
        required=["b"],
    )
    assert found(checks, {}) == [("$.b", "required", "the field 'b' is missing")]


def test_one_place_has_one_error() -> None:
    checks = checks_of(
        required=["a"], types={"a": ["integer"]}, enums={"a": TONE}, ranges={"a": UNIT_RANGE}
    )
    assert found(checks, {"a": None}) == [("$.a", "required", "must not be null")]
    assert found(checks, {"a": "x"}) == [("$.a", "type", "expected integer, got string")]


def test_allowed_values_match_without_case_and_are_written_as_they_are_listed() -> None:
    checks = checks_of(enums={"tones[*]": TONE})
    value: dict[str, object] = {"tones": ["warm", " WARM ", "hot"], "other": "WARM"}
    result = checks.check(value)
    assert result.value == {"tones": ["warm", "warm", "hot"], "other": "WARM"}
    assert [record.line for record in result.coercions] == [
        '[COERCE] tones[1]: " WARM " → "warm" (string → string)'
    ]
    assert value["tones"] == ["warm", " WARM ", "hot"]
    assert found(checks, value) == [("$.tones[2]", "enum", "is none of the 2 allowed values")]


def test_exact_matching_takes_the_listed_spelling_alone() -> None:
    checks = checks_of(enums={"a": {"values": ["warm"], "match": "none"}})
    assert checks.check({"a": "WARM"}).value == {"a": "WARM"}
    assert [rule for _, rule, _ in found(checks, {"a": "WARM"})] == ["enum"]
    assert found(checks, {"a": "warm"}) == []


@pytest.mark.parametrize(
    ("values", "value", "is_taken"),
    [
        pytest.param((1, 2), 1, True, id="number"),
        pytest.param((1, 2), 1.0, True, id="equal float"),
        pytest.param((1, 2), True, False, id="true is not 1"),
        pytest.param((1, "x"), "2", False, id="another number as text"),
        pytest.param((1, None), None, True, id="null among them"),
        pytest.param((1,), None, False, id="null not among them"),
        pytest.param((1,), [1], False, id="list"),
    ],
)
def test_allowed_values_of_any_type_are_compared_as_json(
    values: tuple[object, ...], value: object, is_taken: bool
) -> None:
    errors = found(checks_of(enums={"a": [*values]}), {"a": value})
    assert [rule for _, rule, _ in errors] == ([] if is_taken else ["enum"])


def test_a_spelling_that_the_schema_wants_another_way_is_left_to_the_schema() -> None:
    schema = {"properties": {"a": {"enum": ["Warm"]}, "n": {"type": "string"}}}
    checks = checks_of(enums={"a": TONE, "n": [1, 2]}, schema=schema)
    value: dict[str, object] = {"a": "Warm", "n": "1"}
    assert checks.check(value).value == value
    assert found(checks, value) == []


def test_prefixes_and_separators_are_those_of_the_profile() -> None:
    profile = CoercionProfile(enum_prefixes=("shadow ",), enum_split=" | ")
    checks = checks_of(enums={"a": TONE}, profile=profile)
    assert checks.check({"a": "shadow WARM | x"}).value == {"a": "warm"}
    plain = checks_of(enums={"a": TONE})
    assert [rule for _, rule, _ in found(plain, {"a": "shadow warm"})] == ["enum"]


@pytest.mark.parametrize(
    ("rule", "value", "message"),
    [
        pytest.param(UNIT_RANGE, 0, None, id="low bound"),
        pytest.param(UNIT_RANGE, 1.0, None, id="high bound"),
        pytest.param(UNIT_RANGE, 1.01, "must be at least 0 and at most 1", id="above"),
        pytest.param([0, None], 10**20, None, id="no high bound"),
        pytest.param([0, None], -1, "must be at least 0", id="below, open above"),
        pytest.param(
            {"exclusive_min": 0, "exclusive_max": 1},
            0,
            "must be more than 0 and less than 1",
            id="open low bound",
        ),
        pytest.param({"exclusive_max": 1}, 1, "must be less than 1", id="open high"),
        pytest.param(UNIT_RANGE, True, "expected a number, got boolean", id="true"),
        pytest.param(UNIT_RANGE, None, "expected a number, got null", id="null"),
        pytest.param(UNIT_RANGE, math.nan, "expected a number, got NaN", id="nan"),
        pytest.param(UNIT_RANGE, math.inf, "must be at least 0 and at most 1", id="infinity"),
        pytest.param(UNIT_RANGE, "high", "expected a number, got string", id="text"),
        pytest.param(UNIT_RANGE, [0], "expected a number, got array", id="list"),
        pytest.param(UNIT_RANGE, "2", "must be at least 0 and at most 1", id="number as text"),
    ],
)
def test_ranges_take_numbers_only(rule: object, value: object, message: str | None) -> None:
    errors = found(checks_of(ranges={"a": rule}), {"a": value})
    assert errors == ([] if message is None else [("$.a", "range", message)])


def test_a_number_written_as_text_is_read_where_a_range_is_all_that_is_known() -> None:
    result = checks_of(ranges={"a": UNIT_RANGE}).check({"a": "2"})
    assert result.value == {"a": 2}
    assert [record.line for record in result.coercions] == ['[COERCE] a: "2" → 2 (string → int)']


@pytest.mark.parametrize(
    ("types", "schema"),
    [
        pytest.param({"a": ["string", "number"]}, {}, id="rule block"),
        pytest.param({}, {"properties": {"a": {"type": "string"}}}, id="schema"),
        pytest.param({"a": ["boolean"]}, {}, id="another type"),
    ],
)
def test_text_stays_text_where_no_number_is_meant(
    types: dict[str, list[str]], schema: Schema
) -> None:
    checks = checks_of(types=types, ranges={"a": UNIT_RANGE}, schema=schema)
    assert checks.check({"a": "1"}).value == {"a": "1"}


def test_the_strict_profile_reads_no_number_from_text() -> None:
    checks = checks_of(ranges={"a": UNIT_RANGE}, profile=STRICT)
    assert checks.check({"a": "1"}).coercions == ()


@pytest.mark.parametrize(
    ("types", "schema"),
    [
        pytest.param({"a": ["number", "null"]}, {}, id="rule block"),
        pytest.param({}, {"properties": {"a": {"type": ["integer", "null"]}}}, id="schema"),
        pytest.param(
            {},
            {
                "properties": {"a": {"anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}]}},
                "$defs": {"n": {"type": "number"}},
            },
            id="alternative of the schema",
        ),
    ],
)
def test_null_is_taken_where_types_or_schema_allow_it(
    types: dict[str, list[str]], schema: Schema
) -> None:
    checks = checks_of(
        types=types,
        ranges={"a": UNIT_RANGE},
        enums={"a": [0, 1]},
        schema=schema,
    )
    assert found(checks, {"a": None}) == []


def test_errors_are_ordered_by_place() -> None:
    checks = checks_of(required=["c", "a"], ranges={"b": UNIT_RANGE})
    assert [path for path, _, _ in found(checks, {"b": 5})] == ["$.a", "$.b", "$.c"]


@pytest.mark.parametrize("name", ["a..b", "a[", "a[1]", "[*].a", ".a", "a[*]b["])
def test_a_name_that_is_no_field_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match="is no field"):
        checks_of(required=[name])


def test_rules_that_can_never_hold_are_refused_by_name() -> None:
    with pytest.raises(ValidationError, match=r"types\.a\n  'int' is no type; did you mean"):
        checks_of(types={"a": ["int"]})
    with pytest.raises(ValidationError, match="an enum without values allows nothing"):
        checks_of(enums={"a": []})
    with pytest.raises(ValidationError, match=r"ranges\.a\n  no number lies between 10 and 0"):
        checks_of(ranges={"a": [10, 0]})
    with pytest.raises(ValidationError, match=r"ranges\.a\n  no number lies between 1 and 1"):
        checks_of(ranges={"a": {"exclusive_min": 1, "max": 1}})


SMALL = st.one_of(
    st.sampled_from([None, True, False, 0, 1, 2, -1, 1.0, 1.5, 1e15, 10**15, "1", "warm", "WARM"]),
    st.lists(st.integers(0, 2), max_size=2),
)
FIELDS = ["a", "a.b", "a[*]", "a[*].b"]
RULES = st.fixed_dictionaries(
    {},
    optional={
        "required": st.just(True),
        "types": st.lists(st.sampled_from(sorted(ALL_TYPES)), min_size=1, unique=True),
        "enums": st.sampled_from([["warm", 1], [None, 2, True]]),
        "ranges": st.sampled_from([UNIT_RANGE, {"exclusive_min": 0, "max": 1}]),
    },
).filter(bool)
INNER = (
    SMALL | st.dictionaries(st.just("b"), SMALL) | st.lists(st.dictionaries(st.just("b"), SMALL))
)


@given(name=st.sampled_from(FIELDS), rules=RULES, value=st.dictionaries(st.just("a"), INNER))
def test_a_field_that_its_schema_finds_in_order_breaks_nothing_and_is_not_read(
    name: str, rules: dict[str, object], value: dict[str, object]
) -> None:
    block = {kind: [name] if kind == "required" else {name: said} for kind, said in rules.items()}
    field = compiled_field(name, RuleBlock.model_validate(block), compiled(True))
    if not compiled(field.schema_in_order).is_valid(value):
        return
    for place in field.path.places(value):
        assert field.error(place, place.value, {}) is None
        assert not isinstance(place.value, str) or field.reading(place.value) is None
