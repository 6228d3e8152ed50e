from pathlib import Path

import pytest
from tests.fakes.pipeline_folder import PIPELINE, changed, found, only, written

from ai_psychiatrist.validation.config.pipeline import lint_pipeline, load_pipeline

TYPES = "      score: integer\n"
RANGE = "      score: [0, 3]\n"
ENUM = "      tone: [warm, cold]\n"
EXPR = '        expr: "score >= threshold"\n'
WHEN = '        when: "has(threshold)"\n'
ERROR = '        error: "score {score} is below {threshold}"\n'
LEVEL = "        level: error\n"
BLOCK = PIPELINE[PIPELINE.index("    required:") :]
RULE = "validation.rate.rules[0]"


def test_a_sound_pipeline_has_no_problems(tmp_path: Path) -> None:
    assert found(written(tmp_path)) == []


@pytest.mark.parametrize(
    ("pipeline", "code", "where", "says"),
    [
        pytest.param(
            changed("prompts:\n", "promts:\n"),
            "unknown_section",
            "promts",
            "did you mean 'prompts'",
            id="misspelt_section",
        ),
        pytest.param(
            changed(WHEN, '        wen: "has(threshold)"\n'),
            "unknown_key",
            f"{RULE}.wen",
            "did you mean 'when'",
            id="misspelt_key_of_a_rule",
        ),
        pytest.param(
            changed(TYPES, "      score: int\n"),
            "unknown_type",
            "validation.rate.types.score",
            "did you mean 'integer'",
            id="usual_name_of_a_type",
        ),
        pytest.param(
            changed(TYPES, "      score: intger|null\n"),
            "unknown_type",
            "validation.rate.types.score",
            "did you mean 'integer'",
            id="misspelt_type_in_a_union",
        ),
        pytest.param(
            changed(RANGE, "      tone: [0, 3]\n"),
            "range_type",
            "validation.rate.ranges.tone",
            "a range needs a number",
            id="range_of_a_text",
        ),
        pytest.param(
            changed(RANGE, "      score: [10, 0]\n"),
            "empty_range",
            "validation.rate.ranges.score",
            "10",
            id="range_upside_down",
        ),
        pytest.param(
            changed(ENUM, "      tone: []\n"),
            "empty_enum",
            "validation.rate.enums.tone",
            "nothing",
            id="enum_without_values",
        ),
        pytest.param(
            changed(ENUM, "      tone: [yes, no]\n"),
            "enum_type",
            "validation.rate.enums.tone",
            "in quotes",
            id="enum_values_that_yaml_reads_as_booleans",
        ),
        pytest.param(
            changed(LEVEL, "        level: fatal\n"),
            "unknown_level",
            f"{RULE}.level",
            "error or warning",
            id="unknown_level",
        ),
        pytest.param(
            changed(EXPR, ""),
            "missing_key",
            RULE,
            "'expr'",
            id="rule_without_an_expression",
        ),
        pytest.param(
            changed(EXPR, "        expr: true\n"),
            "wrong_shape",
            f"{RULE}.expr",
            "in quotes",
            id="expression_that_yaml_reads_as_a_boolean",
        ),
        pytest.param(
            changed("    rules:\n", "    rules:\n      - {}\n"),
            "empty_rule",
            RULE,
            "`name`",
            id="rule_that_says_nothing",
        ),
        pytest.param(
            changed(
                WHEN, f"{WHEN}      - {{name: above_threshold, expr: 'score < 9', error: x}}\n"
            ),
            "duplicate_rule",
            "validation.rate.rules[1]",
            "'above_threshold'",
            id="two_rules_of_one_name",
        ),
        pytest.param(
            changed(EXPR, '        expr: "score >= treshold"\n'),
            "unknown_name",
            f"{RULE}.expr",
            "did you mean 'threshold'",
            id="misspelt_name_in_a_rule",
        ),
        pytest.param(
            changed(EXPR, '        expr: "score >= limit"\n'),
            "unknown_name",
            f"{RULE}.expr",
            "'limit'",
            id="name_that_is_no_declared_input",
        ),
        pytest.param(
            changed(EXPR, "        expr: \"inp['score'] >= threshold\"\n"),
            "unknown_name",
            f"{RULE}.expr",
            "'score'",
            id="field_of_the_answer_looked_up_in_the_input",
        ),
        pytest.param(
            changed(EXPR, "        expr: \"all(i['valu'] > 0 for i in items)\"\n"),
            "unknown_name",
            f"{RULE}.expr",
            "did you mean 'value'",
            id="misspelt_key_of_a_lists_objects",
        ),
        pytest.param(
            changed(EXPR, '        expr: "tone > 3"\n'),
            "type_conflict",
            f"{RULE}.expr",
            "'tone' is string",
            id="text_compared_with_a_number",
        ),
        pytest.param(
            changed("required: [score, tone]", "required: [score, tones]"),
            "unknown_name",
            "validation.rate.required[1]",
            "did you mean 'tone'",
            id="required_field_that_the_schema_spells_otherwise",
        ),
        pytest.param(
            changed("has(threshold)", "has(treshold)"),
            "unknown_name",
            f"{RULE}.when",
            "did you mean 'threshold'",
            id="misspelt_name_in_a_condition",
        ),
        pytest.param(
            changed("required: [score, tone]", "required: [score, 'items[x]']"),
            "field_path",
            "validation.rate.required",
            "'items[x]'",
            id="field_that_is_no_path",
        ),
        pytest.param(
            changed("    - name: rate\n", "    - name: ../rate\n"),
            "step_name",
            "pipeline.steps[0].name",
            "cannot name a step",
            id="step_named_like_a_path",
        ),
        pytest.param(
            changed("    - name: rate\n", "    - name: rate\n    - name: rate\n"),
            "duplicate_step",
            "pipeline.steps[1]",
            "'rate'",
            id="two_steps_of_one_name",
        ),
        pytest.param(
            changed("    - name: rate\n      prompt_template: rate.jinja2\n", "    []\n"),
            "no_steps",
            "pipeline.steps",
            "no steps",
            id="no_steps",
        ),
        pytest.param(
            changed("api:\n  retry:\n    max_attempts: 2\n", "api:\n"),
            "empty_section",
            "api",
            "write {}",
            id="section_without_content",
        ),
        pytest.param(
            changed("    rules:\n", "    inherited: [topic]\n    rules:\n"),
            "inherited_not_required",
            "validation.rate.inherited",
            "'topic'",
            id="inherited_field_that_is_not_required",
        ),
        pytest.param(
            changed("    rules:\n", "    protected: [treshold]\n    rules:\n"),
            "unknown_name",
            "validation.rate.protected",
            "did you mean 'threshold'",
            id="protected_name_that_is_none",
        ),
        pytest.param(
            changed("    rules:\n", "    coerce: {profile: lax}\n    rules:\n"),
            "coerce_profile",
            "validation.rate.coerce.profile",
            "'strict' or 'default'",
            id="unknown_profile",
        ),
        pytest.param(
            changed("    max_attempts: 2", "    max_attempts: 0"),
            "wrong_shape",
            "api.retry.max_attempts",
            "whole number from 1",
            id="no_attempts",
        ),
        pytest.param(
            changed("prompt_template: rate.jinja2", "prompt_template: other.jinja2"),
            "prompt_template",
            "pipeline.steps[0].prompt_template",
            "two different",
            id="two_templates_for_one_step",
        ),
        pytest.param(
            changed("    - name: rate\n", "    - name: rate\n      scope: chunks\n"),
            "unknown_scope",
            "pipeline.steps[0].scope",
            "expression",
            id="unknown_scope",
        ),
        pytest.param(
            changed(BLOCK, "    {}\n"),
            "empty_block",
            "validation.rate",
            "'none'",
            id="empty_block",
        ),
        pytest.param(
            changed("    max_attempts: 2", "    max_attempts: 2\n    max_attempts: 3"),
            "duplicate_key",
            "api.retry.max_attempts",
            "twice",
            id="key_given_twice",
        ),
        pytest.param(
            changed("    max_attempts: 2", "    max_attempts: 2\n    1: 3"),
            "key_not_text",
            "api.retry",
            "in quotes",
            id="key_that_is_a_number",
        ),
    ],
)
def test_a_mistake_is_one_error_with_its_place_and_its_cure(
    tmp_path: Path, pipeline: str, code: str, where: str, says: str
) -> None:
    problems = [
        problem for problem in lint_pipeline(written(tmp_path, pipeline)) if problem.is_error
    ]
    assert [problem.code for problem in problems[:1]] == [code], problems
    assert problems[0].where == where
    assert says in problems[0].message
    assert problems[0].line is not None


@pytest.mark.parametrize(
    ("pipeline", "code", "where"),
    [
        pytest.param(
            changed(WHEN, '        when: "False"\n'),
            "unreachable_rule",
            f"{RULE}.when",
            id="condition_that_never_holds",
        ),
        pytest.param(
            changed(EXPR, '        expr: "1 < 2"\n'),
            "constant_rule",
            f"{RULE}.expr",
            id="rule_that_always_holds",
        ),
        pytest.param(
            changed(ERROR, '        error: "{nope}"\n'),
            "unknown_placeholder",
            f"{RULE}.error",
            id="message_about_an_unknown_field",
        ),
        pytest.param(
            changed(ERROR, '        error: "{score.real}"\n'),
            "unusable_placeholder",
            f"{RULE}.error",
            id="message_about_an_attribute",
        ),
        pytest.param(
            changed(WHEN, "        when: \"'wounds' in dir()\"\n"),
            "unknown_name",
            f"{RULE}.when",
            id="question_for_a_name_that_nobody_gives",
        ),
        pytest.param(
            changed("[topic, threshold]", "[topic, threshold, mood]"),
            "unused_input",
            "processing.inputs[2]",
            id="input_that_nothing_uses",
        ),
        pytest.param(
            changed("api:\n", "api:\n  favourite_colour: blue\n"),
            "unknown_key",
            "api.favourite_colour",
            id="setting_of_another_program",
        ),
    ],
)
def test_what_may_be_meant_is_a_warning(
    tmp_path: Path, pipeline: str, code: str, where: str
) -> None:
    assert found(written(tmp_path, pipeline)) == [("warning", code, where)]


def test_names_that_no_list_of_inputs_rules_out_are_warnings(tmp_path: Path) -> None:
    pipeline = changed("  inputs: [topic, threshold]\n", "  chunk_size: 10\n")
    problems = found(written(tmp_path, pipeline))
    assert problems
    assert {(level, code) for level, code, _ in problems} == {
        ("warning", "unknown_name"),
        ("warning", "unknown_placeholder"),
    }


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param("all(i['value'] in [0, 1] for i in items)", id="list_of_objects"),
        pytest.param("score in range(0, 4)", id="range"),
        pytest.param("round(score) == score", id="round"),
        pytest.param("isinstance(score, int)", id="isinstance"),
        pytest.param("'items' in dir() and score > 0", id="dir"),
        pytest.param("out['score'] >= inp['threshold']", id="namespaces"),
        pytest.param("meta['unit_id'] != ''", id="metadata"),
    ],
)
def test_rules_are_checked_without_making_up_data(tmp_path: Path, expression: str) -> None:
    assert found(written(tmp_path, changed(EXPR, f'        expr: "{expression}"\n'))) == []


@pytest.mark.parametrize(
    ("expression", "column"),
    [
        pytest.param("score > 0 and open('x')", 30, id="file"),
        pytest.param("score.real > 0", 16, id="attribute"),
        pytest.param("score > 0 and items.clear()", 30, id="change"),
        pytest.param("(score := 3) > 0", 17, id="assignment"),
        pytest.param("score > > 1", 24, id="syntax"),
    ],
)
def test_a_refused_expression_is_shown_at_its_column(
    tmp_path: Path, expression: str, column: int
) -> None:
    path = written(tmp_path, changed(EXPR, f'        expr: "{expression}"\n'))
    problem = next(one for one in lint_pipeline(path) if one.code == "expression")
    assert problem.where == f"{RULE}.expr"
    assert (problem.line, problem.column) == (
        1 + PIPELINE[: PIPELINE.index(EXPR)].count("\n"),
        column,
    )


def test_a_step_without_its_links_is_one_problem_that_names_all_three(tmp_path: Path) -> None:
    pipeline = changed("      prompt_template: rate.jinja2\n", "    - name: sum_up\n")
    problem = only(written(tmp_path, pipeline))
    assert (problem.level, problem.code, problem.line) == ("error", "four_point_link", 4)
    for entry in ("prompts.templates.sum_up", "schemas.files.sum_up", "validation.sum_up"):
        assert entry in problem.message


def test_expression_and_run_steps_need_no_links_and_a_fan_out_step_does(tmp_path: Path) -> None:
    more = """\
      prompt_template: rate.jinja2
    - name: count
      scope: expression
      expressions: {words: "len(topic)"}
    - {name: end, scope: run}
    - {name: each, scope: fan_out}
"""
    path = written(tmp_path, changed("      prompt_template: rate.jinja2\n", more))
    assert found(path) == [("error", "four_point_link", "pipeline.steps[3]")]


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        pytest.param("validation:\n  rate:", "validation:\n  rtae:", "validation.rtae", id="rules"),
        pytest.param("files:\n    rate:", "files:\n    rates:", "schemas.files.rates", id="schema"),
        pytest.param(
            "templates:\n    rate:",
            "templates:\n    r_one:",
            "prompts.templates.r_one",
            id="template",
        ),
    ],
)
def test_an_entry_for_no_step_names_the_step_that_lacks_one(
    tmp_path: Path, old: str, new: str, where: str
) -> None:
    problems = lint_pipeline(written(tmp_path, changed(old, new)))
    orphan = next(problem for problem in problems if problem.code == "orphan")
    assert (orphan.level, orphan.where) == ("error", where)
    assert "did you mean 'rate'" in orphan.message
    assert "four_point_link" in {problem.code for problem in problems}


def test_an_entry_for_no_step_is_checked_all_the_same(tmp_path: Path) -> None:
    path = written(tmp_path, PIPELINE + "  weather:\n    types: {sky: str}\n")
    problems = lint_pipeline(path)
    assert [problem.code for problem in problems] == ["orphan", "unknown_type"]
    assert problems[0].message.endswith("steps: rate")


def test_every_missing_section_is_named(tmp_path: Path) -> None:
    path = tmp_path / "pipeline.yaml"
    path.write_text("validation: {}\n")
    messages = [problem.message for problem in lint_pipeline(path) if problem.is_error]
    assert len(messages) == 5
    for name in ("pipeline", "prompts", "schemas", "api", "processing"):
        assert any(repr(name) in message for message in messages)


def test_a_pipeline_of_expressions_alone_needs_no_other_section(tmp_path: Path) -> None:
    step = "{name: count, scope: expression, expressions: {words: '7'}}"
    path = tmp_path / "pipeline.yaml"
    path.write_text(f"pipeline: {{steps: [{step}]}}\n")
    assert lint_pipeline(path) == []
    assert load_pipeline(path).step("count").scope == "expression"
    path.write_text(f"pipeline: {{steps: [{step}, {{name: rate}}]}}\n")
    codes = [problem.code for problem in lint_pipeline(path)]
    assert codes == ["missing_section"] * 4 + ["four_point_link"]


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        pytest.param("    rules:\n", "    ruls:\n", "validation.rate.ruls[0].level", id="rules"),
        pytest.param(
            "validation:\n", "valdation:\n", "valdation.rate.rules[0].level", id="section"
        ),
    ],
)
def test_what_stands_under_a_misspelt_key_is_checked_as_what_was_meant(
    tmp_path: Path, old: str, new: str, where: str
) -> None:
    pipeline = changed(LEVEL, "        level: fatal\n").replace(old, new)
    problems = found(written(tmp_path, pipeline))
    assert {code for _, code, _ in problems} <= {"unknown_key", "unknown_section", "unknown_level"}
    assert ("error", "unknown_level", where) in problems


def test_an_entry_of_the_wrong_shape_is_no_missing_link_and_may_be_an_orphan(
    tmp_path: Path,
) -> None:
    pipeline = changed("    rate: rate.json\n", "    rate: 5\n    more: [x]\n")
    assert [one for one in found(written(tmp_path, pipeline)) if one[0] == "error"] == [
        ("error", "wrong_shape", "schemas.files.rate"),
        ("error", "orphan", "schemas.files.more"),
        ("error", "wrong_shape", "schemas.files.more"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "where", "says"),
    [
        pytest.param(
            "api:\n", "api:\n  temperature: 3\n", "api.temperature", "2 or less", id="temperature"
        ),
        pytest.param(
            "processing:\n",
            "processing:\n  repeat: 0\n",
            "processing.repeat",
            "from 1",
            id="repeat",
        ),
        pytest.param(
            "processing:\n",
            "processing:\n  strategy: direkt\n",
            "processing.strategy",
            "did you mean 'direct'",
            id="strategy",
        ),
        pytest.param(
            "processing:\n",
            "processing:\n  positions: [{name: npc}]\n",
            "processing.positions[0]",
            "'source_key'",
            id="position_without_a_list",
        ),
    ],
)
def test_settings_of_a_run_are_checked_before_it(
    tmp_path: Path, old: str, new: str, where: str, says: str
) -> None:
    (problem,) = [
        one for one in lint_pipeline(written(tmp_path, changed(old, new))) if one.is_error
    ]
    assert problem.where == where
    assert says in problem.message


def test_all_problems_come_in_one_pass_and_by_line(tmp_path: Path) -> None:
    pipeline = changed(RANGE, "      score: [10, 0]\n").replace("fatal", "")
    pipeline = pipeline.replace("max_attempts: 2", "max_attempts: none")
    pipeline = pipeline.replace(LEVEL, "        level: fatal\n")
    problems = lint_pipeline(written(tmp_path, pipeline, schema="{", template=None))
    codes = [problem.code for problem in problems]
    expected = ["template_file", "schema_file", "wrong_shape", "empty_range", "unknown_level"]
    assert [code for code in codes if code in expected] == expected
    assert [problem.line or 0 for problem in problems] == sorted(
        problem.line or 0 for problem in problems
    )


@pytest.mark.parametrize(
    ("schema", "code", "says"),
    [
        pytest.param('{"type": "object",}', "schema_file", "line 1", id="no_json"),
        pytest.param('{"type": "intger"}', "schema_invalid", "type", id="unknown_type"),
        pytest.param("[]", "schema_invalid", "neither", id="a_list"),
        pytest.param('{"type": "object", "type": "array"}', "schema_file", "twice", id="two_keys"),
        pytest.param('{"minimum": NaN}', "schema_file", "NaN", id="nan"),
        pytest.param('{"minimum": ' + "9" * 5000 + "}", "schema_file", "digits", id="many_digits"),
        pytest.param("[" * 100_000, "schema_file", "deeply", id="deep"),
        pytest.param(
            '{"$ref": "#/$defs/gone"}', "schema_invalid", "$ref", id="reference_to_nothing"
        ),
        pytest.param(
            '{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"},'
            ' "b": {"$ref": "#/$defs/a"}}}',
            "schema_invalid",
            "$ref",
            id="reference_in_a_circle",
        ),
    ],
)
def test_a_broken_schema_is_an_error(tmp_path: Path, schema: str, code: str, says: str) -> None:
    problems = lint_pipeline(written(tmp_path, schema=schema))
    problem = next(problem for problem in problems if problem.is_error)
    assert (problem.code, problem.where) == (code, "schemas.files.rate")
    assert says in problem.message
    assert "rate.json" in problem.message or code == "schema_invalid"


def test_boolean_and_closed_schemas_are_fine(tmp_path: Path) -> None:
    closed = {
        "type": "object",
        "properties": {"score": {"type": "integer"}, "tone": True},
        "additionalProperties": False,
    }
    assert found(written(tmp_path, schema=closed)) == []
    assert found(written(tmp_path, schema="true")) == []


def test_a_field_that_a_closed_schema_refuses_is_an_error(tmp_path: Path) -> None:
    closed = {
        "type": "object",
        "properties": {"score": {"type": "integer"}},
        "additionalProperties": False,
    }
    assert ("error", "unknown_name", "validation.rate.required[1]") in found(
        written(tmp_path, schema=closed)
    )


def test_types_that_no_answer_has_in_common_are_an_error(tmp_path: Path) -> None:
    pipeline = changed(TYPES, "      score: boolean\n")
    assert ("error", "type_conflict", "validation.rate.types.score") in found(
        written(tmp_path, pipeline)
    )


@pytest.mark.parametrize(
    ("template", "code", "level"),
    [
        pytest.param("{{ topic ", "template_syntax", "error", id="unclosed"),
        pytest.param("{% if %}", "template_syntax", "error", id="no_condition"),
        pytest.param("{{ topc }} {{ topic }}", "unknown_variable", "warning", id="misspelt"),
        pytest.param("{{ topic }} {{ weather }}", "unknown_variable", "warning", id="undeclared"),
        pytest.param("{{ score }} {{ topic }}", "unknown_variable", "warning", id="own_answer"),
        pytest.param(None, "template_file", "error", id="no_file"),
    ],
)
def test_templates_are_parsed_and_their_variables_looked_up(
    tmp_path: Path, template: str | None, code: str, level: str
) -> None:
    assert found(written(tmp_path, template=template)) == [(level, code, "prompts.templates.rate")]


def test_names_of_items_and_positions_are_known(tmp_path: Path) -> None:
    pipeline = changed(
        "  inputs: [topic, threshold]\n",
        "  items: {source: items.yaml, key: talks}\n  positions: [{name: topic, source_key: x}]\n",
    )
    (tmp_path / "items.yaml").write_text("talks:\n  - {id: one, threshold: 1}\n")
    assert found(written(tmp_path, pipeline)) == []
    (tmp_path / "items.yaml").unlink()
    assert "items_file" in {code for _, code, _ in found(written(tmp_path, pipeline))}


def test_a_required_field_that_the_context_has_is_pointed_out(tmp_path: Path) -> None:
    problem = only(written(tmp_path, changed("[score, tone]", "[score, topic]")))
    assert (problem.level, problem.code) == ("warning", "required_of_context")
    assert "'inherited'" in problem.message


def test_a_field_that_one_alternative_refuses_is_fine(tmp_path: Path) -> None:
    schema: dict[str, object] = {
        "properties": {"score": {"type": "integer"}},
        "anyOf": [
            {"properties": {"kind": {"const": 1}}, "additionalProperties": False},
            {"properties": {"tone": {"type": "string"}}},
        ],
    }
    assert found(written(tmp_path, schema=schema)) == []


def test_a_name_that_the_context_keeps_is_not_typed_by_the_schema(tmp_path: Path) -> None:
    expression = changed(EXPR, '        expr: "tone > 3"\n').replace("[topic,", "[topic, tone,")
    pipeline = expression.replace("    rules:\n", "    protected: [tone]\n    rules:\n")
    assert found(written(tmp_path, pipeline)) == []


def test_inputs_count_as_used_where_a_template_includes_others(tmp_path: Path) -> None:
    assert found(written(tmp_path, template="{% include 'more.jinja2' %}")) == []


def test_a_block_may_be_opted_out_of_in_words(tmp_path: Path) -> None:
    pipeline = PIPELINE[: PIPELINE.index("validation:")] + "validation: {rate: none}\n"
    assert found(written(tmp_path, pipeline)) == [
        ("warning", "unused_input", "processing.inputs[1]")
    ]


@pytest.mark.parametrize(
    ("settings", "codes"),
    [
        pytest.param("", ["unknown_format"], id="told"),
        pytest.param("  check_formats: false\n", [], id="opted_out"),
        pytest.param("  check_formats: sometimes\n", ["unknown_format", "wrong_shape"], id="wrong"),
    ],
)
def test_format_that_nobody_checks_is_told(settings: str, codes: list[str], tmp_path: Path) -> None:
    fields = {"day": {"format": "date"}, "n": {"format": "int32"}}
    schema: dict[str, object] = {"properties": {"score": {}, "tone": {}, **fields}}
    pipeline = changed("schemas:\n", f"schemas:\n{settings}")
    path = written(tmp_path, pipeline, schema=schema)
    assert sorted(code for _, code, _ in found(path)) == codes
    if not codes:
        assert not load_pipeline(path).step("rate").checks_formats
