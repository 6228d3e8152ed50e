import json
from pathlib import Path

from typer.testing import CliRunner, Result

from ai_psychiatrist.cli.app import app
from tests.conftest import EXAMPLES
from tests.fakes.pipeline_folder import changed, written

DOCS = Path(__file__).parents[2] / "docs"


def lint(*arguments: str | Path) -> Result:
    """Run the command."""
    return CliRunner().invoke(app, ["lint-config", *map(str, arguments)])


def test_a_sound_pipeline_passes() -> None:
    result = lint(EXAMPLES / "pipeline" / "pipeline.yaml")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "errors 0, warnings 0" in result.stderr


def test_the_examples_answers_are_judged_as_the_documentation_says(tmp_path: Path) -> None:
    names = {name: str(tmp_path / name) for name in ("valid", "failures", "coercions")}
    outputs = [part for name, path in names.items() for part in (f"--{name}", path)]
    folder = EXAMPLES / "pipeline"
    inputs = ["--config", str(folder / "pipeline.yaml"), "--step", "rate_sleep"]
    inputs += ["--context", str(folder / "context.jsonl"), str(folder / "answers.jsonl")]
    assert CliRunner().invoke(app, ["validate", *inputs, *outputs]).exit_code == 1
    valid = [json.loads(line) for line in (tmp_path / "valid").read_text().splitlines()]
    assert [(unit["unit_id"], unit["score"]) for unit in valid] == [
        ("u1", 3),
        ("u2", 0),
        ("u3", None),
    ]
    (failure,) = map(json.loads, (tmp_path / "failures").read_text().splitlines())
    assert (failure["unit_id"], failure["failure_stage"]) == ("u4", "validation")
    assert [error["rule"] for error in failure["errors"]] == ["quotes_are_in_the_excerpt"]
    assert (tmp_path / "coercions").read_text().count("\n") == 2


def test_problems_are_lines_that_name_file_line_and_column(tmp_path: Path) -> None:
    path = written(tmp_path, changed("[0, 3]", "[10, 0]"))
    result = lint(path)
    assert result.exit_code == 2
    assert result.stdout == (
        f"{path}:24:7 error empty_range validation.rate.ranges.score: "
        "no number lies between 10 and 0\n"
    )


def test_warnings_alone_are_no_failure(tmp_path: Path) -> None:
    result = lint(written(tmp_path, changed("threshold]", "threshold, mood]")))
    assert result.exit_code == 0
    assert " warning unused_input " in result.stdout


def test_json_is_one_array_over_all_files(tmp_path: Path) -> None:
    path = written(tmp_path, changed("level: error", "level: fatal"))
    result = lint("--format", "json", EXAMPLES / "pipeline" / "pipeline.yaml", path, "gone.yaml")
    assert result.exit_code == 2
    problems = json.loads(result.stdout)
    assert [problem["code"] for problem in problems] == ["unknown_level", "unreadable"]
    assert problems[0] == {
        "file": str(path),
        "level": "error",
        "code": "unknown_level",
        "where": "validation.rate.rules[0].level",
        "line": 29,
        "column": 9,
        "message": "a rule's level is error or warning",
    }
    assert problems[1]["line"] is None


def test_the_documentation_shows_the_example_as_it_is() -> None:
    shown = (DOCS / "validation.md").read_text("utf-8")
    assert (EXAMPLES / "two_steps" / "pipeline.yaml").read_text("utf-8") in shown


def test_validate_config_is_another_name(tmp_path: Path) -> None:
    path = written(tmp_path, changed("[0, 3]", "[10, 0]"))
    results = [
        CliRunner().invoke(app, [name, str(path)]) for name in ("lint-config", "validate-config")
    ]
    assert [result.exit_code for result in results] == [2, 2]
    assert results[0].output == results[1].output
