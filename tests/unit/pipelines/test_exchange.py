"""A run's outcomes as lines, and lines as a run's outcomes."""

import json
import stat
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

import pytest
from tests.fakes.pipeline_folder import changed, declared, written
from tests.fakes.runs import attempt, call, keep, new_run

from ai_psychiatrist.domain.errors import ConfigurationError, InputError
from ai_psychiatrist.pipelines.export import export_run
from ai_psychiatrist.pipelines.intake import Intake
from ai_psychiatrist.pipelines.pipeline_run import PipelineRun
from ai_psychiatrist.pipelines.run_folder import (
    create_pipeline_run,
    kept_pipeline,
    require_same_pipeline,
)
from ai_psychiatrist.store.run_records import Origin
from ai_psychiatrist.store.runs import RunStore
from ai_psychiatrist.validation.config.pipeline import load_pipeline
from ai_psychiatrist.validation.config.retry_limits import RetryLimits
from ai_psychiatrist.validation.jsonl.unit import Unit

LIMITS = RetryLimits(provider_attempts=2, validation_attempts=2)


def lines(path: Path) -> list[dict[str, object]]:
    """Return the records of a file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def lines_file(folder: Path, *records: Mapping[str, object] | str) -> Path:
    """Write records as lines, texts as they are."""
    path = folder / "lines.jsonl"
    texts = [record if isinstance(record, str) else json.dumps(record) for record in records]
    path.write_text("".join(f"{text}\n" for text in texts), "utf-8")
    return path


def failure(unit_id: str = "u1", **fields: object) -> dict[str, object]:
    """Return a record as other programs write it."""
    plain: dict[str, object] = {
        "unit_id": unit_id,
        "failure_stage": "validation",
        "input": {"threshold": 2},
        "raw_response": '{"score": 1, "tone": "warm"}',
        "errors": [{"path": "$.score", "rule": "above_threshold", "message": "too low"}],
        "retry_count": 0,
    }
    return plain | fields


@pytest.fixture
def pipeline_run(tmp_path: Path) -> RunStore:
    """Return a new run of a small pipeline with the step `rate`."""
    (tmp_path / "pipeline").mkdir()
    text = changed("processing:\n", "processing:\n  validation_retry: {max_attempts: 2}\n")
    config = load_pipeline(written(tmp_path / "pipeline", text))
    return create_pipeline_run(tmp_path / "run", config)


def imported(ledger: RunStore, path: Path) -> tuple[int, int]:
    """Import a file and return how many records were new and how many known."""
    taken = intake(ledger)
    with ledger.transaction():
        taken.take_outcomes(path)
    return taken.recorded, taken.known


def exported(
    ledger: RunStore, out: Path, *, step: str = "rate", **choices: bool
) -> tuple[Sequence[dict[str, object]], Sequence[dict[str, object]]]:
    """Export one step and return its valid units and its failures."""
    run = declared(ledger, out.with_name(f"declared-{len(list(out.parent.iterdir()))}"))
    export_run(run, out, steps=[step], **choices)
    return lines(out / f"{step}_validated.jsonl"), lines(out / f"{step}_failures.jsonl")


def test_a_failure_is_written_with_everything_that_is_known_of_it(tmp_path: Path) -> None:
    with new_run(tmp_path / "run", ["u1"]) as ledger:
        ledger.units.add_input("u1", "score", b'{"topic": "sleep"}')
        ledger.record([attempt("u1", "parse", raw="no\u2028thing \ud83d")])
        ledger.record([attempt("u1", "validation", number=2, raw="{}")])
        _, (record,) = exported(ledger, tmp_path / "out", step="score")
    assert record == {
        "unit_id": "u1",
        "failure_stage": "validation",
        "input": {"topic": "sleep"},
        "raw_response": "{}",
        "errors": [{"path": "$", "pointer": "", "rule": "range", "message": "too high"}],
        "warnings": [],
        "coercions": [],
        "retry_count": 1,
        "attempts": 2,
        "exhausted": True,
        "round": 0,
    }


def test_a_valid_unit_is_its_object_between_its_id_and_its_metadata(tmp_path: Path) -> None:
    with new_run(tmp_path / "run", ["u1"]) as ledger:
        ledger.record([attempt("u1", output={"score": 2, "unit_id": "forged"})])
        keep(ledger, call(input_tokens=40, output_tokens=7, duration_ms=12.5))
        keep(ledger, call(digest="d2", duration_ms=0.5))
        (record,), failures = exported(ledger, tmp_path / "out", step="score")
    assert list(record) == ["unit_id", "score", "_metadata"]
    assert record["score"] == 2
    about = record["_metadata"]
    assert isinstance(about, dict)
    assert datetime.fromisoformat(about.pop("recorded_at")).tzinfo is not None
    assert about == {
        "round": 0,
        "attempt": 1,
        "origin": "model",
        "duration_ms": 13.0,
        "input_tokens": 40,
        "output_tokens": 7,
    }
    assert failures == []


def test_text_that_is_half_a_character_is_written_as_an_escape(tmp_path: Path) -> None:
    with new_run(tmp_path / "run", ["u1"]) as ledger:
        ledger.record([attempt("u1", "parse", raw="half \ud83d")])
        _, (record,) = exported(ledger, tmp_path / "out", step="score")
    assert record["raw_response"] == "half \ud83d"


def test_an_input_that_is_no_json_is_written_as_text(tmp_path: Path) -> None:
    with new_run(tmp_path / "run", ["u1"], context=b"Interviewer: hello") as ledger:
        ledger.record([attempt("u1", "parse")])
        _, (record,) = exported(ledger, tmp_path / "out", step="score")
    assert record["input"] == "Interviewer: hello"


@pytest.mark.parametrize(
    ("stage", "classic"),
    [
        pytest.param("schema_validation", "schema_validation", id="schema"),
        pytest.param("validation", "validation", id="rules"),
        pytest.param("parse", "pipeline_internal", id="no JSON"),
        pytest.param("provider", "pipeline_internal", id="no answer"),
        pytest.param("pipeline_internal", "pipeline_internal", id="the program's own failure"),
    ],
)
def test_stages_can_be_told_in_the_classic_three(tmp_path: Path, stage: str, classic: str) -> None:
    with new_run(tmp_path / "run", ["u1"]) as ledger:
        ledger.record([attempt("u1", stage)])
        _, (plain,) = exported(ledger, tmp_path / "out", step="score")
        _, (mapped,) = exported(ledger, tmp_path / "out", step="score", has_classic_stages=True)
    assert (plain["failure_stage"], mapped["failure_stage"]) == (stage, classic)


def test_the_queue_holds_what_is_still_to_be_asked(tmp_path: Path) -> None:
    with new_run(tmp_path / "run", ["new", "soft", "spent"], context=b"{}") as ledger:
        ledger.record([attempt("soft", "parse"), attempt("spent", "parse")])
        ledger.record([attempt("spent", "parse", number=2)])
        exported(ledger, tmp_path / "out", step="score")
        assert lines(tmp_path / "out" / "score_queue.jsonl") == [
            {"unit_id": "new", "input": {}, "retry_count": 0}
        ]
        exported(ledger, tmp_path / "out", step="score", retries_failed=True)
        assert lines(tmp_path / "out" / "score_queue.jsonl") == [
            {"unit_id": "new", "input": {}, "retry_count": 0},
            {"unit_id": "soft", "input": {}, "retry_count": 1},
        ]


def test_schemas_come_out_byte_for_byte(pipeline_run: RunStore, tmp_path: Path) -> None:
    schema = (tmp_path / "pipeline" / "schemas" / "rate.json").read_bytes()
    with pipeline_run as ledger:
        export_run(PipelineRun.of(ledger), tmp_path / "out", steps=["rate"])
    assert (tmp_path / "out" / "schemas" / "rate.json").read_bytes() == schema


def test_exported_files_are_the_owners_alone_and_no_draft_is_left(tmp_path: Path) -> None:
    with new_run(tmp_path / "run", ["u1"]) as ledger:
        exported(ledger, tmp_path / "out", step="score")
    files = sorted((tmp_path / "out").iterdir())
    assert [file.name for file in files] == [
        "score_failures.jsonl",
        "score_queue.jsonl",
        "score_validated.jsonl",
    ]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_an_export_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("in the way")
    with (
        new_run(tmp_path / "run", ["u1"]) as ledger,
        pytest.raises(InputError, match="cannot be written"),
    ):
        exported(ledger, tmp_path / "out", step="score")


def test_failures_come_out_as_they_went_in(pipeline_run: RunStore, tmp_path: Path) -> None:
    records = [
        failure("u1", retry_count=2),
        failure("u2", failure_stage="parse", raw_response="sorry", errors=[], input=None),
        failure("u3", failure_stage="provider", raw_response=None),
    ]
    with pipeline_run as ledger:
        assert imported(ledger, lines_file(tmp_path, *records)) == (3, 0)
        _, found = exported(ledger, tmp_path / "out")
        account = ledger.counts("rate")
    told = [{name: record[name] for name in failure()} for record in found]
    records[0]["errors"][0]["pointer"] = ""  # type: ignore[index]
    records[2]["errors"] = records[0]["errors"]
    assert told == records
    assert account.balances
    assert account.failed == 3


def test_retries_that_were_counted_elsewhere_stay_counted(
    pipeline_run: RunStore, tmp_path: Path
) -> None:
    path = lines_file(tmp_path, failure("u1", retry_count=1), failure("u2"))
    with pipeline_run as ledger:
        imported(ledger, path)
        assert ledger.queue("rate", LIMITS) == [("u2", 0)]
        assert [made.origin for made in ledger.history("u1", "rate")] == [Origin.IMPORT] * 2


def test_valid_units_are_judged_by_the_rules_of_the_run(
    pipeline_run: RunStore, tmp_path: Path
) -> None:
    good = {"unit_id": "u1", "score": "2", "tone": "WARM", "_metadata": {"cost": 1}}
    bad = {"unit_id": "u2", "score": 9, "tone": "warm"}
    with pipeline_run as ledger:
        imported(ledger, lines_file(tmp_path, good, bad))
        (valid,), (failed,) = exported(ledger, tmp_path / "out")
    assert (valid["unit_id"], valid["score"], valid["tone"]) == ("u1", 2, "warm")
    assert (failed["unit_id"], failed["failure_stage"]) == ("u2", "schema_validation")


def test_a_valid_unit_holds_its_input_and_what_was_noted_about_its_answer(
    pipeline_run: RunStore, tmp_path: Path
) -> None:
    given = b'{"threshold": 1, "topic": "sleep"}'
    raw = '{"unit_id": "other", "score": "2", "tone": "WARM", "threshold": 0}'
    with pipeline_run as ledger:
        run = PipelineRun.of(ledger)
        ledger.units.add("u1", context_digest="")
        ledger.units.add_input("u1", "rate", given)
        ledger.request("u1", "rate")
        verdict = run.checks("rate").check("u1", raw, given)
        run.record([run.checks("rate").judged(attempt("u1", step="rate", raw=raw), verdict)])
        counts = export_run(run, tmp_path / "out", steps=["rate"])["rate"]
    (record,) = lines(tmp_path / "out" / "rate_validated.jsonl")
    about = record["_metadata"]
    assert isinstance(about, dict)
    assert (record["unit_id"], record["topic"], record["score"]) == ("u1", "sleep", 2)
    assert about["answered"] == ["score", "tone", "threshold"]
    assert [note["path"] for note in about["coercions"]] == ["$.score", "$.tone"]
    assert counts.coercions == 2
    assert counts.warnings == {note["rule"]: 1 for note in about["warnings"]}
    assert "unit_id_mismatch" in counts.warnings


def test_the_same_file_imported_twice_changes_nothing(
    pipeline_run: RunStore, tmp_path: Path
) -> None:
    path = lines_file(tmp_path, failure("u1"), {"unit_id": "u2", "score": 1, "tone": "warm"})
    with pipeline_run as ledger:
        assert imported(ledger, path) == (2, 0)
        assert imported(ledger, path) == (0, 2)
        assert len(ledger.history("u1", "rate")) == 1


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param("{", id="no JSON"),
        pytest.param("[1]", id="no object"),
        pytest.param({"failure_stage": "parse"}, id="no unit"),
        pytest.param(failure(failure_stage="lost"), id="an unknown stage"),
        pytest.param(failure(input="text"), id="an input that is no object"),
        pytest.param(failure(errors="many"), id="errors that are no list"),
        pytest.param(failure(retry_count=-1), id="a negative count"),
        pytest.param(failure(retry_count=True), id="a count that is no number"),
        pytest.param({"unit_id": "u9", "_raw_text": 7}, id="a raw text that is none"),
    ],
)
def test_a_line_that_cannot_be_used_is_named_and_nothing_is_imported(
    pipeline_run: RunStore, tmp_path: Path, broken: Mapping[str, object] | str
) -> None:
    path = lines_file(tmp_path, failure("u1"), "", broken)
    with pipeline_run as ledger:
        with pytest.raises(InputError, match=r"^line 3 "):
            imported(ledger, path)
        assert ledger.units.ids() == []


def test_an_answer_that_another_program_kept_parsed_is_kept_as_text(
    pipeline_run: RunStore, tmp_path: Path
) -> None:
    with pipeline_run as ledger:
        imported(ledger, lines_file(tmp_path, failure(raw_response=[{"score": 1}])))
        row = ledger.last("u1", "rate")
    assert row is not None
    assert row.record.raw == '[{"score": 1}]'


def test_an_answer_that_names_another_unit_counts_for_the_one_that_was_asked(
    pipeline_run: RunStore,
) -> None:
    raw = '{"unit_id": "yyy", "score": 2, "tone": "warm"}'
    with pipeline_run as ledger:
        verdict = PipelineRun.of(ledger).checks("rate").check("u1", raw, b'{"threshold": 1}')
    assert verdict.is_valid
    assert verdict.value == {"score": 2, "tone": "warm"}
    assert [warning.rule for warning in verdict.warnings] == ["unit_id_mismatch"]


@pytest.mark.parametrize(
    ("context", "is_valid"),
    [
        pytest.param(b'{"threshold": 2}', True, id="reached"),
        pytest.param(b'{"threshold": 3}', False, id="missed"),
        pytest.param(None, True, id="none given"),
    ],
)
def test_rules_see_the_input_that_the_run_holds(
    pipeline_run: RunStore, context: bytes | None, *, is_valid: bool
) -> None:
    with pipeline_run as ledger:
        verdict = PipelineRun.of(ledger).checks("rate").check("u1", GOOD, context)
    assert verdict.is_valid is is_valid


def test_a_pipeline_run_whose_making_was_killed_is_made_anew(tmp_path: Path) -> None:
    config = load_pipeline(written(tmp_path))
    (tmp_path / "run" / "config").mkdir(parents=True)
    (tmp_path / "run" / "config" / "pipeline.yaml").write_text("half")
    create_pipeline_run(tmp_path / "run", config).close()
    assert kept_pipeline(tmp_path / "run").digest == config.digest
    with pytest.raises(InputError, match="holds a run already"):
        create_pipeline_run(tmp_path / "run", config)


def test_a_run_keeps_the_pipeline_as_it_was(tmp_path: Path) -> None:
    config = load_pipeline(written(tmp_path))
    schema = (tmp_path / "schemas" / "rate.json").read_bytes()
    create_pipeline_run(tmp_path / "run", config).close()
    written(tmp_path, changed("score: [0, 3]", "score: [0, 1]"), schema={"type": "object"})
    kept = kept_pipeline(tmp_path / "run")
    assert kept.digest == config.digest
    assert kept.step("rate").rules == config.step("rate").rules
    assert kept.schemas["rate"].read_bytes() == schema


def test_a_run_goes_on_with_its_own_pipeline_alone(tmp_path: Path) -> None:
    create_pipeline_run(tmp_path / "run", load_pipeline(written(tmp_path))).close()
    other = load_pipeline(written(tmp_path, changed("score: [0, 3]", "score: [0, 1]")))
    with (
        RunStore.open(tmp_path / "run") as ledger,
        pytest.raises(InputError, match="another version of the pipeline"),
    ):
        require_same_pipeline(ledger, other)


def test_a_pipeline_whose_files_lie_elsewhere_makes_no_run(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    written(tmp_path)
    path = written(inner, changed("rate: rate.json", "rate: ../../schemas/rate.json"))
    config = load_pipeline(path)
    with pytest.raises(ConfigurationError, match="outside the pipeline's folder"):
        create_pipeline_run(tmp_path / "run", config)
    assert not (tmp_path / "run").exists()


def intake(ledger: RunStore) -> Intake:
    """Return what takes answers for the step `rate`."""
    run = PipelineRun.of(ledger)
    return Intake(run=run, step="rate", checks=run.checks("rate"))


GOOD = '{"score": 2, "tone": "warm"}'
BAD = '{"score": 9, "tone": "warm"}'


@pytest.mark.parametrize(
    ("answers", "stages"),
    [
        pytest.param([BAD, GOOD], ["schema_validation", None], id="a retry that passes"),
        pytest.param([GOOD, GOOD], [None], id="the same answer again"),
        pytest.param([GOOD, BAD], [None, "duplicate"], id="another answer to a valid unit"),
        pytest.param([BAD, BAD, GOOD], ["schema_validation"] * 2, id="attempts used up"),
    ],
)
def test_an_answer_is_the_next_attempt_of_a_unit_that_is_not_finished(
    pipeline_run: RunStore, answers: list[str], stages: list[str | None]
) -> None:
    with pipeline_run as ledger:
        taken = intake(ledger)
        for raw in answers:
            unit = Unit(number=1, unit_id="u1", content=raw.encode(), text=raw)
            unit.verdict = taken.checks.check("u1", raw, None)
            taken.take(unit)
        assert [made.stage for made in ledger.history("u1", "rate")] == stages
        assert taken.recorded + taken.known + taken.exhausted == len(answers)
        assert ledger.counts("rate").balances
