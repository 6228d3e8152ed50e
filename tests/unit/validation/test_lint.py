from pathlib import Path

import pytest
from tests.fakes.pipeline_folder import PIPELINE, changed, found, written

from ai_psychiatrist.validation.config.pipeline import lint_pipeline, load_pipeline

TYPES = "      score: integer\n"
RANGE = "      score: [0, 3]\n"
EXPR = '        expr: "score >= threshold"\n'
LEVEL = "        level: error\n"
RULE = "validation.rate.rules[0]"


@pytest.mark.parametrize(
    ("pipeline", "code", "where", "says"),
    [
        pytest.param(
            changed("prompts:\n", "promts:\n"),
            *("unknown_section", "promts", "did you mean 'prompts'"),
            id="section",
        ),
        pytest.param(
            changed(TYPES, "      score: int\n"),
            *("unknown_type", "validation.rate.types.score", "did you mean 'integer'"),
            id="type",
        ),
        pytest.param(
            changed(RANGE, "      tone: [0, 3]\n"),
            *("range_type", "validation.rate.ranges.tone", "a range needs a number"),
            id="range_of_a_text",
        ),
        pytest.param(
            changed(EXPR, '        expr: "score >= treshold"\n'),
            *("unknown_name", f"{RULE}.expr", "did you mean 'threshold'"),
            id="name_in_a_rule",
        ),
        pytest.param(
            changed("    max_attempts: 2", "    max_attempts: 2\n    max_attempts: 3"),
            *("duplicate_key", "api.retry.max_attempts", "twice"),
            id="key_given_twice",
        ),
    ],
)
def test_a_mistake_is_one_error_with_its_place_and_its_cure(
    tmp_path: Path, pipeline: str, code: str, where: str, says: str
) -> None:
    problems = [one for one in lint_pipeline(written(tmp_path, pipeline)) if one.is_error]
    assert (problems[0].code, problems[0].where) == (code, where)
    assert says in problems[0].message
    assert problems[0].line is not None


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


def test_an_entry_for_no_step_is_checked_all_the_same(tmp_path: Path) -> None:
    path = written(tmp_path, PIPELINE + "  weather:\n    types: {sky: str}\n")
    problems = lint_pipeline(path)
    assert [problem.code for problem in problems] == ["orphan", "unknown_type"]
    assert problems[0].message.endswith("steps: rate")


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


@pytest.mark.parametrize(
    ("schema", "code", "says"),
    [
        pytest.param('{"minimum": ' + "9" * 5000 + "}", "schema_file", "digits", id="many_digits"),
        pytest.param("[" * 100_000, "schema_file", "deeply", id="deep"),
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


def test_names_of_items_and_positions_are_known(tmp_path: Path) -> None:
    pipeline = changed(
        "  inputs: [topic, threshold]\n",
        "  items: {source: items.yaml, key: talks}\n  positions: [{name: topic, source_key: x}]\n",
    )
    (tmp_path / "items.yaml").write_text("talks:\n  - {id: one, threshold: 1}\n")
    assert found(written(tmp_path, pipeline)) == []
    (tmp_path / "items.yaml").unlink()
    assert "items_file" in {code for _, code, _ in found(written(tmp_path, pipeline))}


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
