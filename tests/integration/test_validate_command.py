"""The command `validate`, from files to exit status."""

import gzip
import json
import shutil
import signal
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import EXAMPLES
from tests.integration.command import COMMAND, Finished, environment_of, run
from tests.integration.command_here import run_here
from tests.integration.started import start
from tests.patience import wait_until

PIPELINE = """
pipeline:
  steps:
    - {name: s1, prompt_template: s1.jinja2}
prompts:
  template_dir: .
  templates: {s1: s1.jinja2}
schemas:
  schema_dir: .
  files: {s1: s1.json}
api:
  retry: {max_attempts: 3}
processing:
  inputs: [threshold]
validation:
  s1:
    required: [score]
    rules:
      - name: threshold
        expr: "score >= threshold"
        error: "score {score} is below {threshold}"
        level: error
        when: "has(threshold)"
      - name: positive
        expr: "score >= 1"
        error: "score {score} is too low"
        level: error
"""
SCHEMA = {
    "type": "object",
    "required": ["score"],
    "properties": {
        "score": {"type": "integer", "minimum": 0, "maximum": 3},
        "tone": {"enum": ["warm", "cold"]},
    },
}
GOOD = {"unit_id": "u0", "score": "2", "tone": "WARM"}
BAD = {"unit_id": "u1", "score": 0, "tone": "warm"}
KEPT = {"unit_id": "u0", "score": 2, "tone": "warm"}
SECRET = "my sister Ada"
BOMB = gzip.compress(b"\n" * (1 << 20)) * 128
"""128 MB of empty lines in 130 kB."""


def lines(*units: dict[str, Any]) -> str:
    return "".join(f"{json.dumps(unit)}\n" for unit in units)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a pipeline and two units, one of them valid."""
    (tmp_path / "pipeline.yaml").write_text(PIPELINE, "utf-8")
    (tmp_path / "s1.json").write_text(json.dumps(SCHEMA), "utf-8")
    (tmp_path / "s1.jinja2").write_text("Score it.", "utf-8")
    (tmp_path / "in.jsonl").write_text(lines(GOOD, BAD), "utf-8")
    return tmp_path


def validate(folder: Path, *arguments: str, stdin: bytes = b"", step: str = "s1") -> Finished:
    command = ["validate", "--config", "pipeline.yaml", "--step", step, *arguments]
    return run_here(command, folder, stdin=stdin)


def records(text: str | bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_valid_units_go_to_stdout_and_failures_to_stderr_alone(folder: Path) -> None:
    done = validate(folder, "in.jsonl")
    assert done.code == 1
    assert records(done.out) == [KEPT]
    (failure,) = records(done.err)
    assert failure == {
        "unit_id": "u1",
        "failure_stage": "validation",
        "input": None,
        "raw_response": json.dumps(BAD),
        "errors": [
            {
                "path": "$.score",
                "pointer": "/score",
                "rule": "positive",
                "message": "score 0 is too low",
            }
        ],
        "retry_count": 0,
        "line": 2,
    }


def test_every_output_has_a_file_of_its_own(folder: Path) -> None:
    outputs = ["--valid", "v.jsonl", "--failures", "f.jsonl.gz", "--coercions", "c.log"]
    done = validate(folder, "in.jsonl", *outputs, "--summary", "s.json")
    assert (done.code, done.out) == (1, "")
    assert records((folder / "v.jsonl").read_bytes()) == [KEPT]
    packed = (folder / "f.jsonl.gz").read_bytes()
    assert [one["unit_id"] for one in records(gzip.decompress(packed))] == ["u1"]
    assert (folder / "c.log").read_text("utf-8").splitlines() == [
        '"u0" [COERCE] score: "2" → 2 (string → int)',
        '"u0" [COERCE] tone: "WARM" → "warm" (string → string)',
    ]
    summary = json.loads((folder / "s.json").read_bytes())
    assert (summary["requested"], summary["valid"], summary["failed"]) == (2, 1, 1)
    assert summary["skipped_rules"] == {"threshold": 2}
    assert "s1: 2 requested = 1 valid + 1 failed + 0 pending" in done.err
    for name in ("v.jsonl", "f.jsonl.gz", "c.log", "s.json"):
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600
    assert len(list(folder.iterdir())) == 8


def test_both_phases_are_logged_in_numbers(folder: Path) -> None:
    (folder / "in.jsonl").write_text(lines(GOOD, BAD, {"unit_id": "u2", "score": SECRET}), "utf-8")
    done = validate(folder, "in.jsonl", "--failures", "f.jsonl")
    events = [line for line in done.err.splitlines() if "_validation_finished" in line]
    assert ["schema_validation_finished" in event for event in events] == [True, False]
    assert "count=2" in events[0]
    assert "failures=1" in events[0]
    assert "duration_ms=" in events[1]
    assert SECRET not in done.err


@pytest.mark.parametrize(
    ("data", "code"),
    [
        pytest.param(lines(GOOD), 0, id="all_valid"),
        pytest.param("", 0, id="no_units"),
        pytest.param(lines(GOOD, BAD), 1, id="some_failed"),
        pytest.param(lines(GOOD, GOOD), 1, id="duplicate"),
    ],
)
def test_exit_status_tells_whether_all_units_are_valid(data: str, code: int, folder: Path) -> None:
    assert validate(folder, stdin=data.encode()).code == code
    assert validate(folder, "-", stdin=data.encode()).code == code


def test_no_valid_unit_says_to_stop(folder: Path) -> None:
    done = validate(folder, "--failures", "f.jsonl", stdin=lines(BAD).encode())
    assert done.code == 1
    assert done.err.rstrip().endswith("no unit is valid: stop here")


def test_context_gives_rules_their_input_and_shows_what_is_missing(folder: Path) -> None:
    (folder / "context.jsonl.gz").write_bytes(
        gzip.compress(
            lines(
                {"unit_id": "u2", "threshold": 1},
                {"unit_id": "u1", "threshold": 0},
                {"unit_id": "u0", "threshold": 3},
            ).encode()
        )
    )
    done = validate(folder, "in.jsonl", "--context", "context.jsonl.gz")
    assert done.code == 1
    failures = [
        (one["unit_id"], one["failure_stage"], one["errors"][0]["rule"], one["input"])
        for one in records(done.err)
    ]
    assert failures == [
        ("u0", "validation", "threshold", {"threshold": 3}),
        ("u1", "validation", "positive", {"threshold": 0}),
        ("u2", "missing", "missing", {"threshold": 1}),
    ]


def test_compressed_input_is_read(folder: Path) -> None:
    (folder / "in.jsonl.gz").write_bytes(gzip.compress(lines(GOOD).encode()))
    assert records(validate(folder, "in.jsonl.gz").out) == [KEPT]


def test_first_line_that_is_cut_off_is_a_line_as_any_other(folder: Path) -> None:
    (folder / "in.jsonl").write_text("{\n" + lines(GOOD), "utf-8")
    done = validate(folder, "in.jsonl")
    assert (done.code, len(records(done.out))) == (1, 1)
    assert json.loads(done.err.splitlines()[0])["failure_stage"] == "parse"


def test_file_may_be_written_over_itself(folder: Path) -> None:
    (folder / "in.jsonl").write_text(lines(GOOD), "utf-8")
    assert validate(folder, "in.jsonl", "--valid", "in.jsonl").code == 0
    assert records((folder / "in.jsonl").read_bytes()) == [KEPT]


def test_device_takes_output_and_stays_a_device(folder: Path) -> None:
    done = validate(folder, "in.jsonl", "--valid", "/dev/null", "--failures", "/dev/null")
    assert done.code == 1
    assert Path("/dev/null").is_char_device()


def test_standard_streams_can_be_named_as_files(folder: Path) -> None:
    named = ["in.jsonl", "--valid", "-", "--failures", "/dev/stdout"]
    done = run(["validate", "--config", "pipeline.yaml", "--step", "s1", *named], folder)
    assert sorted(one["unit_id"] for one in records(done.out)) == ["u0", "u1"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(["nowhere.jsonl"], "the input cannot be read", id="no_input"),
        pytest.param(["cut.jsonl.gz"], "is not a whole gzip file", id="cut_off_gzip"),
        pytest.param(["one.json"], "one JSON object over several lines", id="one_object"),
        pytest.param(["all.json"], "jq -c '.[]' FILE", id="one_array"),
        pytest.param(["in.jsonl", "--context", "nowhere"], "the context", id="no_context"),
        pytest.param(["in.jsonl", "--context", "s1.jinja2"], "line 1 of the context", id="context"),
        pytest.param(["in.jsonl", "--context", "bomb.gz"], "times as large", id="gzip_bomb"),
        pytest.param(["in.jsonl", "--context", "torn.gz"], "cannot be unpacked", id="torn_gzip"),
        pytest.param(["in.jsonl", "--valid", "no/v.jsonl"], "--valid cannot be written", id="out"),
        pytest.param(
            ["in.jsonl", "--valid", "a", "--failures", "./a"], "name the same file", id="same_file"
        ),
    ],
)
def test_file_of_no_use_ends_the_run_and_leaves_nothing_behind(
    arguments: list[str], words: str, folder: Path
) -> None:
    (folder / "cut.jsonl.gz").write_bytes(gzip.compress(lines(GOOD).encode() * 500)[:-9])
    (folder / "bomb.gz").write_bytes(BOMB)
    (folder / "torn.gz").write_bytes(gzip.compress(b"", 1)[:10] + b"\xff" * 40)
    (folder / "one.json").write_text(json.dumps({"unit_id": "u0", "score": 2}, indent=1), "utf-8")
    (folder / "all.json").write_text(json.dumps([{"unit_id": "u0"}], indent=1), "utf-8")
    before = sorted(path.name for path in folder.iterdir())
    chosen = arguments if "--valid" in arguments else [*arguments, "--valid", "v.jsonl"]
    done = validate(folder, *chosen, "--coercions", "c.log")
    assert done.code == 2
    assert done.err.splitlines()[-1].startswith("error: ")
    assert words in done.err
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        pytest.param("s1.json", "{broken", "s1.json", id="schema_is_no_json"),
        pytest.param("s1.json", '{"type": "intger"}', "type", id="schema_names_no_type"),
        pytest.param("s1.json", '{"$ref": "#"}', "s1.json", id="schema_refers_to_itself"),
        pytest.param("pipeline.yaml", "", "pipeline.yaml", id="empty_pipeline"),
        pytest.param(
            "pipeline.yaml", PIPELINE.replace("level: error", "level: fatal"), "level", id="level"
        ),
        pytest.param(
            "pipeline.yaml",
            PIPELINE.replace("score >= 1", "tone.append(1)"),
            "append",
            id="rule_that_changes_the_answer",
        ),
        pytest.param(
            "pipeline.yaml",
            PIPELINE.replace("score >= 1", "(lambda: score)()"),
            "not allowed",
            id="rule_that_could_go_on_for_ever",
        ),
        pytest.param(
            "pipeline.yaml", PIPELINE.partition("validation:")[0], "validation", id="no_rules"
        ),
    ],
)
def test_broken_configuration_is_told_before_data_is_read(
    name: str, text: str, words: str, folder: Path
) -> None:
    (folder / name).write_text(text, "utf-8")
    done = validate(folder, stdin=b"")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ")
    assert words in done.err


def test_unknown_step_is_told_with_those_there_are(folder: Path) -> None:
    done = validate(folder, "in.jsonl", step="s2")
    assert done.code == 2
    assert "s1" in done.err


def test_reader_that_goes_away_ends_the_run_quietly(folder: Path) -> None:
    (folder / "in.jsonl").write_text(
        lines(*({"unit_id": number, "score": 2} for number in range(50_000))), "utf-8"
    )
    command = [COMMAND, "validate", "--config", "pipeline.yaml", "--step", "s1", "in.jsonl"]
    command += ["--failures", "f.jsonl"]
    with start(command, folder, environment_of(folder, {})) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141
    assert not (folder / "f.jsonl").exists()


def test_interrupted_run_leaves_nothing_behind(folder: Path) -> None:
    before = sorted(path.name for path in folder.iterdir())
    command = [COMMAND, "validate", "--config", "pipeline.yaml", "--step", "s1"]
    command += ["--valid", "v.jsonl"]
    with start(command, folder, environment_of(folder, {})) as process:
        wait_until(lambda: any(folder.glob(".v.jsonl.*")))
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
    assert sorted(path.name for path in folder.iterdir()) == before


def test_key_that_occurs_twice_is_an_error_unless_the_last_is_asked_for(folder: Path) -> None:
    line = b'{"unit_id": "u0", "score": 1, "score": 2}\n'
    assert validate(folder, stdin=line).code == 1
    assert validate(folder, "--duplicate-keys", "last", stdin=line).code == 0


def test_too_long_line_fails_with_its_number(folder: Path) -> None:
    long = lines({"unit_id": "u9", "score": 2, "note": "x" * 300})
    done = validate(folder, "--longest-line", "200", stdin=(long + lines(GOOD)).encode())
    assert [(one["line"], one["errors"][0]["rule"]) for one in records(done.err)] == [
        (1, "line_too_long")
    ]
    assert records(done.out) == [KEPT]


@pytest.mark.parametrize(
    ("pipeline", "step", "answer"),
    [
        pytest.param(
            "NPCDialog",
            "generate_dialog",
            {
                "greeting": "Well met, traveller.",
                "player_response_hint": "Ask about the road north.",
                "tone": "Warm",
                "dialog": "Sit by the fire and tell me where you came from, friend.",
            },
            id="dialogue",
        ),
        pytest.param(
            "NPCDialog",
            "score_consistency",
            {
                "npc_name": "Ada",
                "mood_name": "calm",
                "topic_name": "weather",
                "final_tone": "COLD",
                "personality_consistency": "0.9",
                "mood_responsiveness": 0.7,
                "personality_reasoning": "It keeps to the same manner throughout.",
                "mood_reasoning": "It answers to the mood that was given.",
            },
            id="scores",
        ),
    ],
)
def test_lines_of_public_pipelines_are_valid(
    pipeline: str, step: str, answer: dict[str, object], public_data: Path, tmp_path: Path
) -> None:
    config = public_data / "octobatch" / pipeline / "config.yaml"
    command = ["validate", "--config", str(config), "--step", step]
    done = run_here(command, tmp_path, stdin=lines({"unit_id": "u0", **answer}).encode())
    assert done.code == 0, done.err
    assert records(done.out)[0]["unit_id"] == "u0"


def test_documented_example_runs_as_shown(tmp_path: Path) -> None:
    folder = tmp_path / "pipeline"
    shutil.copytree(EXAMPLES / "pipeline", folder)
    page = (EXAMPLES.parent / "docs" / "validation.md").read_text("utf-8")
    shown = page.partition("```console\n")[2].partition("```")[0]
    command, _, output = shown.replace("\\\n", "").partition("coercions.log\n")
    arguments = command.partition("ai-psychiatrist ")[2].split()
    done = run_here([*arguments, "coercions.log"], folder)
    assert done.code == 1
    assert output in done.err
    assert [one["unit_id"] for one in records((folder / "failures.jsonl").read_bytes())] == ["u4"]


@pytest.mark.parametrize(("site", "warnings"), [("north", {}), ("south", {"protected_name": 1})])
def test_closed_schema_does_not_refuse_a_protected_name_of_the_context(
    tmp_path: Path, site: str, warnings: dict[str, int]
) -> None:
    shutil.copytree(EXAMPLES / "two_steps", tmp_path, dirs_exist_ok=True)
    schema = json.loads((tmp_path / "rate.json").read_text("utf-8"))
    (tmp_path / "rate.json").write_text(
        json.dumps(schema | {"additionalProperties": False}), "utf-8"
    )
    pipeline = (tmp_path / "pipeline.yaml").read_text("utf-8")
    protected = pipeline.replace("  rate: none", "  rate: {protected: [site]}")
    (tmp_path / "pipeline.yaml").write_text(
        protected.replace("most_words]", "most_words, site]"), "utf-8"
    )
    units = [
        {"unit_id": one, "excerpt": "x", "most_words": 8, "site": "north"} for one in ("a", "b")
    ]
    (tmp_path / "context.jsonl").write_text(lines(*units), "utf-8")
    answers = [{"unit_id": "a", "score": 3, "site": site}, {"unit_id": "b", "score": 3, "other": 1}]
    (tmp_path / "rate.jsonl").write_text(lines(*answers), "utf-8")
    outputs = ["--summary", "s.json", "--context", "context.jsonl"]
    done = validate(tmp_path, "rate.jsonl", *outputs, step="rate")
    assert records(done.out) == [{"unit_id": "a", "score": 3}]
    assert [one["unit_id"] for one in records(done.err)] == ["b"]
    assert json.loads((tmp_path / "s.json").read_bytes())["warnings"] == warnings


@pytest.fixture
def two_steps(tmp_path: Path) -> Path:
    """The documented pipeline of two steps."""
    return Path(shutil.copytree(EXAMPLES / "two_steps", tmp_path / "two_steps"))


def check_second_step(done: Finished) -> None:
    assert done.code == 1
    assert [unit["unit_id"] for unit in records(done.out)] == ["u1"]
    (failure,) = records(done.err)
    assert failure["unit_id"] == "u2"
    assert failure["errors"][0]["rule"] == "no_score_is_said_to_be_unknown"
    assert failure["input"] == {"excerpt": "Work is fine.", "most_words": 8, "score": None}


def test_second_step_sees_what_the_first_found_by_its_file(two_steps: Path) -> None:
    first = ["rate.jsonl", "--context", "context.jsonl", "--next", "next.jsonl"]
    assert validate(two_steps, *first, step="rate").code == 1
    check_second_step(validate(two_steps, "sum_up.jsonl", "--context", "next.jsonl", step="sum_up"))


def test_second_step_sees_what_the_first_found_by_the_run(two_steps: Path) -> None:
    run_folder = ["--run", "../sleep"]
    first = ["rate.jsonl", "--context", "context.jsonl", *run_folder]
    assert validate(two_steps, *first, step="rate").code == 1
    assert run_here(["export", "../sleep", "--out", "../out"], two_steps).code == 0
    queued = records((two_steps / "../out/sum_up_queue.jsonl").read_bytes())
    assert [unit["unit_id"] for unit in queued] == ["u1", "u2"]
    assert queued[0]["input"]["score"] == 3
    check_second_step(validate(two_steps, "sum_up.jsonl", *run_folder, step="sum_up"))
    again = run_here(["revalidate", "../sleep"], two_steps)
    assert "sum_up: 2 requested = 1 valid + 1 failed + 0 pending" in again.out
    assert "sum_up: 2 answers checked, 0 units without one; 0 changed" in again.out


def test_protected_name_is_kept_from_step_to_step_and_the_clash_told(two_steps: Path) -> None:
    schema = json.loads((two_steps / "rate.json").read_text("utf-8"))
    schema["properties"]["most_words"] = {"type": "integer"}
    (two_steps / "rate.json").write_text(json.dumps(schema), "utf-8")
    (two_steps / "rate.jsonl").write_text(
        lines({"unit_id": "u1", "score": 3, "most_words": 900}), "utf-8"
    )
    outputs = ["--next", "next.jsonl", "--summary", "s.json", "--failures", "f.jsonl"]
    validate(two_steps, "rate.jsonl", "--context", "context.jsonl", *outputs, step="rate")
    assert json.loads((two_steps / "s.json").read_bytes())["warnings"] == {"protected_name": 1}
    (following,) = records((two_steps / "next.jsonl").read_bytes())
    assert (following["most_words"], following["score"]) == (8, 3)


class TestSchemaAlone:
    """The simple case: a schema and answers, no pipeline file."""

    DATA = (
        '{"score": "2"}\n{"unit_id": "a", "score": 9}\n{"score": 8, "her name": 1}\n'
        '{"items": [{"n": "x"}, {"n": "y"}]}\noops\n'
    )

    def validate(self, folder: Path, *arguments: str, stdin: bytes = b"") -> Finished:
        item = {"type": "object", "properties": {"n": {"type": "integer"}}}
        schema = {
            "additionalProperties": False,
            "properties": {
                "score": {"type": "integer", "maximum": 3},
                "items": {"type": "array", "items": item},
            },
        }
        (folder / "schema.json").write_text(json.dumps(schema), "utf-8")
        return run_here(["validate", "--schema", "schema.json", *arguments], folder, stdin=stdin)

    def test_needs_neither_pipeline_nor_ids_and_ends_with_a_table(self, tmp_path: Path) -> None:
        (tmp_path / "answers.jsonl").write_text(self.DATA, "utf-8")
        done = self.validate(tmp_path, "answers.jsonl", "--failures", "f.jsonl")
        assert done.code == 1
        assert done.out == '{"score":2}\n'
        assert "schema: 5 requested = 1 valid + 4 failed + 0 pending" in done.err
        assert "lines: 5 read = 0 blank + 4 objects + 1 that are no one object" in done.err
        table = [line.split() for line in done.err.splitlines() if line.startswith("  ")]
        assert table == [
            ["category", "field", "rule", "count", "first", "line"],
            ["schema_validation", "items[*].n", "schema_type", "2", "4"],
            ["schema_validation", "score", "schema_maximum", "2", "2"],
            ["parse", "(whole)", "parse_no_json", "1", "5"],
            ["schema_validation", "(unknown)", "schema_additionalProperties", "1", "3"],
        ]
        assert "her name" not in done.err

    def test_failures_go_to_standard_error_unless_a_file_is_named(self, tmp_path: Path) -> None:
        done = self.validate(tmp_path, "--stdin", stdin=self.DATA.encode())
        assert [one["line"] for one in records(done.err)] == [2, 3, 4, 5]

    def test_reads_standard_input_and_writes_failures_where_asked(self, tmp_path: Path) -> None:
        outputs = ["--failures", "f.jsonl", "--summary", "s.json"]
        done = self.validate(tmp_path, "--stdin", *outputs, stdin=self.DATA.encode())
        assert done.out == '{"score":2}\n'
        told = [
            (one["unit_id"], one["line"]) for one in records((tmp_path / "f.jsonl").read_bytes())
        ]
        assert told == [("a", 2), (None, 3), (None, 4), (None, 5)]
        summary = json.loads((tmp_path / "s.json").read_bytes())
        assert summary["by_field"][0] == {
            "stage": "schema_validation",
            "field": "items[*].n",
            "rule": "schema_type",
            "count": 2,
            "first_line": 4,
        }

    @pytest.mark.parametrize(
        "arguments",
        [
            pytest.param(["--config", "p.yaml"], id="both"),
            pytest.param(["--step", "s1"], id="step"),
            pytest.param(["--run", "r"], id="run"),
            pytest.param(["in.jsonl", "--stdin"], id="two_inputs"),
        ],
    )
    def test_contradictions_are_refused(self, arguments: list[str], tmp_path: Path) -> None:
        done = self.validate(tmp_path, *arguments)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("error: ")

    def test_one_of_schema_and_pipeline_is_needed(self, tmp_path: Path) -> None:
        done = run_here(["validate", "--stdin"], tmp_path)
        assert done.code == 2
        assert "--schema" in done.err


def test_step_need_not_be_named_where_there_is_one(folder: Path, two_steps: Path) -> None:
    done = run_here(["validate", "--config", "pipeline.yaml", "in.jsonl"], folder)
    assert records(done.out) == [KEPT]
    several = run_here(["validate", "--config", "pipeline.yaml", "--stdin"], two_steps)
    assert several.code == 2
    assert "steps: rate, sum_up" in several.err
