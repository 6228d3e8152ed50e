import json
import pprint
from pathlib import Path

import pytest
from rich.pretty import pretty_repr

import ai_psychiatrist as ap
from tests.integration.command_here import run_here

SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "integer", "minimum": 0, "maximum": 3}},
    "required": ["score"],
}
LINES = ('{"unit_id": "a", "score": 1}', '{"score": "2"}', '{"score": 9}', "no JSON")


def test_it_finds_what_the_command_finds(tmp_path: Path) -> None:
    schema, answers = tmp_path / "schema.json", tmp_path / "answers.jsonl"
    schema.write_text(json.dumps(SCHEMA), "utf-8")
    answers.write_text("\n".join(LINES) + "\n", "utf-8")
    arguments = ["validate", "--schema", str(schema), str(answers), "--failures", "failures"]
    done = run_here([*arguments, "--coercions", "coercions", "--summary", "summary"], tmp_path)
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
        pytest.param(None, id="nothing"),
        pytest.param(Path("there-is-none.jsonl"), id="no file"),
    ],
)
def test_what_are_no_lines_is_refused(lines: object) -> None:
    with pytest.raises(ap.InputError):
        ap.validate(lines, SCHEMA)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("lines", "place", "kind"),
    [([None], 1, "NoneType"), (["{}", [1]], 2, "list"), (["{}", "", 7], 3, "int")],
)
def test_what_is_no_answer_is_refused_by_its_place(
    lines: list[object], place: int, kind: str
) -> None:
    wanted = f"answer {place} is of type {kind}: give each as str, bytes or a mapping"
    with pytest.raises(ap.InputError, match=wanted):
        ap.validate(lines, SCHEMA)  # type: ignore[arg-type]


circular: dict[str, object] = {}
circular["score"] = circular


@pytest.mark.parametrize(
    ("answer", "rule"),
    [
        pytest.param('```json\n{"score": 1', "parse_truncated", id="a fence that is cut off"),
        pytest.param(
            '```\n{"unit_id": 1, "score": 1}\n```\n```\n{"unit_id": 2, "score": 1}\n```',
            "parse_several_answers",
            id="two units in fences",
        ),
        pytest.param("", "parse_no_json", id="empty"),
        pytest.param(b" \n", "parse_no_json", id="blank"),
        pytest.param('{"score": 1}\n{"score": 2}', None, id="two objects"),
        pytest.param('{\n"score": 1', "parse_truncated", id="cut off at a line break"),
        pytest.param({"score": object()}, "no_json_value", id="no JSON value"),
        pytest.param({("a", "b"): 1}, "no_json_value", id="no JSON key"),
        pytest.param(circular, "no_json_value", id="circular"),
        pytest.param("\ud800", "parse_unrepairable", id="half a character"),
        pytest.param(b"\xff\n", "parse_unrepairable", id="no text"),
        pytest.param(" " * 10_000_001, "line_too_long", id="too long"),
    ],
)
def test_a_bad_answer_is_one_failure_and_leaves_the_others(
    answer: str | bytes | dict[str, object], rule: str | None
) -> None:
    report = ap.validate(['{"score": 1}', answer, '{"score": 2}'], SCHEMA)
    assert report.valid == ({"score": 1}, {"score": 2})
    [failure] = report.failures
    assert (failure["line"], failure["failure_stage"]) == (2, "parse")
    assert rule is None or report.summary["by_rule"] == {rule: 1}
    assert report.summary["is_balanced"]
    assert (report.summary["requested"], report.summary["failed"]) == (3, 1)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param('```json\n{"unit_id": "a", "score": "1"}\n```', id="fenced"),
        pytest.param('Here it is:\n{"unit_id": "a", "score": "1"}', id="after words"),
        pytest.param('<think>{"score": 3}</think>{"unit_id": "a", "score": "1"}', id="thinking"),
    ],
)
def test_a_reply_is_read_as_the_command_reads_the_models_own_words(reply: str) -> None:
    report = ap.validate([reply, {"unit_id": "b", "_raw_text": reply}], SCHEMA)
    assert report.valid == ({"unit_id": "a", "score": 1}, {"unit_id": "b", "score": 1})
    assert len(report.coercions) == 2


def test_line_breaks_between_the_values_of_an_answer_are_no_failure() -> None:
    pretty = json.dumps({"unit_id": "a", "score": 1}, indent=2)
    report = ap.validate([f"{pretty}\n", pretty.replace("a", "b").encode(), '{"score": 2}'], SCHEMA)
    assert report.is_all_valid
    assert report.valid == (
        {"unit_id": "a", "score": 1},
        {"unit_id": "b", "score": 1},
        {"score": 2},
    )
    assert report.summary["lines"] == 3


@pytest.mark.parametrize("schema", [{"type": "no type"}, "object", Path("there-is-none.json")])
def test_what_is_no_schema_is_refused(schema: object) -> None:
    with pytest.raises(ap.ConfigurationError):
        ap.validate(LINES, schema)  # type: ignore[arg-type]


def test_what_is_shown_of_a_report_has_no_words() -> None:
    report = ap.validate(['{"said": "I sleep badly"}', '{"said": "badly"'], {"required": ["said"]})
    assert len(report.valid) == len(report.failures) == 1
    for shown in (repr(report), str(report)):
        assert shown.startswith("ValidatedLines(valid=<1>, failures=<1>")
    assert repr(report.failures) == "(FailedAnswer(line=2, failure_stage='parse', <7>),)"
    assert repr(report.valid) == "(ValidAnswer(<1>),)"
    for value in (report, report.valid, report.failures):
        for shown in (repr(value), pprint.pformat(value), pretty_repr(value)):
            assert "badly" not in shown
    assert report.failures[0]["raw_response"] == '{"said": "badly"'
    assert json.loads(json.dumps(report.failures))[0]["line"] == 2
