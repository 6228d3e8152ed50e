"""A ledger that somebody else made: nothing in it runs, names a file, or ends in a traceback."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.fakes.pipeline_folder import declared
from tests.fakes.runs import attempt, call, keep, new_run, recalled

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.model_call import RequestMessage
from ai_psychiatrist.pipelines.export import export_run
from ai_psychiatrist.store.errors import LedgerUnusable
from ai_psychiatrist.store.runs import RunStore

LONG = "s" * 5_000
_CHANGE = "UPDATE run_attempts SET {}"
_SET_TERMS = "UPDATE run_terms SET terms = '{}'"
_TERMS = {"steps": ["score"], "keeps_raw": True, "about": {}}


def made(folder: Path, *statements: str) -> Path:
    """Return the folder of a run with one answer, after somebody has changed its file."""
    run = folder / "run"
    with new_run(run, ["u1"], steps=("score", "sum")) as ledger:
        ledger.record([attempt("u1")])
    with closing(sqlite3.connect(run / "ledger.sqlite")) as database:
        triggers = dict(
            database.execute("SELECT name, sql FROM sqlite_master WHERE name LIKE '%refuse_update'")
        )
        for trigger in triggers:
            database.execute(f"DROP TRIGGER {trigger}")
        for statement in (*statements, *triggers.values()):
            database.execute(statement)
        database.commit()
    return run


@pytest.mark.parametrize(
    "name", ["../../x", "/x", "a\0b", LONG, "", ".", "..", "a/b", ".hidden", 7, None, ["a"]]
)
def test_a_step_whose_name_could_be_a_path_is_refused_by_its_number(
    tmp_path: Path, name: object
) -> None:
    terms = json.dumps(_TERMS | {"steps": ["score", name]}).replace("'", "''")
    run = made(tmp_path, _SET_TERMS.format(terms))
    with pytest.raises(LedgerUnusable, match="step 2 has a name"):
        RunStore.open(run)


def test_a_step_that_the_run_does_not_have_names_no_file(tmp_path: Path) -> None:
    with RunStore.open(made(tmp_path)) as ledger:
        run = declared(ledger, tmp_path / "pipeline")
        with pytest.raises(InputError, match="has no step"):
            export_run(run, tmp_path / "out", steps=["../x"])
    assert list((tmp_path / "out").iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} == {"run", "out", "pipeline"}


@pytest.mark.parametrize(
    "statement",
    [
        _SET_TERMS.format("no JSON"),
        _SET_TERMS.format("{}"),
        _SET_TERMS.format("7"),
        _SET_TERMS.format(json.dumps(_TERMS | {"steps": {}})),
        _SET_TERMS.format(json.dumps(_TERMS | {"about": []})),
        _SET_TERMS.format(json.dumps(_TERMS | {"keeps_raw": 1})),
        _SET_TERMS.format(json.dumps({"steps": ["score"], "keeps_raw": True})),
        _SET_TERMS.format("[" * 100_000),
        "UPDATE run_terms SET terms = X'ff'",
        "CREATE TRIGGER t AFTER INSERT ON run_units BEGIN DELETE FROM run_terms; END",
        "CREATE VIEW v AS SELECT * FROM run_units",
    ],
)
def test_a_file_with_what_is_not_ours_is_refused(tmp_path: Path, statement: str) -> None:
    with pytest.raises(LedgerUnusable):
        RunStore.open(made(tmp_path, statement))


@pytest.mark.parametrize(
    "change",
    [
        "body = 7",
        "stage = X'7b'",
        "body = 'x'",
        "body = X'ff'",
        "body = X'7b'",
        "body = X'7b7d'",
        "body = X'5b5d'",
        "origin = 'x'",
    ],
)
def test_a_row_of_other_types_is_damage_and_no_traceback(tmp_path: Path, change: str) -> None:
    run = made(tmp_path, _CHANGE.format(change))
    with RunStore.open(run) as ledger, pytest.raises(LedgerUnusable, match="a row is damaged"):
        list(ledger.current("score"))


def change_units(run: Path, value: object) -> None:
    """Put another value in the place of every unit's context."""
    with closing(sqlite3.connect(run / "ledger.sqlite")) as database, database:
        ((trigger,),) = database.execute(
            "SELECT sql FROM sqlite_master WHERE name = 'run_units_refuse_update'"
        )
        database.execute("DROP TRIGGER run_units_refuse_update")
        database.execute("UPDATE run_units SET context = ?", (value,))
        database.execute(trigger)


@pytest.mark.parametrize("value", [7, "text", b"\xff", b"\xc3(", b"{", b"[" * 100_000, b"[1]"])
def test_a_damaged_context_is_neither_a_traceback_nor_an_unknown_unit(
    tmp_path: Path, value: object
) -> None:
    run = made(tmp_path)
    change_units(run, value)
    with RunStore.open(run) as ledger:
        declared_run = declared(ledger, tmp_path / "pipeline")
        with pytest.raises(LedgerUnusable, match="a row is damaged"):
            declared_run.before("u1", "sum")


def test_a_model_whose_name_is_no_text_is_damage(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with new_run(run, ["u1"]) as ledger:
        keep(ledger, call())
    with closing(sqlite3.connect(run / "ledger.sqlite")) as database, database:
        ((trigger,),) = database.execute(
            "SELECT sql FROM sqlite_master WHERE name = 'run_calls_refuse_update'"
        )
        database.execute("DROP TRIGGER run_calls_refuse_update")
        database.execute("UPDATE run_calls SET model = X'ff', body = X'7b7d'")
        database.execute(trigger)
    with RunStore.open(run) as ledger:
        with pytest.raises(LedgerUnusable, match="a row is damaged"):
            ledger.calls.usage()
        with pytest.raises(LedgerUnusable, match="a row is damaged"):
            recalled(ledger)


def test_a_call_that_repeats_its_unit_without_end_is_not_read(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with new_run(run, ["u1"], context=b"x" * 1_000_000) as ledger:
        keep(ledger, call(sent=(RequestMessage("user", "x" * 1_000_000),)))
        assert recalled(ledger) is not None
        keep(ledger, call(digest="d2", sent=(RequestMessage("user", "x" * 101_000_000),)))
        with pytest.raises(LedgerUnusable, match="a row is damaged"):
            recalled(ledger)


def test_a_value_of_endless_size_is_not_read(tmp_path: Path) -> None:
    run = made(
        tmp_path,
        "UPDATE run_attempts SET body = zeroblob(200000000)",
    )
    with RunStore.open(run) as ledger, pytest.raises(LedgerUnusable, match="TOOBIG"):
        list(ledger.current("score"))


@pytest.mark.parametrize(
    ("place", "put"),
    [
        ("ledger.sqlite", lambda path, there: path.symlink_to(there)),
        (".lock", lambda path, there: path.symlink_to(there)),
    ],
)
def test_a_link_in_the_place_of_a_file_is_not_followed(
    tmp_path: Path, place: str, put: Callable[[Path, Path], None]
) -> None:
    run = made(tmp_path)
    theirs = tmp_path / "theirs"
    (run / place).replace(theirs) if (run / place).exists() else theirs.write_bytes(b"")
    before = theirs.read_bytes()
    put(run / place, theirs)
    with pytest.raises(InputError), RunStore.open(run) as ledger, ledger.lock():
        pass
    assert theirs.read_bytes() == before
