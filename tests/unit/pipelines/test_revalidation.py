"""Rules applied again: what passes now is kept, nothing is lost, nothing is done twice."""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes.checkers import at_most
from tests.fakes.pipeline_folder import declared
from tests.fakes.runs import attempt, new_run

from ai_psychiatrist.domain.errors import ConfigurationError, InputError
from ai_psychiatrist.pipelines.pipeline_run import PipelineRun, StepChecks
from ai_psychiatrist.pipelines.revalidation import StepChanges, revalidate
from ai_psychiatrist.pipelines.run_folder import KIND
from ai_psychiatrist.store.run_records import Origin
from ai_psychiatrist.store.runs import RunStore


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Where a run goes."""
    return tmp_path / "run"


def scored(run: Path, scores: Mapping[str, int], *, limit: int) -> RunStore:
    """Return a run of three steps in which scores above the limit failed at the first."""
    about, context = {"kind": KIND}, b'{"topic":"sleep"}'
    steps = ("score", "sum", "tell")
    ledger = new_run(run, scores, steps=steps, context=context, about=about)
    apply(ledger, at_most(limit), scores)
    return ledger


def apply(ledger: RunStore, rules: StepChecks, scores: Mapping[str, int]) -> None:
    """Record what the rules say about the first answers."""
    for unit_id, score in scores.items():
        raw = json.dumps({"score": score})
        verdict = rules.check(unit_id, raw, None)
        notes = [
            {"path": e.path, "pointer": e.pointer, "rule": e.rule, "message": e.message}
            for e in verdict.errors
        ]
        record = attempt(unit_id, verdict.stage, raw=raw, output=verdict.value)
        ledger.record([replace(record, errors=tuple(notes))])


def again(
    ledger: RunStore, rules: StepChecks, *, is_dry_run: bool = False, demotes: bool = False
) -> StepChanges:
    """Apply rules again to the first step."""
    (changes,) = revalidate(
        of_pipeline(ledger),
        {"score": rules},
        steps=["score"],
        is_dry_run=is_dry_run,
        demotes=demotes,
    )
    return changes


def of_pipeline(ledger: RunStore) -> PipelineRun:
    """Return a run with a pipeline."""
    folder = ledger.folder.parent
    return declared(ledger, folder / f"pipeline-{len(list(folder.iterdir()))}")


def stages(ledger: RunStore, step: str = "score") -> dict[str, str | None]:
    """Return where every answered unit stands."""
    return {row.record.unit_id: row.record.stage for row in ledger.current(step)}


def test_what_passes_now_is_valid_and_its_history_is_kept(run: Path) -> None:
    with scored(run, {"u1": 1, "u2": 5}, limit=3) as ledger:
        changes = again(ledger, at_most(5, ruleset_digest="wider"))
        first, second = ledger.history("u2", "score")
        account = ledger.counts("score")
    assert (changes.changed, changes.promoted) == (1, 1)
    assert changes.outcomes == {("valid", "valid"): 1, ("validation", "valid"): 1}
    assert first.stage == "validation"
    assert (second.stage, second.origin, second.attempt) == (None, Origin.REVALIDATE, 2)
    assert (second.raw, second.output) == ('{"score": 5}', {"score": 5})
    assert second.ruleset_digest == "wider"
    assert account.balances
    assert account.valid == 2


def test_rules_that_crash_on_one_unit_cost_that_unit_alone(run: Path) -> None:
    with scored(run, {"u0": 5, "u1": 5, "u2": 9}, limit=3) as ledger:
        again(ledger, at_most(5, crashes_on=frozenset({"u1"})))
        assert stages(ledger) == {"u0": None, "u1": "pipeline_internal", "u2": "validation"}
        (error,) = ledger.history("u1", "score")[-1].errors
        assert ledger.counts("score").requested == 3
        assert ledger.counts("score").balances
    assert error["rule"] == "internal_error"
    assert error["message"] == "the rules failed: ZeroDivisionError"


def test_a_unit_whose_rules_crashed_is_promoted_once_they_are_mended(run: Path) -> None:
    with scored(run, {"u1": 5}, limit=3) as ledger:
        again(ledger, at_most(5, crashes_on=frozenset({"u1"})))
        again(ledger, at_most(5))
        assert stages(ledger) == {"u1": None}


def test_a_step_without_rules_is_refused_and_the_ledger_is_the_same_byte_for_byte(
    run: Path,
) -> None:
    scored(run, {"u1": 5}, limit=3).close()
    before = (run / "ledger.sqlite").read_bytes()
    with (
        RunStore.open(run) as ledger,
        pytest.raises(ConfigurationError, match="'sum' has no rules"),
    ):
        revalidate(of_pipeline(ledger), {"score": at_most(9)}, steps=["score", "sum"])
    assert (run / "ledger.sqlite").read_bytes() == before


def test_a_dry_run_shows_the_changes_and_makes_none(run: Path) -> None:
    scored(run, {"u1": 5, "u2": 1}, limit=3).close()
    before = (run / "ledger.sqlite").read_bytes()
    with RunStore.open(run) as ledger:
        shown = again(ledger, at_most(5), is_dry_run=True)
    assert (run / "ledger.sqlite").read_bytes() == before
    with RunStore.open(run) as ledger:
        assert again(ledger, at_most(5)) == shown


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param('[{"score": 1}]', id="a list"),
        pytest.param("", id="empty"),
        pytest.param("I am sorry, I cannot.", id="a sentence"),
    ],
)
def test_an_answer_that_is_no_object_stays_a_parse_failure_with_its_text(
    run: Path, raw: str
) -> None:
    with new_run(run, ["u1"]) as ledger:
        ledger.record([attempt("u1", "parse", raw=raw)])
        again(ledger, at_most(9))
        row = ledger.last("u1", "score")
    assert row is not None
    assert (row.record.stage, row.record.raw) == ("parse", raw)


def test_a_valid_unit_that_is_still_valid_is_left_alone(run: Path) -> None:
    with scored(run, {"u1": 1}, limit=3) as ledger:
        assert again(ledger, at_most(3)).changed == 0
        assert len(ledger.history("u1", "score")) == 1
        assert ledger.counts("sum").requested == 0


def test_a_second_time_changes_nothing(run: Path) -> None:
    scores = {f"u{number}": number for number in range(12)}
    rules = at_most(6, crashes_on=frozenset({"u9"}))
    with scored(run, scores, limit=3) as ledger:
        assert again(ledger, rules).changed > 0
        accounts = ledger.counts_by_step()
        second = again(ledger, rules)
        assert (second.changed, second.promoted, second.queued) == (0, 0, 0)
        assert ledger.counts_by_step() == accounts


def test_a_promoted_unit_is_queued_for_the_step_that_follows_and_for_no_other(run: Path) -> None:
    with scored(run, {"u1": 5, "u2": 1}, limit=3) as ledger:
        changes = again(ledger, at_most(5))
        assert changes.queued == 1
        assert ledger.counts("sum").pending == 1
        assert ledger.counts("tell").requested == 0


def test_stricter_rules_list_valid_units_and_leave_them_valid(run: Path) -> None:
    with scored(run, {"u1": 1, "u2": 3}, limit=3) as ledger:
        changes = again(ledger, at_most(2))
        assert changes.regressions == ["u2"]
        assert (changes.changed, changes.demoted) == (0, 0)
        assert stages(ledger) == {"u1": None, "u2": None}


def test_stricter_rules_make_valid_units_failures_when_that_is_asked_for(run: Path) -> None:
    with scored(run, {"u1": 1, "u2": 3, "u3": 3}, limit=3) as ledger:
        rules = at_most(2, crashes_on=frozenset({"u3"}))
        changes = again(ledger, rules, demotes=True)
        assert changes.regressions == ["u2", "u3"]
        assert changes.demoted == 1
        assert stages(ledger) == {"u1": None, "u2": "validation", "u3": None}


def test_work_in_flight_and_units_without_an_answer_are_left_alone(run: Path) -> None:
    with new_run(run, ["asked", "unreached", "silent"]) as ledger:
        ledger.record([attempt("unreached", "provider", raw=None)])
        ledger.record([attempt("silent", "missing", raw=None)])
        changes = again(ledger, at_most(9))
        assert (changes.without_answer, changes.changed) == (2, 0)
        assert ledger.counts("score").pending == 1
        assert stages(ledger) == {"unreached": "provider", "silent": "missing"}


def test_applying_rules_again_uses_up_no_attempt(run: Path) -> None:
    with scored(run, {"u1": 9}, limit=3) as ledger:
        for limit in (4, 5, 6):
            again(ledger, at_most(limit))
        row = ledger.last("u1", "score")
    assert row is not None
    assert (row.attempts, row.other_failures) == (4, 1)


def test_rules_see_what_the_step_was_asked_about(run: Path) -> None:
    contexts: dict[str, bytes | None] = {}
    with scored(run, {"u1": 5}, limit=3) as ledger:
        again(ledger, at_most(5, contexts=contexts))
    assert contexts == {"u1": b'{"topic":"sleep"}'}


def test_a_second_answer_on_record_is_not_overwritten(run: Path) -> None:
    with scored(run, {"u1": 5}, limit=3) as ledger:
        ledger.record([attempt("u1", "duplicate", number=2, raw='{"score": 0}')])
        again(ledger, at_most(5))
        assert [made.stage for made in ledger.history("u1", "score")] == [
            "validation",
            "duplicate",
            None,
        ]
        assert ledger.history("u1", "score")[-1].raw == '{"score": 5}'


def test_a_run_without_raw_text_is_refused(run: Path) -> None:
    with (
        new_run(run, ["u1"], keeps_raw=False) as ledger,
        pytest.raises(InputError, match="--no-raw"),
    ):
        again(ledger, at_most(5))


_KILLED = """
import os, pathlib, signal, sys
from dataclasses import replace
from ai_psychiatrist.store.runs import RunStore
from ai_psychiatrist.pipelines.revalidation import revalidate
from tests.fakes.checkers import at_most
from tests.fakes.pipeline_folder import declared

def die():
    os.kill(os.getpid(), signal.SIGKILL)

rules = at_most(99)

def killing(unit_id, raw, context):
    if sys.argv[2] == "between units" and unit_id == "u7":
        die()
    return rules.check(unit_id, raw, context)

class Killed(RunStore):
    def record(self, attempts):
        super().record(attempts)
        if sys.argv[2] == "after the attempts":
            die()
    def request(self, unit_id, step, *, round=0):
        super().request(unit_id, step, round=round)
        if sys.argv[2] == "before the end":
            die()

run = pathlib.Path(sys.argv[1])
pipeline = declared(Killed.open(run), run.with_name("killed"))
revalidate(pipeline, {"score": replace(rules, check=killing)}, steps=["score"])
"""


@pytest.mark.parametrize("boundary", ["between units", "after the attempts", "before the end"])
def test_a_kill_between_the_writes_leaves_all_or_nothing(run: Path, boundary: str) -> None:
    scores = {f"u{number}": 9 for number in range(10)}
    scored(run, scores, limit=3).close()
    killed = subprocess.run([sys.executable, "-c", _KILLED, str(run), boundary], check=False)
    assert killed.returncode == -9
    with RunStore.open(run) as ledger:
        assert set(stages(ledger).values()) == {"validation"}
        assert ledger.counts("sum").requested == 0
        changes = again(ledger, at_most(99))
        assert changes.promoted == 10
        assert ledger.counts("score").valid == ledger.counts("sum").pending == 10


def test_many_units_are_written_in_batches(run: Path) -> None:
    scores = {f"u{number}": 5 for number in range(1201)}
    with scored(run, scores, limit=3) as ledger:
        assert again(ledger, at_most(5)).promoted == 1201
        assert ledger.counts("sum").pending == 1201


def test_all_steps_are_looked_at_when_none_is_named(run: Path) -> None:
    rules = at_most(5)
    with scored(run, {"u1": 5}, limit=3) as ledger:
        changes = revalidate(of_pipeline(ledger), dict.fromkeys(ledger.steps, rules))
    assert [change.step for change in changes] == ["score", "sum", "tell"]
