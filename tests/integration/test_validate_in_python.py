import json
from pathlib import Path

import pytest

import ai_psychiatrist as ap
from tests.integration.command import run

SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "integer", "minimum": 0, "maximum": 3}},
    "required": ["score"],
}
LINES = ('{"unit_id": "a", "score": 1}', '{"score": "2"}', '{"score": 9}', "no JSON", "")


def test_it_finds_what_the_command_finds(tmp_path: Path) -> None:
    schema, answers = tmp_path / "schema.json", tmp_path / "answers.jsonl"
    schema.write_text(json.dumps(SCHEMA), "utf-8")
    answers.write_text("\n".join(LINES) + "\n", "utf-8")
    arguments = ["validate", "--schema", str(schema), str(answers), "--failures", "failures"]
    done = run([*arguments, "--coercions", "coercions", "--summary", "summary"], tmp_path)
    assert done.code == 1
    in_memory, by_path = ap.validate(LINES, SCHEMA), ap.validate(answers, schema)
    for found in (in_memory, by_path):
        assert list(found.valid) == [json.loads(line) for line in done.out.splitlines()]
        written = (tmp_path / "failures").read_text("utf-8").splitlines()
        assert list(found.failures) == [json.loads(line) for line in written]
        assert list(found.coercions) == (tmp_path / "coercions").read_text("utf-8").splitlines()
        assert not found.is_all_valid
    counts = json.loads((tmp_path / "summary").read_text("utf-8")) | {"seconds": {}, "step": ""}
    assert (
        json.loads(in_memory.model_dump_json())["summary"] | {"seconds": {}, "step": ""} == counts
    )


def test_objects_are_answers_too_and_large_numbers_stay_as_they_are() -> None:
    large = 2**70
    report = ap.validate([{"score": large}], {"type": "object"})
    assert report.valid == ({"score": large},)
    assert report.is_all_valid


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param('{"score": 1}', id="a string alone"),
        pytest.param({"score": 1}, id="an object alone"),
        pytest.param(['{"score":\n1}'], id="an answer of two lines"),
        pytest.param([{"score": object()}], id="no JSON value"),
        pytest.param(Path("there-is-none.jsonl"), id="no file"),
    ],
)
def test_what_are_no_lines_is_refused(lines: object) -> None:
    with pytest.raises(ap.InputError):
        ap.validate(lines, SCHEMA)  # type: ignore[arg-type]


@pytest.mark.parametrize("schema", [{"type": "no type"}, "object", Path("there-is-none.json")])
def test_what_is_no_schema_is_refused(schema: object) -> None:
    with pytest.raises(ap.ConfigurationError):
        ap.validate(LINES, schema)  # type: ignore[arg-type]


def test_what_is_shown_of_a_report_has_no_words() -> None:
    report = ap.validate(['{"said": "I sleep badly"}', '{"said": 1'], {"required": ["said"]})
    assert len(report.valid) == len(report.failures) == 1
    for shown in (repr(report), str(report)):
        assert shown.startswith("ValidatedLines(valid=<1>, failures=<1>")
        assert "badly" not in shown
