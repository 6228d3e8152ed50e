"""`revalidate`, `export` and `import`, as they are typed."""

import json
import shutil
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from ai_psychiatrist.cli.export_command import export
from ai_psychiatrist.cli.import_command import import_outcomes
from ai_psychiatrist.cli.revalidate import revalidate
from ai_psychiatrist.cli.validate_command import validate
from ai_psychiatrist.store.lock import run_lock
from ai_psychiatrist.store.runs import RunStore
from tests.conftest import EXAMPLES
from tests.fakes.pipeline_folder import changed, written
from tests.fakes.result_files import without_times
from tests.integration.command_here import run_here as run_command

WIDER = changed("score: [0, 3]", "score: [0, 9]")
STRICTER = changed("score: [0, 3]", "score: [0, 1]")

VALID = {"unit_id": "u1", "score": 2, "tone": "warm"}
TOO_HIGH = {
    "unit_id": "u2",
    "failure_stage": "schema_validation",
    "input": {"threshold": 1},
    "raw_response": '{"score": 7, "tone": "warm"}',
    "errors": [{"path": "$.score", "rule": "range", "message": "7 is more than 3"}],
    "retry_count": 0,
}
NO_ANSWER = TOO_HIGH | {"unit_id": "u3", "failure_stage": "provider", "raw_response": None}


def command(function: Callable[..., None], *arguments: str | Path) -> Result:
    """Run one command."""
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(function)
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def lines_file(folder: Path, *records: Mapping[str, object] | str) -> Path:
    """Write records as lines, texts as they are."""
    path = folder / "lines.jsonl"
    texts = [record if isinstance(record, str) else json.dumps(record) for record in records]
    path.write_text("".join(f"{text}\n" for text in texts), "utf-8")
    return path


def lines(path: Path) -> list[dict[str, object]]:
    """Return the records of a file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def pipeline(folder: Path, name: str, text: str | None = None) -> Path:
    """Write a pipeline into a folder of its own and return its file."""
    (folder / name).mkdir(exist_ok=True)
    return written(folder / name) if text is None else written(folder / name, text)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Return a run with a valid unit, one that is too high, and one without an answer."""
    file = lines_file(tmp_path, VALID, TOO_HIGH, NO_ANSWER)
    config = pipeline(tmp_path, "first")
    made = command(import_outcomes, tmp_path / "run", file, "--step", "rate", "--config", config)
    assert made.exit_code == 0, made.stderr
    assert made.stderr == "rate: 3 imported, 0 known already\n"
    return tmp_path / "run"


def test_rules_that_are_wider_now_promote_and_the_export_shows_it(
    run: Path, tmp_path: Path
) -> None:
    wider = pipeline(tmp_path, "wider", WIDER)
    done = command(revalidate, run, "--rules", wider)
    assert done.exit_code == 0, done.stderr
    assert "schema_validation → valid" in done.stdout
    assert "1 promoted" in done.stdout
    assert "rate: 3 requested = 2 valid + 1 failed + 0 pending" in done.stdout
    out = tmp_path / "out"
    assert command(export, run, "--out", out, "--retry-failed").exit_code == 0
    assert [unit["unit_id"] for unit in lines(out / "rate_validated.jsonl")] == ["u1", "u2"]
    assert [unit["unit_id"] for unit in lines(out / "rate_failures.jsonl")] == ["u3"]
    assert [unit["unit_id"] for unit in lines(out / "rate_queue.jsonl")] == ["u3"]
    schema = (tmp_path / "first" / "schemas" / "rate.json").read_bytes()
    assert (out / "schemas" / "rate.json").read_bytes() == schema


def test_a_second_time_says_that_nothing_changed(run: Path, tmp_path: Path) -> None:
    wider = pipeline(tmp_path, "wider", WIDER)
    command(revalidate, run, "--rules", wider)
    done = command(revalidate, run, "--rules", wider, "--json")
    (step,) = json.loads(done.stdout)["steps"]
    assert (step["changed"], step["promoted"]) == (0, 0)
    assert step["outcomes"] == [{"old": "valid", "new": "valid", "units": 2}]


def test_the_runs_own_rules_are_used_when_none_are_named(run: Path) -> None:
    done = command(revalidate, run)
    assert done.exit_code == 0
    assert "0 promoted" in done.stdout


def test_a_dry_run_changes_nothing_and_says_so(run: Path, tmp_path: Path) -> None:
    before = (run / "ledger.sqlite").read_bytes()
    done = command(revalidate, run, "--rules", pipeline(tmp_path, "w", WIDER), "--dry-run")
    assert done.exit_code == 0
    assert "1 would be promoted" in done.stdout
    assert (run / "ledger.sqlite").read_bytes() == before


@pytest.mark.parametrize(
    ("options", "told", "valid"),
    [
        pytest.param([], "now rejected: 1 (left valid)", 1, id="reported"),
        pytest.param(["--demote"], "now rejected: 1 (1 made failures)", 0, id="too"),
    ],
)
def test_stricter_rules_report_valid_units_that_they_reject(
    run: Path, tmp_path: Path, options: list[str], told: str, valid: int
) -> None:
    stricter = pipeline(tmp_path, "stricter", STRICTER)
    done = command(revalidate, run, "--rules", stricter, *options)
    assert done.exit_code == 0
    assert told in done.stdout
    assert '"u1"' in done.stdout
    with RunStore.open(run) as ledger:
        assert ledger.counts("rate").valid == valid


def test_a_run_that_is_active_is_refused(run: Path) -> None:
    with run_lock(run):
        done = command(revalidate, run)
    assert done.exit_code == 2
    assert "error: the run is active" in done.stderr


def test_rules_for_another_step_are_refused_and_the_ledger_stays_as_it_is(
    run: Path, tmp_path: Path
) -> None:
    before = (run / "ledger.sqlite").read_bytes()
    (tmp_path / "other" / "schemas").mkdir(parents=True)
    (tmp_path / "other" / "templates").mkdir()
    for name in ("schemas/rank.json", "templates/rank.jinja2"):
        first = tmp_path / "first" / name.replace("rank", "rate")
        (tmp_path / "other" / name).write_bytes(first.read_bytes())
    text = (tmp_path / "first" / "pipeline.yaml").read_text().replace("rate", "rank")
    (tmp_path / "other" / "pipeline.yaml").write_text(text)
    done = command(revalidate, run, "--rules", tmp_path / "other" / "pipeline.yaml")
    assert done.exit_code == 2
    assert "step 'rate' has no rules" in done.stderr
    assert (run / "ledger.sqlite").read_bytes() == before


@pytest.mark.parametrize("function", [revalidate, export])
def test_a_folder_without_a_run_is_named(tmp_path: Path, function: Callable[..., None]) -> None:
    done = command(function, tmp_path / "nowhere")
    assert done.exit_code == 2
    assert "holds no run" in done.stderr
    assert not (tmp_path / "nowhere").exists()


def test_an_unknown_step_is_named_with_those_there_are(run: Path) -> None:
    done = command(export, run, "--step", "rat")
    assert done.exit_code == 2
    assert "no step 'rat'; its steps are rate" in done.stderr


def test_a_line_that_cannot_be_imported_makes_no_run(tmp_path: Path) -> None:
    file = lines_file(tmp_path, VALID, "{")
    config = pipeline(tmp_path, "first")
    done = command(import_outcomes, tmp_path / "run", file, "--step", "rate", "--config", config)
    assert done.exit_code == 2
    assert "error: line 2 is no JSON object" in done.stderr
    assert not (tmp_path / "run").exists()


def test_a_new_run_needs_a_pipeline(tmp_path: Path) -> None:
    file = lines_file(tmp_path, VALID)
    done = command(import_outcomes, tmp_path / "run", file, "--step", "rate")
    assert done.exit_code == 2
    assert "--config" in done.stderr


def test_what_was_exported_can_be_imported_again(run: Path, tmp_path: Path) -> None:
    out, config = tmp_path / "out", tmp_path / "first" / "pipeline.yaml"
    command(export, run, "--out", out)
    for name in ("rate_validated", "rate_failures"):
        file = out / f"{name}.jsonl"
        done = command(
            import_outcomes, tmp_path / "copy", file, "--step", "rate", "--config", config
        )
        assert done.exit_code == 0, done.stderr
    command(export, tmp_path / "copy", "--out", tmp_path / "again")
    for name in ("rate_validated", "rate_failures"):
        first, second = (f / f"{name}.jsonl" for f in (out, tmp_path / "again"))
        assert without_times(first.read_bytes()) == without_times(second.read_bytes())


def test_an_encrypted_run_needs_its_key(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = tmp_path / "key"
    key.write_text("5e" * 32)
    monkeypatch.setenv("DATA_KEY_FILE", str(key))
    refused = command(revalidate, run)
    assert refused.exit_code == 2
    assert "unset DATA_KEY_FILE" in refused.stderr
    config, sealed = tmp_path / "first" / "pipeline.yaml", tmp_path / "sealed"
    file = tmp_path / "lines.jsonl"
    command(import_outcomes, sealed, file, "--step", "rate", "--config", config)
    assert all(b"warm" not in path.read_bytes() for path in sealed.glob("ledger*"))
    assert command(export, sealed).exit_code == 0
    exported = sealed / "export" / "rate_validated.jsonl"
    assert b"warm" in exported.read_bytes()
    assert stat.S_IMODE(exported.stat().st_mode) == 0o600
    monkeypatch.delenv("DATA_KEY_FILE")
    assert command(export, sealed).exit_code == 2


TWO_STEPS = """\
pipeline:
  steps:
    - name: rate
      prompt_template: rate.jinja2
    - name: tell
      prompt_template: rate.jinja2
prompts:
  templates: {rate: rate.jinja2, tell: rate.jinja2}
schemas:
  files: {rate: rate.json, tell: rate.json}
api:
  retry:
    max_attempts: 2
processing:
  inputs: [topic, threshold]
  validation_retry:
    max_attempts: 2
validation:
  rate:
    ranges:
      score: [0, 3]
  tell:
    required: [score]
"""


@dataclass(frozen=True)
class Pipeline:
    """A pipeline of two steps, and the run that its answers are recorded in."""

    folder: Path

    @property
    def run(self) -> Path:
        """The run's folder."""
        return self.folder / "run"

    def answer(
        self, *answers: Mapping[str, object], step: str = "rate", asked: str = "u1 u2 u3"
    ) -> Result:
        """Validate answers to units that were asked for, and record them."""
        source = lines_file(self.folder, *answers)
        context = self.folder / "asked.jsonl"
        units = [json.dumps({"unit_id": name, "threshold": 1}) for name in asked.split()]
        context.write_text("\n".join(units), "utf-8")
        config = written(self.folder, TWO_STEPS)
        options: list[str | Path] = [
            "--config",
            config,
            "--step",
            step,
            "--context",
            context,
            "--run",
            self.run,
        ]
        options += ["--valid", self.folder / "valid", "--failures", self.folder / "failures"]
        return command(validate, source, *options)

    def queue(self, step: str = "rate") -> list[tuple[object, object]]:
        """Export the run and return who is to be asked, and how often they were."""
        done = command(export, self.run, "--out", self.folder / "out", "--retry-failed")
        assert done.exit_code == 0, done.stderr
        queued = lines(self.folder / "out" / f"{step}_queue.jsonl")
        return [(unit["unit_id"], unit["retry_count"]) for unit in queued]

    def stages(self, unit_id: str, step: str = "rate") -> list[str | None]:
        """Return where every attempt at a unit ended."""
        with RunStore.open(self.run) as ledger:
            return [made.stage for made in ledger.history(unit_id, step)]


@pytest.fixture
def two_steps(tmp_path: Path) -> Pipeline:
    """Return a pipeline whose first answers were a good one, a bad one and none."""
    made = Pipeline(tmp_path)
    done = made.answer(good("u1"), bad("u2"))
    assert done.exit_code == 1, done.stderr
    assert "run: 3 requested = 1 valid + 2 failed + 0 pending" in done.stderr
    return made


def good(unit_id: str) -> dict[str, object]:
    """Return an answer that passes."""
    return {"unit_id": unit_id, "score": 2, "tone": "warm"}


def bad(unit_id: str) -> dict[str, object]:
    """Return an answer whose score is too high."""
    return {"unit_id": unit_id, "score": 7, "tone": "warm"}


def test_answers_are_recorded_and_what_failed_is_asked_again(two_steps: Pipeline) -> None:
    assert two_steps.queue() == [("u2", 1), ("u3", 1)]
    assert two_steps.queue("tell") == [("u1", 0)]
    done = two_steps.answer(good("u2"), bad("u3"), asked="u2 u3")
    assert "run: 3 requested = 2 valid + 1 failed + 0 pending" in done.stderr
    assert two_steps.stages("u2") == ["schema_validation", None]
    assert two_steps.queue() == []
    assert two_steps.queue("tell") == [("u1", 0), ("u2", 0)]


def test_an_answer_to_a_unit_whose_attempts_are_used_up_is_not_taken(two_steps: Pipeline) -> None:
    two_steps.answer(bad("u2"), asked="u2")
    done = two_steps.answer(good("u2"), asked="u2")
    assert "1 for units whose attempts are used up" in done.stderr
    assert two_steps.stages("u2") == ["schema_validation", "schema_validation"]


def test_the_same_answers_again_leave_valid_units_as_they_are(two_steps: Pipeline) -> None:
    two_steps.answer(good("u1"), asked="u1")
    two_steps.answer(bad("u1"), asked="u1")
    assert two_steps.stages("u1") == [None, "duplicate"]
    with RunStore.open(two_steps.run) as ledger:
        assert ledger.counts("rate").valid == 1


def test_recorded_answers_can_be_judged_again(two_steps: Pipeline, tmp_path: Path) -> None:
    wider = pipeline(tmp_path, "wider", TWO_STEPS.replace("[0, 3]", "[0, 9]"))
    done = command(revalidate, two_steps.run, "--rules", wider)
    assert "1 promoted, 1 queued for the next step" in done.stdout
    assert two_steps.stages("u2") == ["schema_validation", None]
    assert two_steps.queue("tell") == [("u1", 0), ("u2", 0)]
    again = command(revalidate, two_steps.run, "--rules", wider, "--step", "rate")
    assert "0 changed" in again.stdout


def test_an_answer_to_a_unit_that_was_not_asked_is_not_in_the_run(two_steps: Pipeline) -> None:
    two_steps.answer(good("stranger"), asked="u3")
    with RunStore.open(two_steps.run) as ledger:
        assert ledger.units.ids() == ["u1", "u2", "u3"]


def test_answers_are_not_recorded_beside_another_process(two_steps: Pipeline) -> None:
    with run_lock(two_steps.run):
        done = two_steps.answer(good("u2"), asked="u2")
    assert done.exit_code == 2
    assert "the run is active" in done.stderr
    assert two_steps.stages("u2") == ["schema_validation"]


def test_answers_are_recorded_all_or_not_at_all(two_steps: Pipeline) -> None:
    """The second unit was asked with another input before."""
    config = two_steps.folder / "pipeline.yaml"
    context = two_steps.folder / "other.jsonl"
    context.write_text('{"unit_id": "u2", "threshold": 1}\n{"unit_id": "u3", "threshold": 5}\n')
    done = command(
        validate,
        lines_file(two_steps.folder, good("u2"), good("u3")),
        *("--config", config, "--step", "rate", "--run", two_steps.run, "--context", context),
        *("--valid", two_steps.folder / "v", "--failures", two_steps.folder / "f"),
    )
    assert done.exit_code == 2
    assert "unit 'u3' is in the run with another input" in done.stderr
    assert two_steps.stages("u2") == ["schema_validation"]
    assert not (two_steps.folder / "v").exists()


def test_an_evaluation_is_judged_again_by_the_agents_own_rules(tmp_path: Path) -> None:
    (tmp_path / "interviews").mkdir()
    shutil.copy(EXAMPLES / "short_interview.txt", tmp_path / "interviews" / "one.txt")
    made = run_command(["evaluate", "run", "interviews", "--out", "run"], tmp_path)
    assert made.code == 0, made.err
    done = run_command(["revalidate", "run", "--json"], tmp_path)
    steps = json.loads(done.out)["steps"]
    assert len(steps) == 8
    assert all(step["outcomes"] and not step["changed"] for step in steps)
    exported = run_command(["export", "run", "--out", "out"], tmp_path)
    assert exported.code == 0, exported.err
    (unit,) = lines(tmp_path / "out" / "quantitative_validated.jsonl")
    assert unit["unit_id"] == "one"
    assert (tmp_path / "out" / "schemas" / "judge_accuracy.json").is_file()


def test_an_evaluation_without_raw_text_is_not_judged_again(tmp_path: Path) -> None:
    (tmp_path / "interviews").mkdir()
    shutil.copy(EXAMPLES / "short_interview.txt", tmp_path / "interviews" / "one.txt")
    made = run_command(["evaluate", "run", "interviews", "--out", "run", "--no-raw"], tmp_path)
    assert made.code == 0, made.err
    done = run_command(["revalidate", "run"], tmp_path)
    assert done.code == 2
    assert "--no-raw" in done.err
