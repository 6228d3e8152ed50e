"""What the ledger keeps, and what it refuses."""

import secrets
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import pytest
from sqlalchemy import text
from tests.fakes.runs import attempt, call, keep, new_run, recalled

from ai_psychiatrist.domain.errors import ConfigurationError, InputError
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.model_call import RequestMessage
from ai_psychiatrist.store.errors import LedgerUnusable, RunBusy
from ai_psychiatrist.store.run_file import holds_run
from ai_psychiatrist.store.run_records import Origin
from ai_psychiatrist.store.runs import RunStore


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Where a run goes."""
    return tmp_path / "run"


def raw_connection(run: Path) -> sqlite3.Connection:
    """Return a connection that knows nothing of ours."""
    return sqlite3.connect(run / "ledger.sqlite", isolation_level=None)


def test_what_was_settled_at_the_start_is_found_again(run: Path) -> None:
    RunStore.create(run, steps=["draft", "score"], about={"kind": "pipeline"}).close()
    with RunStore.open(run) as ledger:
        assert ledger.steps == ("draft", "score")
        assert ledger.about == {"kind": "pipeline"}
        assert ledger.keeps_raw


def test_a_folder_with_a_run_takes_no_second_one(run: Path) -> None:
    with new_run(run, ["u1"]), pytest.raises(InputError, match="holds a run already"):
        RunStore.create(run, steps=["score"])
    with RunStore.open(run) as ledger:
        assert ledger.units.ids() == ["u1"]


def test_a_file_that_was_cut_off_before_it_held_anything_is_no_run(run: Path) -> None:
    run.mkdir()
    (run / "ledger.sqlite").touch()
    with pytest.raises(InputError, match="holds no run"):
        RunStore.open(run)
    new_run(run, ["u1"]).close()


def test_a_run_whose_making_was_killed_is_made_anew(run: Path) -> None:
    run.mkdir()
    with closing(raw_connection(run)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    assert (run / "ledger.sqlite").stat().st_size > 0
    assert not holds_run(run)
    new_run(run, ["u1"]).close()
    assert holds_run(run)


def test_a_folder_without_a_run_is_named(run: Path) -> None:
    with pytest.raises(InputError, match=r"no ledger\.sqlite") as refusal:
        RunStore.open(run)
    assert refusal.value.field == "RUN"
    assert not run.exists()


def test_a_file_that_is_no_database_is_refused(run: Path) -> None:
    run.mkdir()
    (run / "ledger.sqlite").write_bytes(b"not a database at all" * 100)
    with pytest.raises(LedgerUnusable, match="SQLITE_NOTADB"):
        RunStore.open(run)


def test_a_ledger_of_a_newer_version_is_refused(run: Path) -> None:
    new_run(run).close()
    with closing(raw_connection(run)) as connection:
        connection.execute("UPDATE meta SET value = 99 WHERE key = 'schema_version'")
    with pytest.raises(ConfigurationError, match="version 99"):
        RunStore.open(run)


def test_folder_and_files_are_the_owners_alone(run: Path) -> None:
    with new_run(run, ["u1"]) as ledger, ledger.lock():
        names = {path.name for path in run.iterdir()}
        assert {"ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm"} <= names
        modes = {stat.S_IMODE(path.stat().st_mode) for path in run.iterdir()}
    assert modes == {0o600}
    assert stat.S_IMODE(run.stat().st_mode) == 0o700


@pytest.mark.parametrize("table", ["units", "requests", "inputs", "calls", "attempts", "terms"])
@pytest.mark.parametrize("change", ["DELETE FROM {}", "UPDATE {} SET unit = 2", "REPLACE"])
def test_nothing_that_was_written_can_be_changed(run: Path, table: str, change: str) -> None:
    with new_run(run, ["u1"]) as ledger:
        ledger.units.add_input("u1", "score", b"{}")
        keep(ledger, call())
        ledger.record([attempt("u1")])
    statement = change.format(f"run_{table}")
    if table == "terms":
        statement = statement.replace("unit =", "terms =")
    if change == "REPLACE":
        statement = f"REPLACE INTO run_{table} SELECT * FROM run_{table}"  # noqa: S608
    with closing(raw_connection(run)) as connection:
        connection.execute("PRAGMA recursive_triggers = ON")
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(statement)


def test_units_keep_their_order_and_their_context(run: Path) -> None:
    with new_run(run) as ledger:
        for unit_id in "zmama":
            ledger.units.add(unit_id, context=unit_id.encode(), context_digest=unit_id)
        assert ledger.units.ids() == ["z", "m", "a"]
        assert ledger.units.step_context("m", "score") == b"m"


def test_a_unit_with_another_context_is_refused(run: Path) -> None:
    with new_run(run, ["u1"]) as ledger:
        with pytest.raises(InputError, match="another input"):
            ledger.units.add("u1", context_digest="other")
        assert ledger.units.ids() == ["u1"]


def test_a_step_may_be_asked_about_more_than_the_unit_began_with(run: Path) -> None:
    with new_run(run, ["u1"], steps=("draft", "score"), context=b"start") as ledger:
        ledger.units.add_input("u1", "score", b"start and draft")
        ledger.units.add_input("u1", "score", b"start and draft")
        assert ledger.units.step_context("u1", "draft") == b"start"
        assert ledger.units.step_context("u1", "score") == b"start and draft"
        with pytest.raises(InputError, match="another input"):
            ledger.units.add_input("u1", "score", b"changed")


@pytest.mark.parametrize(
    "use",
    [
        pytest.param(lambda ledger: ledger.request("u9", "score"), id="request"),
        pytest.param(lambda ledger: keep(ledger, call(), "u9"), id="call"),
        pytest.param(lambda ledger: ledger.record([attempt("u9")]), id="attempt"),
        pytest.param(lambda ledger: ledger.units.step_context("u9", "score"), id="context"),
        pytest.param(lambda ledger: ledger.request("u1", "scor"), id="step"),
    ],
)
def test_a_unit_or_step_that_the_run_does_not_have_is_named(
    run: Path, use: Callable[[RunStore], object]
) -> None:
    with new_run(run, ["u1"]) as ledger, pytest.raises(InputError, match=r"'u9'|'scor'"):
        use(ledger)


def test_a_finished_call_is_given_back_as_it_was(run: Path) -> None:
    made = call("half a pair \ud83d", input_tokens=10, output_tokens=None, is_cut_off=True)
    failed = call(None, digest="d2", code=FailureCode.TIMED_OUT, http_status=504)
    with new_run(run, ["u1"]) as ledger:
        keep(ledger, made)
        keep(ledger, failed)
    with RunStore.open(run) as ledger:
        assert recalled(ledger) == made
        assert recalled(ledger, "d2") == failed
        assert recalled(ledger, "d3") is None
        assert ledger.calls.of_attempt("u1", 1) == [made, failed]
        assert ledger.calls.of_attempt("u1", 2) == []


def test_a_call_that_is_kept_twice_is_paid_once(run: Path) -> None:
    with new_run(run, ["u1"]) as ledger:
        keep(ledger, call("first", input_tokens=5, output_tokens=7))
        keep(ledger, call("second", input_tokens=500, output_tokens=700))
        (kept,) = ledger.calls.of_attempt("u1", 1)
    assert (kept.reply, kept.input_tokens, kept.output_tokens) == ("first", 5, 7)


def test_attempts_are_added_and_every_one_is_kept(run: Path) -> None:
    with new_run(run, ["u1"]) as ledger:
        ledger.record([attempt("u1", "parse", raw="no")])
        ledger.record([attempt("u1", number=2, raw="yes")])
        assert [(made.stage, made.raw) for made in ledger.history("u1", "score")] == [
            ("parse", "no"),
            (None, "yes"),
        ]
        (row,) = ledger.current("score")
    assert row.record == attempt("u1", number=2, raw="yes")
    assert (row.attempts, row.provider_failures, row.other_failures) == (2, 0, 1)


def test_the_same_attempt_recorded_again_changes_nothing(run: Path) -> None:
    with new_run(run, ["u1"]) as ledger:
        ledger.record([attempt("u1", "parse")])
        ledger.record([attempt("u1", "parse")])
        with pytest.raises(InputError, match="recorded otherwise"):
            ledger.record([attempt("u1", "parse", raw="another answer")])
        assert len(ledger.history("u1", "score")) == 1


def test_a_batch_with_one_attempt_that_cannot_be_recorded_records_none(run: Path) -> None:
    with new_run(run, ["u1", "u2"]) as ledger:
        with pytest.raises(InputError, match="not requested"):
            ledger.record([attempt("u1"), attempt("u2", step="score"), attempt("u3")])
        assert ledger.counts("score").pending == 2


def test_a_second_answer_to_a_unit_is_kept_and_never_counts(run: Path) -> None:
    with new_run(run, ["u1", "u2"]) as ledger:
        ledger.record([attempt("u1"), attempt("u1", "duplicate", number=2, raw="again")])
        ledger.record([attempt("u2", "duplicate")])
        (row,) = ledger.current("score")
        account = ledger.counts("score")
    assert (row.is_valid, row.attempts, row.newest_attempt) == (True, 1, 2)
    assert (account.valid, account.failed, account.pending) == (1, 0, 1)


def test_reading_goes_on_undisturbed_while_attempts_are_written(run: Path) -> None:
    names = [f"u{number}" for number in range(500)]
    with new_run(run, names) as ledger:
        ledger.record([attempt(name, "parse") for name in names])
        seen = []
        for row in ledger.current("score"):
            ledger.record([attempt(row.record.unit_id, number=2)])
            seen.append((row.record.unit_id, row.record.stage))
        assert seen == [(name, "parse") for name in names]
        assert ledger.counts("score").valid == 500


def break_off(ledger: RunStore) -> None:
    """Write something and stop before it is finished."""
    with ledger.transaction():
        ledger.record([attempt("u1")])
        keep(ledger, call())
        raise KeyboardInterrupt


def test_a_transaction_that_is_broken_off_leaves_nothing(run: Path) -> None:
    with new_run(run, ["u1", "u2"]) as ledger:
        with pytest.raises(KeyboardInterrupt):
            break_off(ledger)
        assert ledger.counts("score").pending == 2
        ledger.record([attempt("u2")])
        assert ledger.counts("score").valid == 1


def test_a_unit_that_was_never_added_leaves_no_context_behind(run: Path) -> None:
    made = call(sent=(RequestMessage("user", "first, or second?"),))
    with new_run(run) as ledger:
        with suppress(KeyboardInterrupt), ledger.transaction():
            ledger.units.add("u1", context=b"first", context_digest="d1")
            keep(ledger, made)
            raise KeyboardInterrupt
        ledger.units.add("u1", context=b"second", context_digest="d2")
        keep(ledger, made)
        assert recalled(ledger) == made
    with RunStore.open(run) as ledger:
        assert recalled(ledger) == made


def test_a_full_disk_is_told_and_costs_nothing_that_was_written(run: Path) -> None:
    with new_run(run, ["u1"]) as ledger:
        keep(ledger, call())
        ledger.rows.run_each(text("PRAGMA max_page_count = 1"), [{}])
        with pytest.raises(LedgerUnusable, match="SQLITE_FULL"):
            keep(ledger, call(secrets.token_hex(250_000), digest="d2"))
        ledger.rows.run_each(text("PRAGMA max_page_count = 100000"), [{}])
        ledger.record([attempt("u1")])
    with RunStore.open(run) as ledger:
        assert recalled(ledger) == call()
        assert recalled(ledger, "d2") is None
        assert ledger.counts("score").valid == 1


def test_threads_may_write_at_the_same_time(run: Path) -> None:
    names = [f"u{number}" for number in range(40)]

    def work(name: str) -> None:
        keep(ledger, call(name), name)
        with ledger.transaction():
            ledger.record([attempt(name, "parse")])
            ledger.record([attempt(name, number=2, raw=name)])

    with new_run(run, names) as ledger:
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(work, names))
        assert ledger.counts("score").valid == 40
        assert all(recalled(ledger, unit_id=name) == call(name) for name in names)


def test_a_ledger_opened_for_reading_takes_nothing(run: Path) -> None:
    new_run(run, ["u1"]).close()
    with RunStore.open(run, is_read_only=True) as ledger:
        assert ledger.counts("score").pending == 1
        with pytest.raises(LedgerUnusable, match="READONLY"):
            ledger.record([attempt("u1")])


_HOLD = """
import sys, pathlib
from ai_psychiatrist.store.lock import run_lock
with run_lock(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_run_that_another_process_works_on_is_busy_until_that_is_killed(run: Path) -> None:
    with new_run(run) as ledger:
        holder = subprocess.Popen(
            [sys.executable, "-c", _HOLD, str(run)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        with holder:
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"held\n"
            for _ in range(2):
                with pytest.raises(RunBusy, match="the run is active"), ledger.lock():
                    pass
            holder.kill()
        with ledger.lock():
            pass


_KILLED = """
import os, pathlib, signal, sys
from ai_psychiatrist.store.runs import RunStore
from tests.fakes.runs import attempt, call, keep, recalled
ledger = RunStore.open(pathlib.Path(sys.argv[1]))
keep(ledger, call())
with ledger.transaction():
    keep(ledger, call(digest="d2"))
    ledger.record([attempt("u1")])
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_kill_keeps_what_was_finished_and_nothing_half(run: Path) -> None:
    new_run(run, ["u1"]).close()
    killed = subprocess.run([sys.executable, "-c", _KILLED, str(run)], check=False)
    assert killed.returncode == -9
    with RunStore.open(run) as ledger:
        assert recalled(ledger) is not None
        assert recalled(ledger, "d2") is None
        assert ledger.counts("score").pending == 1


def test_imported_attempts_count_and_rules_applied_again_do_not(run: Path) -> None:
    with new_run(run, ["u1"]) as ledger:
        ledger.record(
            [
                attempt("u1", "validation", origin=Origin.IMPORT),
                attempt("u1", "provider", number=2, raw=None),
                attempt("u1", "schema_validation", number=3, origin=Origin.REVALIDATE),
                attempt("u1", "provider", number=4, origin=Origin.REVALIDATE),
            ]
        )
        row = ledger.last("u1", "score")
    assert row is not None
    assert (row.attempts, row.provider_failures, row.other_failures) == (4, 1, 1)


def test_rounds_of_a_unit_are_told_apart(run: Path) -> None:
    with new_run(run, ["u1", "u2"]) as ledger:
        ledger.request("u1", "score", round=1)
        ledger.record([attempt("u1")])
        account = ledger.counts("score")
    assert (account.requested, account.valid, account.pending) == (3, 1, 2)
