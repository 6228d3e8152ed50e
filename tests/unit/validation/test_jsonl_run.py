"""Lines of units through the checks of a step."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.jsonl_runs import STEP, run_bytes, run_lines, unit

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.validation.checks.rules import RuleLevel, RuleSpec
from ai_psychiatrist.validation.checks.step_config import RuleBlock, StepConfig
from ai_psychiatrist.validation.jsonl.run import ValidationOptions
from ai_psychiatrist.validation.jsonl.unit import Unit
from ai_psychiatrist.validation.reply.limits import ParseLimits


def context_file(folder: Path, *lines: str) -> Path:
    path = folder / "context.jsonl"
    path.write_text("\n".join(lines), "utf-8")
    return path


def asked(unit_id: object, **fields: object) -> str:
    return json.dumps({"unit_id": unit_id, **fields})


def test_id_comes_first_and_metadata_last_however_they_stood() -> None:
    line = '{"_metadata": {"m": 1}, "score": "2", "unit_id": 7, "note": "é"}'
    ran = run_lines([line])
    assert ran.valid.decode() == '{"unit_id":7,"score":2,"note":"é","_metadata":{"m":1}}\n'
    assert ran.coercions.decode() == '7 [COERCE] score: "2" → 2 (string → int)\n'


def test_repaired_line_keeps_its_id() -> None:
    ran = run_lines(['{"unit_id": "u1", "score": 2,}'])
    assert ran.kept == [{"unit_id": "u1", "score": 2}]
    assert ran.summary.repaired == 1


def test_text_that_looks_like_broken_json_is_not_touched() -> None:
    ran = run_lines([unit("u1", note="x,] +1 ```json")])
    assert ran.kept[0]["note"] == "x,] +1 ```json"
    assert ran.summary.repaired == 0


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        pytest.param("[1,2]", "parse_not_an_object", id="list"),
        pytest.param("42", "parse_not_an_object", id="number"),
        pytest.param("null", "parse_not_an_object", id="null"),
        pytest.param("I am sorry.", "parse_no_json", id="apology"),
        pytest.param(unit("u0") + unit("u1"), "parse_unrepairable", id="two_objects"),
        pytest.param('{"score": 2}', "unit_id", id="no_id"),
        pytest.param('{"unit_id": true, "score": 2}', "unit_id", id="boolean_id"),
        pytest.param('{"unit_id": "", "score": 2}', "unit_id", id="empty_id"),
    ],
)
def test_line_without_a_unit_fails_under_its_number_and_the_next_is_read(
    line: str, rule: str
) -> None:
    ran = run_lines(["", line, unit("good")])
    assert ran.told == [(None, "parse", rule)]
    assert ran.failed[0]["line"] == 2
    assert ran.failed[0]["raw_response"] == line
    assert [one["unit_id"] for one in ran.kept] == ["good"]
    assert ran.summary.unidentified == 1


@pytest.mark.parametrize(
    ("line", "stage", "rule"),
    [
        pytest.param(
            '{"unit_id":"u0","score":1,"score":2}', "parse", "parse_duplicate_key", id="key_twice"
        ),
        pytest.param(
            '{"unit_id":"u0","score":1,"\\u0073core":2}',
            "parse",
            "parse_duplicate_key",
            id="key_twice_in_two_spellings",
        ),
        pytest.param(
            '{"unit_id":"u0","note":"\\u003a","score":1,"score":2}',
            "parse",
            "parse_duplicate_key",
            id="key_twice_beside_an_escaped_colon",
        ),
        pytest.param(
            '{"unit_id":"u0","note":' + "[" * 250 + "]" * 250 + "}",
            "parse",
            "parse_too_deep",
            id="deep",
        ),
        pytest.param(
            '{"unit_id":"u0","score":2,"note":[NaN]}',
            "schema_validation",
            "schema_non_finite_number",
            id="nan",
        ),
        pytest.param(
            '{"unit_id":"u0","score":2,"_metadata":{"a":1e400}}',
            "schema_validation",
            "schema_non_finite_number",
            id="infinity_in_metadata",
        ),
        pytest.param('{"unit_id":"u0","_raw_text":{}}', "parse", "raw_text", id="raw_text_type"),
        pytest.param('{"unit_id": "u0", "score"', "parse", "parse_truncated", id="cut_off"),
        pytest.param(unit("u0") + " and so on", "parse", "parse_unrepairable", id="words_after_it"),
    ],
)
def test_line_that_is_refused_keeps_its_id(line: str, stage: str, rule: str) -> None:
    ran = run_lines([line, unit("good")])
    assert ran.told == [("u0", stage, rule)]
    assert ran.summary.valid == 1


def test_very_deep_line_does_not_end_the_run() -> None:
    deep = '{"unit_id":"u0","a":' + "[" * 20_000 + "]" * 20_000 + "}"
    ran = run_lines([deep, "[" * 100_000, unit("good")])
    assert [stage for _, stage, _ in ran.told] == ["parse", "parse"]
    assert ran.summary.valid == 1


def test_last_of_equal_keys_counts_on_demand() -> None:
    limits = ParseLimits(max_depth=200, keeps_last_key=True)
    ran = run_lines(['{"unit_id":"u0","score":1,"score":2}'], limits=limits)
    assert ran.kept == [{"unit_id": "u0", "score": 2}]


def test_byte_order_mark_crlf_and_blank_lines_are_accepted() -> None:
    data = b"\xef\xbb\xbf" + "\r\n".join([unit("u0"), "", "  ", unit("u1"), ""]).encode()
    ran = run_bytes(data)
    assert [one["unit_id"] for one in ran.kept] == ["u0", "u1"]
    assert (ran.summary.lines, ran.summary.blank_lines) == (4, 2)


def test_line_separators_inside_text_end_no_line() -> None:
    ran = run_lines([unit("u0", note="a\u2028b\u0085c\u000bd")])
    assert ran.kept[0]["note"] == "a\u2028b\u0085c\u000bd"


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b'{"unit_id":"u0","score":2,"note":"\\ud800"}', id="half_a_character"),
        pytest.param(b'{"unit_id":"u0","score":2,"note":"\xff"}', id="no_utf8"),
        pytest.param(b"\xff\xfe\x00{", id="other_encoding"),
    ],
)
def test_what_is_no_text_fails_in_parsing(line: bytes) -> None:
    ran = run_bytes(line + b"\n" + unit("good").encode())
    assert [stage for _, stage, _ in ran.told] == ["parse"]
    assert ran.summary.valid == 1


def test_whole_numbers_of_any_length_come_out_as_they_went_in() -> None:
    numbers = [2**63, 2**64, -(2**63) - 1, 10**40, 12345678901234567890]
    ran = run_lines([unit("u0", note=numbers), unit(10**30, note=1)])
    assert ran.kept[0]["note"] == numbers
    assert ran.kept[1]["unit_id"] == 10**30


@pytest.mark.parametrize("end", ["}", ",}"], ids=["sound", "trailing_comma"])
def test_number_of_too_many_digits_does_not_become_text(end: str) -> None:
    ran = run_lines([f'{{"unit_id": "u0", "score": 2, "note": {"9" * 5_000}{end}', unit("u1")])
    assert [stage for _, stage, _ in ran.told] == ["parse"]
    assert ran.summary.valid == 1


def test_too_long_line_is_passed_over_and_counted() -> None:
    long = unit("u1", note="x" * 500)
    ran = run_lines([unit("u0"), long, unit("u2"), long], longest=len(unit("u0")))
    assert [one["unit_id"] for one in ran.kept] == ["u0", "u2"]
    assert [(one["line"], one["raw_response"]) for one in ran.failed] == [(2, None), (4, None)]
    assert {rule for _, _, rule in ran.told} == {"line_too_long"}


def test_later_answer_of_a_unit_is_a_duplicate_whatever_the_first_was() -> None:
    ran = run_lines([unit("u0"), unit("u0", 9), unit("u1", 9), unit("u1"), unit(7), unit("7")])
    assert [one["unit_id"] for one in ran.kept] == ["u0", 7]
    assert ran.told == [
        ("u0", "duplicate", "duplicate"),
        ("u1", "schema_validation", "schema_maximum"),
        ("u1", "duplicate", "duplicate"),
        ("7", "duplicate", "duplicate"),
    ]
    assert (ran.summary.requested, ran.summary.valid, ran.summary.failed) == (3, 2, 1)


def test_answer_is_read_out_of_the_raw_text() -> None:
    words = 'Sure:\n```json\n{"score": 2}\n```'
    apology = "I am sorry."
    ran = run_lines(
        [
            json.dumps({"unit_id": "u0", "_raw_text": words, "_metadata": {"m": 1}}),
            json.dumps({"unit_id": "u1", "_raw_text": apology}),
            json.dumps({"unit_id": "u2", "_raw_text": "mine", "score": 9}),
            json.dumps({"unit_id": "u3", "_raw_text": '{"unit_id": "u9", "score": 1}'}),
        ]
    )
    assert ran.kept == [
        {"unit_id": "u0", "score": 2, "_metadata": {"m": 1}},
        {"unit_id": "u3", "score": 1},
    ]
    assert [(one["unit_id"], one["raw_response"]) for one in ran.failed] == [
        ("u1", apology),
        ("u2", "mine"),
    ]
    assert ran.summary.warnings == {"unit_id_mismatch": 1}


@pytest.mark.parametrize(
    "words",
    [
        pytest.param('{"score": 1}\nNo:\n{"score": 2', id="cut_off"),
        pytest.param('{"score": 1}\nNo:\n```json\n{"score": 2,', id="cut_off_fence"),
        pytest.param('{"score": 1}\nNo:\n{"score": 2 3}', id="fault"),
        pytest.param('<think>{"score": 1}', id="thinking"),
    ],
)
def test_a_draft_in_the_raw_text_never_counts(words: str) -> None:
    ran = run_lines([json.dumps({"unit_id": "u0", "_raw_text": words})])
    assert ran.kept == []
    assert [failed[:2] for failed in ran.told] == [("u0", "parse")]


@pytest.mark.parametrize("answer", [{"_raw_text": '{"score": 1}'}, {"score": 1}])
@pytest.mark.parametrize("why", [{"finish_reason": "length"}, {"stop_reason": "MAX_TOKENS"}])
def test_an_answer_that_the_provider_cut_off_never_counts(
    answer: dict[str, object], why: dict[str, str]
) -> None:
    ran = run_lines([json.dumps({"unit_id": "u0", "_metadata": why, **answer})])
    assert ran.told == [("u0", "parse", "parse_truncated")]


@pytest.mark.parametrize(
    ("error", "rule", "message"),
    [
        pytest.param({"status": 503, "message": "down"}, "provider_503", "down", id="status"),
        pytest.param({"code": "rate_limit"}, "provider_rate_limit", "the call failed", id="code"),
        pytest.param("no answer", "provider_error", "no answer", id="words"),
        pytest.param({"type": "a b\n"}, "provider_error", "the call failed", id="odd_code"),
        pytest.param("x" * 900, "provider_error", "x" * 500, id="long_words"),
    ],
)
def test_failed_call_keeps_its_cause(error: object, rule: str, message: str) -> None:
    ran = run_lines([json.dumps({"unit_id": "u0", "error": error, "retry_count": 2})])
    assert ran.told == [("u0", "provider", rule)]
    assert ran.failed[0]["errors"][0]["message"] == message
    assert ran.failed[0]["retry_count"] == 2


def test_field_called_error_can_be_part_of_an_answer() -> None:
    step = StepConfig(
        name="s1", scope="llm", schema={"properties": {"error": {}}}, rules=RuleBlock()
    )
    assert run_lines(['{"unit_id":"u0","error":"none"}'], step=step).summary.valid == 1


@pytest.mark.parametrize(
    ("fields", "count"),
    [
        pytest.param({"retry_count": 2}, 2, id="in_the_line"),
        pytest.param({"_metadata": {"retry_count": 3}}, 3, id="in_the_metadata"),
        pytest.param({"retry_count": -1}, 0, id="negative"),
        pytest.param({"retry_count": True}, 0, id="no_number"),
        pytest.param({}, 0, id="none"),
    ],
)
def test_failure_tells_how_often_the_unit_was_tried(fields: dict[str, Any], count: int) -> None:
    assert run_lines([unit("u0", 9, **fields)]).failed[0]["retry_count"] == count


def test_failure_record_has_path_and_rule_and_the_raw_line() -> None:
    line = unit("u0", "high")
    record = run_lines([line]).failed[0]
    assert list(record) == [
        "unit_id",
        "failure_stage",
        "input",
        "raw_response",
        "errors",
        "retry_count",
        "line",
    ]
    assert record["raw_response"] == line
    assert record["errors"] == [
        {
            "path": "$.score",
            "pointer": "/score",
            "rule": "schema_type",
            "message": "expected integer, got string",
        }
    ]


def test_line_end_inside_a_coerced_value_stays_inside_one_log_line() -> None:
    step = StepConfig(
        name="s1",
        scope="llm",
        schema={"properties": {"tone": {"enum": ["warm"]}}},
        rules=RuleBlock(),
    )
    forged = '{"unit_id": 1}'
    line = json.dumps({"unit_id": f"u\n{forged}", "tone": "\u2028WARM\n"})
    ran = run_lines([line], step=step)
    assert ran.kept == [{"unit_id": f"u\n{forged}", "tone": "warm"}]
    assert len(ran.coercions.decode().splitlines()) == 1
    assert ran.coercions.count(b"[COERCE]") == 1


def test_asked_units_get_their_context_and_unanswered_ones_are_missing(tmp_path: Path) -> None:
    context = context_file(tmp_path, asked("u0", age=3), asked("u1"), asked("u2", age=5))
    ran = run_lines([unit("u0", 0)], context=context)
    assert ran.told == [
        ("u0", "validation", "positive"),
        ("u1", "missing", "missing"),
        ("u2", "missing", "missing"),
    ]
    assert [one["input"] for one in ran.failed] == [{"age": 3}, {}, {"age": 5}]
    summary = ran.summary
    assert (summary.requested, summary.valid, summary.failed, summary.pending) == (3, 0, 3, 0)


@pytest.mark.parametrize(
    "order",
    [
        pytest.param([0, 1, 2, 3, 4], id="same_order"),
        pytest.param([4, 3, 2, 1, 0], id="opposite_order"),
        pytest.param([0, 2, 4], id="gaps"),
        pytest.param([0, 1, 3, 2, 4], id="swapped"),
        pytest.param([], id="nothing"),
    ],
)
def test_context_is_joined_by_id_in_any_order(order: list[int], tmp_path: Path) -> None:
    lines = [asked(f"u{number}", limit=number) for number in range(5)]
    context = context_file(tmp_path, *lines[:2], "", *lines[2:])
    rules = RuleBlock(rules=(RuleSpec(name="own", expr="score == limit", error=""),))
    step = StepConfig(name="s1", scope="llm", schema={}, rules=rules)
    ran = run_lines([unit(f"u{number}", number) for number in order], step=step, context=context)
    assert [one["score"] for one in ran.kept] == order
    missing = [number for number in range(5) if number not in order]
    assert [one["unit_id"] for one in ran.failed] == [f"u{number}" for number in missing]
    assert ran.summary.requested == 5


def test_unit_that_was_not_asked_for_is_no_part_of_the_account(tmp_path: Path) -> None:
    context = context_file(tmp_path, asked("u0"), asked("u1"))
    ran = run_lines([unit("u9"), unit("u1"), "oops", unit("u1"), unit("u0")], context=context)
    assert [one["unit_id"] for one in ran.kept] == ["u1", "u0"]
    assert ran.told == [
        ("u9", "pipeline_internal", "not_asked"),
        (None, "parse", "parse_no_json"),
        ("u1", "duplicate", "duplicate"),
    ]
    summary = ran.summary
    assert (summary.requested, summary.valid, summary.failed) == (2, 2, 0)
    assert (summary.unexpected, summary.unidentified, summary.duplicates) == (1, 1, 1)
    assert not summary.is_all_valid


def test_whole_number_and_text_are_one_id(tmp_path: Path) -> None:
    ran = run_lines([unit("7")], context=context_file(tmp_path, asked(7)))
    assert ran.kept == [{"unit_id": "7", "score": 2}]


@pytest.mark.parametrize(
    ("lines", "answers", "words"),
    [
        pytest.param(["{broken"], ["u0"], "line 1 of the context is no JSON", id="broken"),
        pytest.param(['{"a": 1}'], ["u0"], "line 1 of the context has no 'unit_id'", id="no_id"),
        pytest.param([asked("u0"), "", asked("u0")], ["u0", "u1"], "line 3", id="twice_looked_up"),
        pytest.param([asked("u0"), "", asked("u0")], ["u0"], "line 3", id="twice_at_the_end"),
        pytest.param([asked("u0"), "", asked("u0")], ["u0", "u0"], "line 3", id="twice_and_twice"),
    ],
)
def test_context_of_no_use_is_refused_with_its_line(
    lines: list[str], answers: list[str], words: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=words):
        run_lines([unit(one) for one in answers], context=context_file(tmp_path, *lines))


def test_units_after_the_deadline_fail_and_are_accounted_for(tmp_path: Path) -> None:
    now = iter([0.0, 1.0, 2.0, 10.0, 10.0])
    options = ValidationOptions(deadline_seconds=5.0, clock=lambda: next(now))
    context = context_file(tmp_path, *(asked(f"u{number}") for number in range(5)))
    ran = run_lines([unit(f"u{number}") for number in range(4)], options=options, context=context)
    assert ran.told == [
        ("u2", "pipeline_internal", "deadline_exceeded"),
        ("u3", "pipeline_internal", "deadline_exceeded"),
        ("u4", "missing", "missing"),
    ]
    assert ran.summary.requested == 5


def test_unit_that_takes_too_much_work_leaves_the_others() -> None:
    rules = RuleBlock(
        rules=(
            RuleSpec(
                name="heavy",
                expr="all([len([j for j in note if j > i]) >= 0 for i in note])",
                error="",
            ),
        )
    )
    step = StepConfig(name="s1", scope="llm", schema={}, rules=rules)
    lines = [unit("u0", note=[1]), unit("u1", note=list(range(3_000))), unit("u2", note=[2])]
    ran = run_lines(lines, step=step)
    assert ran.told == [("u1", "pipeline_internal", "budget_exceeded")]
    assert ran.summary.valid == 2


def test_summary_counts_stages_rules_warnings_and_skipped_rules() -> None:
    rules = RuleBlock(
        rules=(
            RuleSpec(name="positive", expr="score >= 1", error=""),
            RuleSpec(name="high", expr="score >= 3", error="", level=RuleLevel.WARNING),
            RuleSpec(name="noted", expr="note == 1", error="", when="has(note)"),
        )
    )
    step = StepConfig(name="s1", scope="llm", schema=STEP.schema, rules=rules)
    summary = run_lines([unit("u0", 0), unit("u1", "2"), unit("u2", 9)], step=step).summary
    assert summary.by_stage == {"schema_validation": 1, "validation": 1}
    assert summary.by_rule == {"positive": 1, "schema_maximum": 1}
    assert summary.warnings == {"high": 2}
    assert summary.skipped_rules == {"noted": 2}
    assert summary.coercions == 1
    assert list(summary.seconds) == ["read", "structure", "rules", "write"]


def test_run_without_a_valid_unit_says_so() -> None:
    assert run_lines([unit("u0", 9)]).summary.is_nothing_valid
    assert not run_lines([]).summary.is_nothing_valid
    assert run_lines([]).summary.is_all_valid


def test_every_outcome_is_told_in_order(tmp_path: Path) -> None:
    told: list[Unit] = []
    context = context_file(tmp_path, asked("u0", a=1), asked("u1"))
    options = ValidationOptions(on_unit=told.append)
    run_lines([unit("u0"), "oops"], context=context, options=options)
    assert [(one.unit_id, one.verdict.stage, one.context) for one in told] == [
        ("u0", None, {"a": 1}),
        (None, "parse", None),
        ("u1", "missing", {}),
    ]


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=4)
    ),
    max_leaves=10,
)


@given(note=json_values, ascii_only=st.booleans(), spaced=st.booleans())
def test_valid_unit_comes_out_as_it_went_in(note: object, ascii_only: bool, spaced: bool) -> None:
    separators = (" , ", " : ") if spaced else (",", ":")
    line = json.dumps(
        {"unit_id": "u", "score": 2, "note": note}, ensure_ascii=ascii_only, separators=separators
    )
    ran = run_bytes(line.encode())
    assert repr(ran.kept) == repr([{"unit_id": "u", "score": 2, "note": note}])


@given(st.lists(st.binary(max_size=60), max_size=8))
def test_any_bytes_are_accounted_for(lines: list[bytes]) -> None:
    data = b"\n".join(lines)
    ran = run_bytes(data)
    assert ran.summary.lines == ran.summary.blank_lines + ran.summary.failure_records
    assert [json.loads(line) for line in ran.failures.splitlines()] == ran.failed


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"retry_count": 2}, id="count"),
        pytest.param({"retry_count": 2, "_retry": {"why": "cut"}, "_trace": 7}, id="and_more"),
    ],
)
def test_fields_of_a_retried_unit_pass_a_closed_schema_and_are_kept(
    fields: dict[str, Any],
) -> None:
    ran = run_lines([unit("u0", "2", **fields)])
    assert ran.kept == [{"unit_id": "u0", "score": 2, **fields}]


def test_field_of_the_answer_that_looks_like_a_hosts_is_judged_by_its_schema() -> None:
    schema: dict[str, object] = {
        "properties": {"retry_count": {"type": "integer"}, "_kind": {"enum": ["a"]}},
        "required": ["retry_count", "_kind"],
        "additionalProperties": False,
    }
    step = StepConfig(name="s1", scope="llm", schema=schema, rules=RuleBlock())
    lines = ['{"unit_id":1,"retry_count":"3","_kind":"A"}', '{"unit_id":2,"retry_count":1}']
    ran = run_lines(lines, step=step)
    assert ran.kept == [{"unit_id": 1, "retry_count": 3, "_kind": "a"}]
    assert ran.told == [(2, "schema_validation", "schema_required")]


def test_rules_see_what_a_host_put_on_the_line() -> None:
    rules = (RuleSpec(name="host", expr="_trace == 7 and retry_count == 2", error="no"),)
    step = replace(STEP, rules=RuleBlock(rules=rules))
    assert run_lines([unit("u0", retry_count=2, _trace=7)], step=step).summary.valid == 1


def test_object_under_response_is_the_answer() -> None:
    ran = run_lines(['{"unit_id":"u0","response":{"score":"2","unit_id":"u0"},"retry_count":1}'])
    assert ran.kept == [{"unit_id": "u0", "score": 2, "retry_count": 1}]


def test_line_that_cannot_be_read_fails_under_the_unit_that_it_names() -> None:
    ran = run_lines(['[{"unit_id":"u1","score":2},', '{"unit_id":"u2","score":2},', "]"])
    assert [(one["unit_id"], one["failure_stage"], one["line"]) for one in ran.failed] == [
        ("u1", "parse", 1),
        (None, "parse", 3),
    ]
    assert [one["unit_id"] for one in ran.kept] == ["u2"]
    summary = ran.summary
    assert (summary.lines, summary.objects, summary.unreadable_lines) == (3, 1, 2)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param('{"unit_id":"u1","score":2,"unit_id":"u2"}', id="plain"),
        pytest.param('{"unit_id":"u1","score":2,"unit\\u005fid":"u2"}', id="escaped"),
        pytest.param('{"unit_id":"u1","score":2},"unit_id":"u2"}', id="repaired"),
        pytest.param('{unit_id:"u1","score":2,unit_id:"u2"}', id="without_marks"),
    ],
)
def test_no_unit_is_lost_where_the_last_of_equal_keys_counts(line: str) -> None:
    limits = ParseLimits(max_depth=200, keeps_last_key=True)
    ran = run_lines([line], limits=limits)
    assert [(stage, rule) for _, stage, rule in ran.told] == [("parse", "parse_duplicate_key")]
