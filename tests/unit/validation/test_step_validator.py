"""One answer's way through the checks of a step."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.domain.failures import FailureStage
from ai_psychiatrist.validation.checks.coercion.choices import CoercionProfile
from ai_psychiatrist.validation.checks.rules import RuleLevel, RuleSpec
from ai_psychiatrist.validation.checks.step_config import RuleBlock, Schema, StepConfig
from ai_psychiatrist.validation.checks.step_validator import StepValidator
from ai_psychiatrist.validation.checks.verdict import Verdict

SCHEMA: Schema = {
    "type": "object",
    "required": ["score"],
    "properties": {
        "score": {"type": "integer", "minimum": 0, "maximum": 3},
        "tone": {"enum": ["warm", "cold"]},
    },
}
THRESHOLD = RuleSpec(
    name="threshold", expr="score >= threshold", error="score {score} is below {threshold}"
)
INPUT = {"threshold": 1}
STAGE = FailureStage


def step(schema: Schema | None = SCHEMA, name: str = "s1", **block: Any) -> StepConfig:
    rules = RuleBlock(**({"rules": (THRESHOLD,)} | block))
    return StepConfig(name=name, scope="llm", schema=schema, rules=rules)


def rule(expr: str, **options: Any) -> dict[str, Any]:
    return {"rules": (RuleSpec(name="it", expr=expr, error="no", **options),)}


def check(
    answer: dict[str, Any], schema: Schema = SCHEMA, context: Any = INPUT, **block: Any
) -> Verdict:
    validator = StepValidator(step(schema, **block))
    return validator.check_object(answer, context=context, meta={"unit_id": "u0"})


def found(verdict: Verdict) -> list[tuple[str, str]]:
    return [(error.path, error.rule) for error in verdict.errors]


def warned(verdict: Verdict) -> list[tuple[str, str]]:
    return [(warning.path, warning.rule) for warning in verdict.warnings]


def changes(verdict: Verdict) -> list[tuple[str, object, object]]:
    pairs = ((one, one.parts) for one in verdict.coercions)
    return [(".".join(map(str, parts)), one.before, one.after) for one, parts in pairs]


def test_text_becomes_a_number_with_a_record_and_meets_the_rules_as_one() -> None:
    verdict = check({"score": "2"})
    assert verdict.is_valid
    assert verdict.value == {"score": 2}
    assert changes(verdict) == [("score", "2", 2)]


def test_ranged_text_without_a_type_is_compared_as_its_number() -> None:
    verdict = check({"score": "2"}, schema={}, rules=(), ranges={"score": [0, 1]})
    assert (verdict.stage, found(verdict)) == (STAGE.SCHEMA_VALIDATION, [("$.score", "range")])
    assert verdict.value == {"score": 2}


def test_enum_prefix_and_alternatives_are_read_only_with_that_profile() -> None:
    answer = {"score": 2, "tone": "shadow WARM | x"}
    profile = CoercionProfile(enum_prefixes=("shadow ",), enum_split=" | ")
    told = check(answer, coerce=profile)
    plain = check(answer)
    assert told.value == {"score": 2, "tone": "warm"}
    assert (plain.stage, found(plain)) == (STAGE.SCHEMA_VALIDATION, [("$.tone", "schema_enum")])


def test_answer_inside_a_response_field_is_unwrapped() -> None:
    verdict = check({"response": '```json\n{"score": 2, "tone": "COLD"}\n```'})
    assert verdict.is_valid
    assert verdict.value == {"score": 2, "tone": "cold"}
    assert [one.parts for one in verdict.coercions] == [("response",), ("tone",)]


def test_unwrapped_answer_cannot_rename_its_unit() -> None:
    verdict = check({"response": '{"score": 2, "unit_id": "u9", "_metadata": {}}'})
    assert verdict.value == {"score": 2}
    assert warned(verdict) == [("$.unit_id", "unit_id_mismatch")]


@pytest.mark.parametrize(
    ("schema", "value", "outcome"),
    [
        pytest.param([0, 1, 2, 3, "N/A"], "n/a", "N/A", id="text_in_its_own_spelling"),
        pytest.param([0, 1, 2, 3, "N/A"], "2", 2, id="text_that_names_one_number"),
        pytest.param([0, 1, 2, 3, "N/A"], "none", None, id="no_member"),
    ],
)
def test_enum_of_mixed_types_is_matched_or_refused(
    schema: list[object], value: object, outcome: object
) -> None:
    verdict = check({"score": value}, schema={"properties": {"score": {"enum": schema}}}, rules=())
    if outcome is None:
        assert found(verdict) == [("$.score", "schema_enum")]
    else:
        assert verdict.value == {"score": outcome}


INTEGER: Schema = {"properties": {"n": {"type": "integer"}}}
NULLABLE: Schema = {"properties": {"n": {"type": ["integer", "null"]}}}


@pytest.mark.parametrize(
    ("schema", "value", "outcome"),
    [
        pytest.param(NULLABLE, "2", 2, id="nullable_number"),
        pytest.param(NULLABLE, "", None, id="nullable_empty"),
        pytest.param(NULLABLE, "N/A", None, id="nullable_abstention"),
        pytest.param(INTEGER, "5.0", 5, id="whole_decimal_text"),
        pytest.param(INTEGER, 5.0, 5, id="whole_float"),
    ],
)
def test_whole_number_is_read(schema: Schema, value: object, outcome: object) -> None:
    verdict = check({"n": value}, schema=schema, rules=())
    assert verdict.is_valid
    assert verdict.value == {"n": outcome}
    assert type((verdict.value or {})["n"]) is type(outcome)
    assert len(verdict.coercions) == 1


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("", id="empty"),
        pytest.param("N/A", id="abstention_where_null_is_not_allowed"),
        pytest.param(5.5, id="fraction"),
        pytest.param("5.5", id="fraction_as_text"),
        pytest.param("1_000", id="underscore"),
        pytest.param("٣", id="other_digits"),
        pytest.param(1e300, id="huge_float"),
        pytest.param(True, id="boolean"),
    ],
)
def test_what_is_no_whole_number_is_left_and_fails(value: object) -> None:
    verdict = check({"n": value}, schema=INTEGER, rules=())
    assert verdict.stage is STAGE.SCHEMA_VALIDATION
    assert verdict.value == {"n": value}
    assert verdict.errors[0].path == "$.n"


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity", "1e400"])
def test_number_that_is_not_finite_fails_in_its_place(literal: str) -> None:
    validator = StepValidator(step(schema={}, rules=()))
    verdict = validator.check_text(f'{{"a": [{{"b": {literal}}}]}}')
    assert verdict.stage is STAGE.SCHEMA_VALIDATION
    assert [(one.pointer, one.rule) for one in verdict.errors] == [
        ("/a/0/b", "schema_non_finite_number")
    ]
    as_object = validator.check_object({"a": [{"b": float(literal)}]})
    assert (as_object.stage, as_object.errors) == (verdict.stage, verdict.errors)


@pytest.mark.parametrize(
    ("value", "rules"),
    [
        pytest.param(True, ["range"], id="boolean"),
        pytest.param("x", ["range"], id="text"),
        pytest.param(None, ["range"], id="null"),
        pytest.param(4, ["range"], id="above"),
        pytest.param(3, [], id="border"),
    ],
)
def test_range_wants_a_number(value: object, rules: list[str]) -> None:
    ranges = {"n": [0, 3]}
    verdict = check({"n": value}, schema={}, rules=(), ranges=ranges)
    assert [one.rule for one in verdict.errors] == rules


def test_range_may_be_open_and_a_type_a_union() -> None:
    block: dict[str, Any] = {
        "rules": (),
        "types": {"n": ("integer", "null")},
        "ranges": {"n": [0, None]},
    }
    assert check({"n": 10**6}, schema={}, **block).is_valid
    assert check({"n": None}, schema={}, **block).is_valid
    assert not check({"n": -1}, schema={}, **block).is_valid


def test_missing_field_and_wrong_type_elsewhere_are_both_told() -> None:
    verdict = check({"tone": 3}, required=("score",), types={"tone": ("string",)})
    assert verdict.stage is STAGE.SCHEMA_VALIDATION
    assert set(found(verdict)) == {
        ("$.score", "schema_required"),
        ("$.score", "required"),
        ("$.tone", "schema_enum"),
        ("$.tone", "type"),
    }


def test_rule_on_a_missing_field_names_the_field() -> None:
    verdict = check({"score": 2}, **rule("nope > 1"))
    assert (verdict.stage, found(verdict)) == (STAGE.VALIDATION, [("$.nope", "rule_eval")])
    assert "'nope'" in verdict.errors[0].message


def test_rule_whose_condition_names_a_missing_field_is_skipped() -> None:
    verdict = check({"score": 2}, **rule("score > 5", when="nope > 1"))
    assert verdict.is_valid
    assert verdict.skipped_rules == ("it",)
    assert check({"score": 2}, **rule("score > 5", when="has(nope)")).skipped_rules == ("it",)


def test_field_called_like_a_function_leaves_the_function_for_the_next_unit() -> None:
    validator = StepValidator(step(schema={}, **rule("len(text) == len")))
    assert validator.check_object({"text": "abc", "len": 3}).is_valid
    assert validator.check_object({"text": "abcd", "len": 4}).is_valid
    assert not validator.check_object({"text": "abc", "len": 4}).is_valid


def test_name_of_one_unit_is_unknown_in_the_next() -> None:
    validator = StepValidator(step(schema={}, **rule("_m == 1")))
    assert validator.check_object({}, context={"_m": 1}).is_valid
    assert found(validator.check_object({})) == [("$._m", "rule_eval")]


def test_warning_leaves_the_unit_valid_and_unchanged() -> None:
    verdict = check({"score": 2}, **rule("score > 5", level=RuleLevel.WARNING))
    assert verdict.is_valid
    assert verdict.value == {"score": 2}
    assert warned(verdict) == [("$.score", "it")]


def test_message_shows_values_in_its_places_and_keeps_unknown_ones() -> None:
    message = "{score:.2f} of {limits[high]}, {nope} and {score.__class__}"
    rules = (RuleSpec(name="it", expr="score > 5", error=message),)
    verdict = check({"score": 2, "limits": {"high": 3}}, rules=rules)
    assert verdict.errors[0].message == "2.00 of 3, {nope} and {score.__class__}"


def test_boolean_and_nested_schemas_are_sound() -> None:
    schema: Schema = {
        "properties": {"free": True, "never": False},
        "$defs": {"tree": {"properties": {"child": {"$ref": "#/$defs/tree"}}}},
        "$ref": "#/$defs/tree",
    }
    assert check({"free": 1, "child": {"child": {}}}, schema=schema, rules=()).is_valid
    assert found(check({"never": 1}, schema=schema, rules=()))[0][0] == "$.never"


def test_protected_input_counts_and_the_clash_is_told() -> None:
    verdict = check(
        {"score": 1, "threshold": 0}, context={"threshold": 3}, protected=("threshold",)
    )
    assert (verdict.stage, found(verdict)) == (STAGE.VALIDATION, [("$", "threshold")])
    assert warned(verdict) == [("$.threshold", "protected_name")]


def test_answer_counts_for_a_name_that_is_not_protected() -> None:
    verdict = check({"score": 1, "threshold": 0}, context={"threshold": 3})
    assert verdict.is_valid
    assert not verdict.warnings


@pytest.mark.parametrize("name", ["retry_count", "_hidden"])
def test_names_of_the_host_are_always_protected(name: str) -> None:
    validator = StepValidator(step(schema={}, **rule(f"{name} == 3")))
    verdict = validator.check_object({name: 1}, context={name: 3})
    assert verdict.is_valid
    assert warned(verdict) == [(f"$.{name}", "protected_name")]


def test_required_field_of_the_input_alone_is_missing_in_the_answer() -> None:
    stale = {"threshold": 1, "score": 3}
    block: dict[str, Any] = {"required": ("score",), "rules": ()}
    assert found(check({}, schema={}, context=stale, **block)) == [("$.score", "required")]
    assert check({}, schema={}, context=stale, inherited=("score",), **block).is_valid


def test_work_beyond_the_budget_fails_this_unit_alone() -> None:
    validator = StepValidator(
        step(schema={}, **rule("all([len([j for j in n if j > i]) >= 0 for i in n])"))
    )
    verdict = validator.check_object({"n": list(range(2_000))})
    assert (verdict.stage, found(verdict)) == (
        STAGE.PIPELINE_INTERNAL,
        [("$", "budget_exceeded")],
    )
    assert validator.check_object({"n": [1, 2]}).is_valid


def test_failure_of_the_check_itself_shows_the_type_of_error_alone() -> None:
    validator = StepValidator(
        step(schema={}, **rule("matches_quote('a') and matches_quote('secret')"))
    )

    def matches_quote(words: object) -> bool:
        msg = f"no place for {words}"
        raise OSError(msg)

    verdict = validator.check_object({}, host={"matches_quote": matches_quote})
    assert (verdict.stage, found(verdict)) == (STAGE.PIPELINE_INTERNAL, [("$", "internal_error")])
    assert verdict.errors[0].message == "the check failed with OSError"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"score": 2}', id="bare"),
        pytest.param('Sure:\n```json\n{"score": 2}\n```\nDone.', id="fenced_in_prose"),
        pytest.param('<think>{"score": 9}</think>{"score": 2}', id="after_thinking"),
        pytest.param('{"unit_id": "u0", "_metadata": {}, "score": 2}', id="with_host_fields"),
    ],
)
def test_answer_is_read_out_of_a_models_words(text: str) -> None:
    validator = StepValidator(step())
    verdict = validator.check_text(text, context=INPUT, meta={"unit_id": "u0"})
    assert (verdict.value, verdict.is_valid, verdict.warnings) == ({"score": 2}, True, ())
    assert not verdict.repaired


def test_repaired_syntax_is_told() -> None:
    verdict = StepValidator(step()).check_text('{"score": 2,}', context=INPUT)
    assert verdict.is_valid
    assert verdict.repaired


@pytest.mark.parametrize(
    ("text", "rule_name"),
    [
        pytest.param("I am sorry, I cannot help.", "parse_no_json", id="apology"),
        pytest.param("", "parse_no_json", id="empty"),
        pytest.param("[1, 2]", "parse_not_an_object", id="list"),
        pytest.param('{"score": 2', "parse_truncated", id="cut_off"),
        pytest.param('{"score": 1, "score": 2}', "parse_duplicate_key", id="key_twice"),
        pytest.param('{"a":' * 300 + "1" + "}" * 300, "parse_too_deep", id="deep"),
        pytest.param('{"a": "\\ud800"}', "parse_unrepairable", id="half_a_character"),
    ],
)
def test_words_without_a_readable_object_fail_in_parsing(text: str, rule_name: str) -> None:
    verdict = StepValidator(step()).check_text(text)
    assert (verdict.stage, found(verdict)) == (STAGE.PARSE, [("$", rule_name)])
    assert verdict.value is None
    assert STAGE.PARSE.is_retryable


def test_two_hundred_levels_are_read() -> None:
    validator = StepValidator(step(schema={}, rules=()))
    assert validator.check_text('{"a":' * 200 + "1" + "}" * 200).is_valid


def test_answer_that_names_another_unit_counts_for_the_one_that_was_asked() -> None:
    validator = StepValidator(step())
    verdict = validator.check_text(
        '{"unit_id": "u9", "score": 2}', context=INPUT, meta={"unit_id": "u1"}
    )
    assert verdict.value == {"score": 2}
    assert warned(verdict) == [("$.unit_id", "unit_id_mismatch")]


def test_schema_without_further_fields_sees_no_field_of_the_host() -> None:
    strict: Schema = {"properties": {"score": {}}, "additionalProperties": False}
    validator = StepValidator(step(schema=strict, rules=()))
    assert validator.check_text('{"unit_id": 1, "_metadata": {}, "score": 1}').is_valid


def test_schema_that_asks_for_the_unit_is_shown_it() -> None:
    asking: Schema = {"required": ["unit_id"], "properties": {"unit_id": {"type": "string"}}}
    validator = StepValidator(step(schema=asking, rules=()))
    verdict = validator.check_object({"score": 1}, meta={"unit_id": "u1"})
    assert (verdict.is_valid, verdict.value) == (True, {"score": 1})


def test_rules_see_answer_input_and_metadata_apart() -> None:
    expr = "out['score'] == 1 and inp['score'] == 2 and meta['score'] == 3 and score == 1"
    validator = StepValidator(step(schema={}, **rule(expr)))
    around = {"context": {"score": 2}, "meta": {"score": 3}}
    assert validator.check_object({"score": 1}, **around).is_valid  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param({"rules": None}, "has no rules", id="no_rules"),
        pytest.param({"schema": None}, "has no schema", id="no_schema"),
        pytest.param({"scope": "expression"}, "no model answers it", id="expression_step"),
    ],
)
def test_step_without_its_parts_is_refused(change: dict[str, Any], words: str) -> None:
    parts = {"name": "s1", "scope": "llm", "schema": SCHEMA, "rules": RuleBlock()} | change
    with pytest.raises(ConfigurationError, match=words):
        StepValidator(StepConfig(**parts))


def test_digests_tell_rules_and_schemas_apart() -> None:
    base = StepValidator(step())
    same = StepValidator(step(name="other"))
    ruled = StepValidator(step(enums={"tone": ["warm"]}))
    shaped = StepValidator(step(schema={"type": "object"}))
    assert (base.ruleset_digest, base.schema_digest) == (same.ruleset_digest, same.schema_digest)
    assert base.ruleset_digest != ruled.ruleset_digest
    assert base.schema_digest != shaped.schema_digest


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["score", "tone", "response", "threshold", "x"]), values))
def test_any_object_gets_a_verdict_and_is_not_changed(answer: dict[str, object]) -> None:
    validator = StepValidator(step())
    before = repr(answer)
    verdict = validator.check_object(answer, context=INPUT)
    assert repr(answer) == before
    assert (verdict.stage is None) == (not verdict.errors)
    assert verdict.stage is not STAGE.PIPELINE_INTERNAL
    if verdict.is_valid:
        again = validator.check_object(json.loads(json.dumps(verdict.value)), context=INPUT)
        assert (again.is_valid, again.value, again.coercions) == (True, verdict.value, ())
