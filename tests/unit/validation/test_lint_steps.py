"""Expression steps: their syntax and their names are checked, they are not run."""

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fakes.pipeline_folder import PIPELINE, SCHEMA, changed, found, written

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.validation.checks.step_validator import StepValidator
from ai_psychiatrist.validation.config.pipeline import lint_pipeline, load_pipeline


def with_step(step: str) -> str:
    """Return the sound pipeline with an expression step before its model step."""
    return changed(
        "    - name: rate\n",
        f"    - {{name: count, scope: expression, {step}}}\n    - name: rate\n",
    )


@pytest.mark.parametrize(
    "step",
    [
        pytest.param("expressions: {words: 'len(topic.split())', few: 'words < 5'}", id="in_turn"),
        pytest.param(
            "expressions: {shoe: \"['A', 'K'] * 24\", card: 'random.choice(shoe)'}", id="random"
        ),
        pytest.param("expressions: {note: \"f'{topic} {threshold}'\"}", id="formatted_text"),
        pytest.param(
            "init: {place: '5', path: '[place]', far: '1'}, max_iterations: 9,"
            " loop_until: 'place > far', expressions: {place: 'place + far', far: 'place + 1'}",
            id="loop_that_reads_its_last_round",
        ),
        pytest.param(
            "max_iterations: 9, loop_until: 'far > 5',"
            " expressions: {place: 'far if has(far) else 0', far: 'place + 1'}",
            id="loop_that_asks_for_its_last_round",
        ),
    ],
)
def test_sound_expressions_are_no_problem(tmp_path: Path, step: str) -> None:
    assert found(written(tmp_path, with_step(step))) == []


def test_later_steps_know_what_expressions_set(tmp_path: Path) -> None:
    pipeline = with_step("expressions: {words: '7'}").replace(
        "score >= threshold", "score <= words"
    )
    assert found(written(tmp_path, pipeline, template="{{ topic }} in {{ words }}")) == []


def test_local_names_are_unknown_to_rules_and_later_steps(tmp_path: Path) -> None:
    steps = with_step("expressions: {_words: '7', count: '_words'}").replace(
        "score >= threshold", "score <= _words"
    )
    later = "    - {name: after, scope: expression, expressions: {more: '_words'}}\n"
    assert found(written(tmp_path, steps.replace("prompts:\n", f"{later}prompts:\n"))) == [
        ("error", "unknown_name", "pipeline.steps[2].expressions.more"),
        ("error", "unknown_name", "validation.rate.rules[0].expr"),
    ]


def test_expressions_know_the_fields_of_earlier_model_steps(tmp_path: Path) -> None:
    step = "    - {name: after, scope: expression, expressions: {more: 'score + len(tone)'}}\n"
    pipeline = changed("prompts:\n", f"{step}prompts:\n")
    assert found(written(tmp_path, pipeline)) == []


def test_an_expression_step_may_have_checks(tmp_path: Path) -> None:
    block = "  count:\n    required: [words]\n    types: {wrods: number}\n"
    pipeline = with_step("expressions: {words: '7'}") + block
    assert found(written(tmp_path, pipeline)) == [
        ("error", "unknown_name", "validation.count.types.wrods")
    ]


ODD: st.SearchStrategy[object] = st.sampled_from(
    [None, True, 0, -1, 1.5, "", "none", "a[", [], {}, [[]], [{}], [None], {"a": 1}, {"min": "x"}]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_what_the_lint_passes_compiles_and_nothing_breaks_the_lint(
    tmp_path: Path, data: st.DataObject
) -> None:
    pipeline: object = yaml.safe_load(PIPELINE)
    schema: object = SCHEMA
    for _ in range(data.draw(st.integers(1, 3))):
        pipeline = with_odd_place(pipeline, data)
    if data.draw(st.booleans()):
        schema = with_odd_place(schema, data)
    path = written(tmp_path, yaml.safe_dump(pipeline), schema=json.dumps(schema))
    if any(problem.is_error for problem in lint_pipeline(path)):
        with pytest.raises(ConfigurationError):
            load_pipeline(path)
        return
    for step in load_pipeline(path).steps:
        if step.scope == "llm":
            StepValidator(step)


def with_odd_place(value: object, data: st.DataObject) -> object:
    """Return a copy with one place, at any depth, replaced by something odd."""
    if data.draw(st.integers(0, 4)) and isinstance(value, dict) and value:
        key = data.draw(st.sampled_from(sorted(value)))
        return {**value, key: with_odd_place(value[key], data)}
    if data.draw(st.integers(0, 4)) and isinstance(value, list) and value:
        position = data.draw(st.integers(0, len(value) - 1))
        return [
            with_odd_place(item, data) if place == position else item
            for place, item in enumerate(value)
        ]
    return data.draw(ODD)


@pytest.mark.parametrize(
    ("expr", "message"),
    [
        pytest.param("rated == 'two'", "'rated' is integer in the step 'first'", id="bare"),
        pytest.param("inp.get('rated') == 2 and inp['rated'] == 'x'", "'rated' is", id="inp"),
        pytest.param("marks['lo'] == 1", "the schema names no 'lo' there", id="inside"),
        pytest.param("rated == 2 and marks['low'] == 'a'", None, id="sound"),
    ],
)
def test_rules_know_the_types_that_earlier_steps_give(
    expr: str, message: str | None, tmp_path: Path
) -> None:
    marks = {"type": "object", "properties": {"low": {"type": "string"}}}
    fields: dict[str, object] = {"rated": {"type": "integer"}, "marks": marks}
    pipeline = (
        PIPELINE.replace("steps:\n", "steps:\n    - {name: first}\n", 1)
        .replace("templates:\n", "templates:\n    first: rate.jinja2\n", 1)
        .replace("files:\n", "files:\n    first: first.json\n", 1)
        .replace("validation:\n", "validation:\n  first: none\n", 1)
        .replace("score >= threshold", expr)
    )
    path = written(tmp_path, pipeline)
    (tmp_path / "schemas" / "first.json").write_text(json.dumps({"properties": fields}), "utf-8")
    problems = [problem.message for problem in lint_pipeline(path)]
    assert [found for found in problems if message and found.startswith(message)] == problems
    assert bool(problems) is (message is not None)
