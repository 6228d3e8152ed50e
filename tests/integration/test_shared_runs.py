"""Runs in the database, through the real commands: done here, by workers, stopped, erased."""

import gc
import json
import secrets
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from tests.fakes.model_server import FAULTS, ModelServerThread, Reply, Request, good_replies
from tests.integration.command import COMMAND, Finished, environment_of, run
from tests.integration.command_here import run_here
from tests.integration.running_app import model_at
from tests.integration.started import Started, start
from tests.jobs.places import Place, own_database, server_address
from tests.patience import wait_until

RESULTS = ("units.jsonl", "labels.jsonl", "predictions.jsonl", "failures.jsonl")
SAID = "I lie awake beside the harbour"


@pytest.fixture(scope="module", autouse=True)
def _collected_before() -> None:
    """Let the collection after each command look at what the commands made alone."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A database that belongs to a role which is no superuser."""
    server = server_address()
    name = f"study_{secrets.token_hex(4)}"
    role = sql.Identifier(name)
    with own_database(server) as url, psycopg.connect(server, autocommit=True) as admin:
        database = url.rpartition("/")[2]
        admin.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD 'it'").format(role))
        admin.execute(
            sql.SQL("ALTER DATABASE {} OWNER TO {}").format(sql.Identifier(database), role)
        )
        info = admin.info
        yield f"postgresql://{name}:it@{info.host}:{info.port}/{database}"
        admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(database)))
        admin.execute(sql.SQL("DROP ROLE {}").format(role))


@pytest.fixture
def place(address: str, tmp_path: Path) -> Place:
    """The database, empty, and a folder with three interviews of which one cannot be read."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS keys CASCADE")
        connection.execute("DROP OWNED BY CURRENT_USER")
    interviews = tmp_path / "interviews"
    interviews.mkdir()
    for name in ("a", "b", "c"):
        text = f"Interviewer: How do you sleep?\nParticipant: {SAID}, for {name} long years.\n"
        (interviews / f"{name}.txt").write_text(text, "utf-8")
    return Place(url=address, folder=tmp_path)


def evaluated(place: Place, *arguments: str, **settings: str) -> Finished:
    """Run a command here, where a connection that it leaves open is a warning, and so an error."""
    done = run_here(["evaluate", *arguments], place.folder, place.settings | settings)
    gc.collect()
    return done


def begun(place: Place, *arguments: str, **settings: str) -> Finished:
    return evaluated(place, "run", "interviews", "--database", "--out", *arguments, **settings)


@contextmanager
def worker(place: Place, machine: str, **settings: str) -> Iterator[Started]:
    folder = place.folder / machine
    folder.mkdir(exist_ok=True)
    environment = environment_of(folder, place.settings | settings)
    with (
        (folder / "log").open("wb") as log,
        start((COMMAND, "worker"), folder, environment, streams={1: log, 2: log}) as process,
    ):
        yield process
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 0


def log_of(place: Place, machine: str) -> str:
    return (place.folder / machine / "log").read_text("utf-8")


def assert_same(place: Place, one: str, other: str, names: tuple[str, ...] = RESULTS) -> None:
    for name in names:
        first, second = place.folder / one / name, place.folder / other / name
        assert first.read_bytes() == second.read_bytes(), name


def rows(place: Place, statement: str) -> int:
    with psycopg.connect(place.url) as connection:
        connection.execute("SELECT set_config('store.tenant', 'local', true)")
        return connection.execute(statement.encode()).rowcount


def test_a_run_in_the_database_says_what_one_in_its_folder_says(place: Place) -> None:
    alone = evaluated(place, "run", "interviews", "--out", "alone", DATABASE_URL="")
    shared = begun(place, "shared")
    assert (alone.code, shared.code) == (0, 0), shared.err
    assert alone.err.replace("alone", "shared") == shared.err
    assert_same(place, "alone", "shared", (*RESULTS, "cost.json"))
    assert not (place.folder / "shared" / "ledger.sqlite").exists()
    for command in (("metrics", "--json"), ("unit", "b", "--out", "words.json")):
        name, *more = command
        told = [evaluated(place, name, run, *more) for run in ("alone", "shared")]
        assert [one.code for one in told] == [0, 0], told
        assert told[0].out.replace("alone", "shared") == told[1].out
    words = json.loads((place.folder / "words.json").read_bytes())
    assert SAID in words["text"]
    assert len(words["calls"]) == 8
    assert rows(place, "SELECT FROM audit WHERE action = 'run_words_read'") == 2
    for column in (
        *("run_units.context", "run_inputs.context", "run_calls.body"),
        *("run_attempts.body", "run_files.body"),
    ):
        table, _, name = column.partition(".")
        assert rows(place, f"SELECT FROM {table}") > 0
        clear = f"SELECT FROM {table} WHERE position('harbour'::bytea in {name}) > 0"
        assert rows(place, clear) == 0, column


def test_workers_do_the_units_of_a_detached_run(place: Place) -> None:
    assert evaluated(place, "run", "interviews", "--out", "alone", DATABASE_URL="").code == 0
    detached = begun(place, "shared", "--detach")
    assert detached.code == 4
    assert "3 units wait for a worker, 0 are under way" in detached.err
    assert "no worker is at it" in detached.err
    assert "next: ai-psychiatrist evaluate status shared" in detached.err
    assert evaluated(place, "status", "shared").code == 4
    with worker(place, "elsewhere"):
        wait_until(lambda: evaluated(place, "status", "shared").code == 0)
    assert_same(place, "alone", "shared", (*RESULTS, "cost.json"))
    told = evaluated(place, "status", "shared", "--json")
    counts = {"requested": 3, "valid": 3, "failed": 0, "pending": 0, "by_stage": {}}
    assert json.loads(told.out) == {**counts, "queued": 0, "running": 0}
    # A worker says of a unit what it says of a job, and nothing that was said.
    assert SAID not in log_of(place, "elsewhere")


def test_a_worker_with_other_settings_leaves_a_run_to_others(place: Place) -> None:
    assert begun(place, "shared", "--detach").code == 4
    with worker(place, "other", MODEL_TEMPERATURE="0.9"):
        wait_until(lambda: "run_left_to_others" in log_of(place, "other"))
    assert "MODEL_TEMPERATURE: 0.0 → 0.9" in log_of(place, "other")
    assert evaluated(place, "status", "shared").code == 4
    # Nobody tried it in vain: it is not given up after so many such workers.
    assert rows(place, "SELECT FROM queue WHERE taken > 0 OR runner IS NOT NULL") == 0
    assert begun(place, "shared", "--resume").code == 0


def test_a_folder_is_made_of_a_run_on_another_machine(place: Place) -> None:
    assert begun(place, "shared", "--ablate").code == 0
    run_id = json.loads((place.folder / "shared" / "database.json").read_bytes())["run"]
    assert evaluated(place, "status", "copy", "--run", run_id).code == 0
    assert_same(place, "shared", "copy", (*RESULTS, "run.json", "prompts.toml"))
    first, second = (evaluated(place, "report", name).code for name in ("shared", "copy"))
    assert (first, second) == (0, 0)
    again = evaluated(place, "status", "copy", "--run", run_id)
    assert (again.code, "holds a run already" in again.err) == (2, True)
    other = evaluated(place, "status", "none", "--run", "00000000-0000-0000-0000-000000000000")
    assert (other.code, "the database has no run" in other.err) == (2, True)


def test_what_waits_is_taken_from_the_workers(place: Place) -> None:
    assert begun(place, "shared", "--detach").code == 4
    assert "3 units no longer wait" in evaluated(place, "stop", "shared").out
    stopped = evaluated(place, "status", "shared")
    assert (stopped.code, "0 of 3 units complete, 0 failed, 3 to do" in stopped.err) == (3, True)
    assert begun(place, "shared", "--resume").code == 0


def test_a_run_whose_record_is_gone_is_brought_back_and_never_begun_anew(place: Place) -> None:
    assert begun(place, "shared", "--detach").code == 4
    folder = place.folder / "shared"
    before = (folder / "run.json").read_bytes()
    (folder / "run.json").unlink()
    refused = begun(place, "shared")
    run_id = json.loads((folder / "database.json").read_bytes())["run"]
    cure = f"`evaluate status shared --run {run_id}` brings it back"
    assert (refused.code, cure in refused.err) == (2, True), refused.err
    assert evaluated(place, "status", "shared", "--run", run_id).code == 4
    assert (folder / "run.json").read_bytes() == before
    assert begun(place, "shared", "--resume").code == 0


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["stopped", "killed"])
def test_a_run_that_was_broken_off_is_gone_on_with(place: Place, how: signal.Signals) -> None:
    with ModelServerThread(delay_seconds=0.2) as models:
        settings = place.settings | model_at(models.url) | {"JOBS_REAP_SECONDS": "5"}
        command = (COMMAND, "evaluate", "run", "interviews", "--database", "--concurrency", "1")
        environment = environment_of(place.folder, settings)
        with start((*command, "--out", "shared"), place.folder, environment) as process:
            wait_until(lambda: len(models.requests) > 10)
            process.send_signal(how)
            process.wait()
        left = rows(place, "SELECT FROM queue")
        assert left == (0 if how is signal.SIGINT else 2)
        kept = rows(place, "SELECT FROM run_calls")
        assert 9 <= kept < 27
        again = begun(place, "shared", "--resume", **model_at(models.url), JOBS_REAP_SECONDS="5")
    assert (again.code, "3 of 3 units complete" in again.err) == (0, True)
    assert f"{27 - kept} model calls made now" in again.err


def test_an_erased_run_is_found_nowhere(place: Place) -> None:
    assert begun(place, "shared").code == 0
    assert rows(place, "SELECT FROM run_calls") == 24
    asked = run(["evaluate", "erase", "shared"], place.folder, place.settings, stdin=b"n\n")
    assert asked.code == 1
    assert evaluated(place, "erase", "shared", "--yes").out == "erased\n"
    for table in ("run_units", "run_inputs", "run_calls", "run_attempts", "run_files", "queue"):
        assert rows(place, f"SELECT FROM {table}") == 0, table
    assert rows(place, "SELECT FROM keys.subjects") == 0
    assert rows(place, "SELECT FROM audit WHERE action = 'run_erased'") == 2
    gone = evaluated(place, "status", "shared")
    assert (gone.code, "it was erased" in gone.err) == (2, True)


def test_a_failed_unit_is_done_anew_where_that_is_wanted(place: Place) -> None:
    good = good_replies()

    def script(request: Request) -> Reply:
        is_b = "for b long" in str(request.body)
        return FAULTS["status_500"](request) if is_b else good(request)

    with ModelServerThread(script) as models:
        settings = model_at(models.url)
        first = begun(place, "shared", **settings)
        assert (first.code, "2 of 3 units complete" in first.err) == (1, True)
        models.server.script = good
        again = begun(place, "shared", "--resume", "--retry-failed", **settings)
    assert (again.code, "3 of 3 units complete" in again.err) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--no-raw",), "--database keeps the texts for the workers"),
        (("--max-cost", "5", "--price", "baseline=1/1"), "--max-cost is not possible"),
        (("--certificates",), "--certificates is not possible"),
        (("--detach", "--max-failures", "1"), "--max-failures is not possible with --detach"),
    ],
    ids=["no words", "ceiling", "certificates", "bound of failures"],
)
def test_what_workers_cannot_do_is_refused(
    place: Place, arguments: tuple[str, ...], told: str
) -> None:
    refused = begun(place, "shared", *arguments)
    assert (refused.code, told in refused.err) == (2, True), refused.err
    assert not (place.folder / "shared" / "run.json").exists()


def test_without_a_database_it_says_what_to_set(place: Place) -> None:
    refused = begun(place, "shared", DATABASE_URL="")
    assert (refused.code, "set DATABASE_URL" in refused.err) == (2, True)
    stop = evaluated(place, "stop", "interviews")
    assert (stop.code, "holds no run of the database" in stop.err) == (2, True)
