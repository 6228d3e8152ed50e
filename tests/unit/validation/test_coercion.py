"""Coercion: which values are read as another type or spelling, and which stay as they are."""

import copy

import pytest

from ai_psychiatrist.validation.checks.coercion.choices import DEFAULT, STRICT, CoercionProfile
from ai_psychiatrist.validation.checks.coercion.coercer import Coerced, Coercer
from ai_psychiatrist.validation.checks.schema.compiled import CompiledSchema
from ai_psychiatrist.validation.checks.schema.references import Schema

SHADOWED = CoercionProfile(enum_prefixes=("shadow ",), enum_split=" | ")


def coercer_of(schema: Schema, profile: CoercionProfile = DEFAULT) -> Coercer:
    return Coercer(CompiledSchema(schema, name="coercion"), profile)


INTEGER: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
BOOLEAN: Schema = {"type": "boolean"}
TEXTS: Schema = {"type": "array", "items": {"type": "string"}}
INTEGERS: Schema = {"type": "array", "items": {"type": "integer"}}
TAGGED: Schema = {"type": "array", "items": {"type": "object"}}
NULLABLE: Schema = {"type": ["integer", "null"]}
TONE: Schema = {"enum": ["warm", "cold"]}
SCALE: Schema = {"enum": [0, 1, 2, 3, "N/A"]}


def coerced(schema: Schema, value: object, profile: CoercionProfile | None = None) -> Coerced:
    """Coerce one field `x` of an answer."""
    coercer = coercer_of({"type": "object", "properties": {"x": schema}}, profile or DEFAULT)
    return coercer.coerce({"x": value})


READ = [
    pytest.param(INTEGER, "5", 5, id="integer"),
    pytest.param(INTEGER, " 5 ", 5, id="integer among spaces"),
    pytest.param(INTEGER, "+5", 5, id="plus sign"),
    pytest.param(INTEGER, "-0", 0, id="negative zero"),
    pytest.param(INTEGER, "5.0", 5, id="whole decimal"),
    pytest.param(INTEGER, "9" * 15, 999_999_999_999_999, id="fifteen digits"),
    pytest.param(INTEGER, 5.0, 5, id="whole float"),
    pytest.param(INTEGER, -3.0, -3, id="negative whole float"),
    pytest.param(NUMBER, "3.14", 3.14, id="decimal"),
    pytest.param(NUMBER, ".5", 0.5, id="decimal without a first digit"),
    pytest.param(NUMBER, "1e3", 1000.0, id="exponent"),
    pytest.param(NUMBER, "5", 5, id="whole number for a number"),
    pytest.param(BOOLEAN, "true", True, id="true"),
    pytest.param(BOOLEAN, " False ", False, id="false in any case among spaces"),
    pytest.param(TEXTS, '["a", "b"]', ["a", "b"], id="list as text"),
    pytest.param(TEXTS, "[]", [], id="empty list as text"),
    pytest.param(TEXTS, "foo", ["foo"], id="single value"),
    pytest.param(TEXTS, "a,b", ["a,b"], id="commas split nothing"),
    pytest.param(TEXTS, "[laughs] yes", ["[laughs] yes"], id="text that begins with a bracket"),
    pytest.param(INTEGERS, '["1", 2.0]', [1, 2], id="items of a list as text"),
    pytest.param(INTEGERS, "7", [7], id="wrapped value is coerced too"),
    pytest.param(TAGGED, '{"a": 1}', [{"a": 1}], id="single object"),
    pytest.param(TONE, "WARM", "warm", id="enum without case"),
    pytest.param(TONE, " Cold\n", "cold", id="enum among spaces"),
    pytest.param({"const": "Yes"}, "yes", "Yes", id="const"),
    pytest.param(SCALE, "n/a", "N/A", id="enum of numbers and texts, text"),
    pytest.param(SCALE, "2", 2, id="enum of numbers and texts, number"),
    pytest.param({"enum": [True, None]}, "TRUE", True, id="enum of a truth value"),
    pytest.param({"enum": [0, 1, None]}, "N/A", None, id="enum with null and no text"),
    pytest.param({"enum": ["a", "A"]}, " A ", "A", id="the exact spelling wins"),
    pytest.param(NULLABLE, "2", 2, id="nullable integer"),
    pytest.param(NULLABLE, "", None, id="empty for a nullable integer"),
    pytest.param(NULLABLE, "N/A", None, id="n/a for a nullable integer"),
    pytest.param({"type": ["boolean", "null"]}, "unknown", None, id="unknown for a boolean"),
    pytest.param({"type": ["array", "null"]}, "none", None, id="none for a nullable list"),
    pytest.param({"anyOf": [INTEGER, {"type": "null"}]}, "2", 2, id="alternative integer"),
    pytest.param({"anyOf": [INTEGER, {"type": "null"}]}, "n/a", None, id="alternative null"),
    pytest.param({"anyOf": [INTEGER, {"const": "N/A"}]}, "n/a", "N/A", id="alternative text"),
    pytest.param({"oneOf": [{"maximum": 0, "type": "integer"}, NUMBER]}, "2.5", 2.5, id="one of"),
    pytest.param({"allOf": [{"minimum": 0}, INTEGER]}, "2", 2, id="all of"),
    pytest.param({"prefixItems": [INTEGER, BOOLEAN]}, ["1", "true"], [1, True], id="tuple"),
    pytest.param(
        {"prefixItems": [{}], "items": INTEGER}, ["1", "2"], ["1", 2], id="items after a tuple"
    ),
    pytest.param({"properties": {"y": INTEGER}}, {"y": "1"}, {"y": 1}, id="nested field"),
    pytest.param(
        {"patternProperties": {"^n_": INTEGER}},
        {"n_a": "1", "b": "1"},
        {"n_a": 1, "b": "1"},
        id="pattern",
    ),
    pytest.param(
        {"properties": {"y": {}}, "additionalProperties": INTEGER},
        {"y": "1", "z": "1"},
        {"y": "1", "z": 1},
        id="additional field",
    ),
    pytest.param(
        {"dependentSchemas": {"a": {"properties": {"b": INTEGER}}}},
        {"a": 1, "b": "2"},
        {"a": 1, "b": 2},
        id="schema of a dependent field",
    ),
]


@pytest.mark.parametrize(("schema", "before", "after"), READ)
def test_values_that_say_the_same_are_read(schema: Schema, before: object, after: object) -> None:
    result = coerced(schema, before)
    assert result.value == {"x": after}
    assert type(result.value["x"]) is type(after)
    assert result.coercions
    assert CompiledSchema({"properties": {"x": schema}}, name="x").is_valid(result.value)


KEPT = [
    *(
        pytest.param(INTEGER, value, id=f"integer from {value!r}")
        for value in ("5.5", "1_000", "٣", "1e3", "0x10", "", "--5", "9" * 16, "five", "1 2")
    ),
    *(
        pytest.param(INTEGER, value, id=f"integer from {value!r}")
        for value in (5.5, True, None, [5], {"a": 5})
    ),
    *(
        pytest.param(NUMBER, value, id=f"number from {value!r}")
        for value in ("nan", "inf", "-Infinity", "1e400", "0x1p3", "1_0.5", "5.", "", "1,5", False)
    ),
    *(
        pytest.param(BOOLEAN, value, id=f"boolean from {value!r}")
        for value in ("yes", "1", "", 1, 0, "truest")
    ),
    *(
        pytest.param(TEXTS, value, id=f"list from {value!r}")
        for value in ("", " ", "null", 5, None, '["a", "b', '{"a": 1}', "[1,]", '[{"a":1,"a":2}]')
    ),
    pytest.param(TEXTS, "[" * 40 + "]" * 40, id="deep list"),
    pytest.param(INTEGERS, "foo", id="single value that is no item"),
    pytest.param(INTEGERS, "[1, NaN]", id="list with NaN"),
    pytest.param(TONE, "hot", id="no allowed value"),
    pytest.param(TONE, "warm|cold", id="two allowed values"),
    pytest.param(TONE, "shadow WARM | x", id="decorated value under the default profile"),
    pytest.param({"enum": ["a", "A"]}, "ａ", id="no allowed value, wide letter"),
    pytest.param({"enum": ["Ab", "aB"]}, "ab", id="two spellings fit"),
    pytest.param(SCALE, True, id="true is not 1"),
    pytest.param(SCALE, "4", id="a number that is not allowed"),
    pytest.param(
        {"type": ["string", "null"], "maxLength": 0}, "N/A", id="text where text is meant"
    ),
    pytest.param({"type": ["string", "integer"], "maxLength": 0}, "5", id="digits that are text"),
    pytest.param(
        {"anyOf": [{"type": "string", "maxLength": 1}, {"type": "null"}]},
        "N/A",
        id="null beside a text alternative",
    ),
    pytest.param({"not": {"type": "string"}}, "5", id="schema that names no type"),
    pytest.param({"contains": INTEGER}, ["5"], id="contains asks for no type of each item"),
]


@pytest.mark.parametrize(("schema", "value"), KEPT)
def test_values_that_say_something_else_stay_and_do_not_fit(schema: Schema, value: object) -> None:
    result = coerced(schema, value)
    assert result.value == {"x": value}
    assert result.coercions == ()
    assert not CompiledSchema({"properties": {"x": schema}}, name="x").is_valid(result.value)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        pytest.param(NUMBER, 5.0, id="whole float for a number"),
        pytest.param({"type": ["integer", "number"]}, 5.0, id="integer or number"),
        pytest.param({"anyOf": [NUMBER, INTEGER]}, 5.0, id="number first"),
        pytest.param({"type": ["string", "integer"]}, "5", id="text that may be text"),
        pytest.param({"type": ["string", "null"]}, "N/A", id="word that may be text"),
        pytest.param({"type": ["array", "string"]}, "[1]", id="list text that may be text"),
        pytest.param({}, "5", id="schema that says nothing"),
    ],
)
def test_values_that_fit_are_left_alone(schema: Schema, value: object) -> None:
    assert coerced(schema, value) == Coerced(value={"x": value})


@pytest.mark.parametrize(
    ("text", "written"),
    [
        pytest.param("shadow WARM | x", "warm", id="prefix, case and separator"),
        pytest.param("Shadow cold", "cold", id="prefix in another case"),
        pytest.param("hot | COLD", "cold", id="the first part that is allowed"),
        pytest.param("shadow shadow warm", "shadow shadow warm", id="one prefix only"),
        pytest.param("warm|cold", "warm|cold", id="another separator"),
    ],
)
def test_prefixes_and_separators_are_read_where_the_profile_says_so(
    text: str, written: str
) -> None:
    assert coerced(TONE, text, SHADOWED).value == {"x": written}


def test_the_strict_profile_changes_nothing() -> None:
    schema: Schema = {"properties": {"x": INTEGER}, "required": ["x"]}
    coercer = coercer_of(schema, STRICT)
    answers: list[dict[str, object]] = [{"x": "5"}, {"x": 5.0}, {"response": '{"x": 5}'}]
    for value in answers:
        assert coercer.coerce(value) == Coerced(value=value)


@pytest.mark.parametrize("value", [1e15, 1e300, -1e300])
def test_a_float_that_is_a_huge_integer_is_an_error(value: float) -> None:
    result = coerced(NULLABLE, value)
    assert result.value == {"x": value}
    assert [(error.pointer, error.rule) for error in result.errors] == [("/x", "schema_type")]


REFERENCES = [
    pytest.param({"$ref": "#/$defs/n", "$defs": {"n": {"properties": {"x": INTEGER}}}}, id="defs"),
    pytest.param(
        {"properties": {"x": {"$ref": "#/definitions/n"}}, "definitions": {"n": INTEGER}},
        id="definitions",
    ),
    pytest.param(
        {"properties": {"x": {"$ref": "#/properties/y"}, "y": INTEGER}}, id="another field"
    ),
    pytest.param(
        {"properties": {"x": {"$ref": "#n"}}, "$defs": {"a": {"$anchor": "n", "type": "integer"}}},
        id="anchor",
    ),
    pytest.param(
        {
            "properties": {"x": {"$dynamicRef": "#n"}},
            "$defs": {"a": {"$dynamicAnchor": "n", "type": "integer"}},
        },
        id="dynamic anchor",
    ),
    pytest.param(
        {"properties": {"x": {"$ref": "#/own/a~1b%20c"}}, "own": {"a/b c": {"type": "integer"}}},
        id="keyword of one's own",
    ),
    pytest.param(
        {
            "properties": {"x": {"$ref": "n.json"}},
            "$id": "https://example.org/a.json",
            "$defs": {"n": {"$id": "n.json", "type": "integer"}},
        },
        id="identifier",
    ),
    pytest.param(
        {
            "properties": {"x": {"$ref": "#/$defs/any", "type": "integer"}},
            "$defs": {"any": {"minimum": 0}},
        },
        id="sibling of a reference",
    ),
]


@pytest.mark.parametrize("schema", REFERENCES)
def test_references_are_followed(schema: Schema) -> None:
    assert coercer_of(schema).coerce({"x": "5"}).value == {"x": 5}


def test_recursion_ends_with_the_data() -> None:
    node: Schema = {
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {"properties": {"n": INTEGER, "next": {"$ref": "#/$defs/node"}}},
        },
    }
    value: dict[str, object] = {"n": "1", "next": {"n": "2", "next": {"n": "3"}}}
    result = coercer_of(node).coerce(value)
    assert result.value == {"n": 1, "next": {"n": 2, "next": {"n": 3}}}
    assert [record.parts for record in result.coercions] == [
        ("n",),
        ("next", "n"),
        ("next", "next", "n"),
    ]


@pytest.mark.parametrize(
    "node",
    [
        pytest.param({"type": "array", "items": {"$ref": "#/$defs/node"}}, id="lists in lists"),
        pytest.param(
            {"type": ["array", "integer"], "items": {"$ref": "#/$defs/node"}}, id="or a number"
        ),
        pytest.param(
            {
                "type": "array",
                "items": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "string", "maxLength": 0}]},
            },
            id="or a text that does not fit",
        ),
    ],
)
def test_a_single_value_is_not_made_a_list_without_end(node: Schema) -> None:
    schema: Schema = {"properties": {"x": {"$ref": "#/$defs/node"}}, "$defs": {"node": node}}
    result = coercer_of(schema).coerce({"x": "foo"})
    assert result.value in ({"x": "foo"}, {"x": ["foo"]})
    assert coercer_of(schema).coerce(result.value).value == result.value


def test_an_answer_too_deep_to_be_walked_through_is_given_back() -> None:
    schema: Schema = {"properties": {"next": {"$ref": "#"}, "n": INTEGER}, "required": ["n"]}
    value: dict[str, object] = {"n": "1"}
    for _ in range(5000):
        value = {"n": 1, "next": value}
    assert coercer_of(schema).coerce(value).value is value


def test_a_condition_is_asked_after_the_fields_are_coerced() -> None:
    schema: Schema = {
        "properties": {"kind": {"enum": ["count", "text"]}, "x": {}},
        "if": {"properties": {"kind": {"const": "count"}}},
        "then": {"properties": {"x": INTEGER}},
        "else": {"properties": {"x": {"type": "array"}}},
    }
    coercer = coercer_of(schema)
    assert coercer.coerce({"kind": "COUNT", "x": "5"}).value == {"kind": "count", "x": 5}
    assert coercer.coerce({"kind": "TEXT", "x": "5"}).value == {"kind": "text", "x": ["5"]}


def test_one_alternative_for_objects_is_coerced_even_if_it_still_does_not_fit() -> None:
    item: Schema = {"type": "object", "required": ["a"], "properties": {"n": INTEGER}}
    assert coerced({"anyOf": [item, {"type": "null"}]}, {"n": "5"}).value == {"x": {"n": 5}}


def test_an_alternative_that_fits_already_wins_over_one_that_could() -> None:
    schema: Schema = {
        "anyOf": [
            {"type": "object", "properties": {"n": INTEGER}},
            {"type": "object", "properties": {"n": {"type": "string"}}},
        ]
    }
    assert coerced(schema, {"n": "5"}).coercions == ()


def test_every_change_is_recorded_with_its_place() -> None:
    schema: Schema = {
        "properties": {
            "items": {"items": {"properties": {"score": NULLABLE, "tags": INTEGERS}}},
            "tone": TONE,
        }
    }
    value: dict[str, object] = {
        "items": [{"score": 1}, {"score": "5", "tags": "7"}],
        "tone": "WARM",
    }
    assert [record.line for record in coercer_of(schema).coerce(value).coercions] == [
        '[COERCE] items[1].score: "5" → 5 (string → int)',
        '[COERCE] items[1].tags: "7" → ["7"] (string → array)',
        '[COERCE] items[1].tags[0]: "7" → 7 (string → int)',
        '[COERCE] tone: "WARM" → "warm" (string → string)',
    ]


def test_the_argument_is_never_changed() -> None:
    value: dict[str, object] = {"x": {"y": ["1", {"z": "2"}]}, "other": [1]}
    before = copy.deepcopy(value)
    schema: Schema = {
        "properties": {
            "x": {"properties": {"y": {"items": {"type": "integer", "properties": {"z": INTEGER}}}}}
        }
    }
    result = coercer_of(schema).coerce(value)
    assert value == before
    assert result.value["x"] == {"y": [1, {"z": 2}]}
    assert result.value["other"] is value["other"]


def test_a_schema_that_contradicts_itself_changes_nothing() -> None:
    assert coerced({"allOf": [{"enum": ["a"]}, {"enum": ["A"]}]}, "a") == Coerced(value={"x": "a"})


ANSWER: Schema = {
    "type": "object",
    "required": ["score", "tone"],
    "properties": {"score": INTEGER, "tone": TONE},
}


@pytest.mark.parametrize(
    "wrapped",
    [
        pytest.param({"response": '{"score": 2, "tone": "warm"}'}, id="bare"),
        pytest.param({"response": '```json\n{"score": 2, "tone": "warm"}\n```'}, id="fenced"),
        pytest.param(
            {"response": 'Here it is: ```{"score": 2, "tone": "warm"}``` as asked.'},
            id="fenced on one line among prose",
        ),
        pytest.param({"response": '{"score": 2, "tone": "warm",}'}, id="trailing comma"),
        pytest.param({"response": '{"score": "2", "tone": "WARM"}'}, id="coerced after it"),
        pytest.param({"score": 2, "response": '{"tone": "warm"}'}, id="half outside"),
        pytest.param(
            {"score": 2, "response": '{"score": 9, "tone": "warm"}'}, id="outer field wins"
        ),
        pytest.param(
            {"response": '{"response": "{\\"score\\": 2, \\"tone\\": \\"warm\\"}"}'}, id="twice"
        ),
    ],
)
def test_an_answer_is_taken_out_of_its_wrapper(wrapped: dict[str, object]) -> None:
    result = coercer_of(ANSWER).coerce(wrapped)
    assert result.value == {"score": 2, "tone": "warm"}
    record = result.coercions[0]
    assert record.line == '[COERCE] response: "(text)" → "(object)" (string → object)'


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        pytest.param(ANSWER, {"response": "I cannot say."}, id="prose"),
        pytest.param(ANSWER, {"response": "[1, 2]"}, id="list"),
        pytest.param(ANSWER, {"response": "{}"}, id="nothing inside"),
        pytest.param(ANSWER, {"response": 2}, id="no text"),
        pytest.param(
            ANSWER, {"score": 9.5, "tone": "warm", "response": '{"a": 1}'}, id="nothing is missing"
        ),
        pytest.param(
            {"required": ["score"], "properties": {"response": {"type": "string"}}},
            {"response": '{"score": 2}'},
            id="field of the schema",
        ),
    ],
)
def test_a_field_that_wraps_no_answer_stays(schema: Schema, value: dict[str, object]) -> None:
    assert coercer_of(schema).coerce(value) == Coerced(value=value)
