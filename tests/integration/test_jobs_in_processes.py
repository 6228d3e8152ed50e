"""Jobs that several real processes do, on a file and on a real PostgreSQL."""

import asyncio
import base64
import binascii
import os
import re
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import psycopg
import pytest
from pydantic import SecretStr

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.jobs.dbos.database import jobs_database
from ai_psychiatrist.jobs.dbos.engine import DbosEngine
from ai_psychiatrist.jobs.dbos.file_slots import FileSlots
from ai_psychiatrist.jobs.dbos.worker import Worker, WorkerOptions
from ai_psychiatrist.jobs.engine import EngineAway, JobRef
from tests.jobs.filed_work import Account, ended, ended_in_order
from tests.jobs.places import Place, own_database, place, server_address
from tests.jobs.worker_process import LOST
from tests.jobs.workers import Workers, workers_of
from tests.patience import PATIENCE_SECONDS, wait_until
from tests.sweeps import JOBS_OF_ONE_TENANT

MARKER = "nobody-may-read-these-words"


@pytest.fixture(params=["sqlite", "postgresql"])
def queue(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A new queue of each kind."""
    with place(request.param, tmp_path) as made:
        yield made


@pytest.fixture
def workers(queue: Place) -> Iterator[Workers]:
    """Worker processes of that queue."""
    with workers_of(queue) as made:
        yield made


@contextmanager
def engine_of(queue: Place) -> Iterator[DbosEngine]:
    engine = DbosEngine(queue.database)
    try:
        yield engine
    finally:
        engine.close()


def submit(
    queue: Place, tenant: str, count: int, *, first: int = 0, asked_by: str = ""
) -> list[JobRef]:
    jobs = [
        JobRef(tenant=tenant, id=f"j{number:04}", asked_by=asked_by)
        for number in range(first, first + count)
    ]

    async def all_of_them() -> None:
        with engine_of(queue) as engine:
            for job in jobs:
                await engine.submit(job)

    asyncio.run(all_of_them())
    return jobs


def test_two_workers_share_the_jobs_and_no_call_is_made_twice(
    queue: Place, workers: Workers
) -> None:
    names = {workers.start(calls=2, concurrency=2).name, workers.start(calls=2, concurrency=2).name}
    assert names == {"slot-0", "slot-1"}
    jobs = submit(queue, "north", 24)

    wait_until(lambda: len(ended(queue.folder)) == len(jobs))

    account = Account.of(queue.folder)
    assert account.repeats == 0
    assert len(account.processes) == 2


def test_what_a_killed_worker_left_is_done_by_another_and_paid_calls_are_kept(
    queue: Place, workers: Workers
) -> None:
    first = workers.start(calls=4, seconds=0.2, reap=0.5)
    first.name  # noqa: B018  it takes jobs from here on
    jobs = submit(queue, "north", 4)
    wait_until(lambda: len(Account.of(queue.folder).finished) >= 4)
    first.kill()
    left = Account.of(queue.folder).lost_in_flight
    workers.start(calls=4, seconds=0.2, reap=0.5)
    workers.start(calls=4, seconds=0.2, reap=0.5)

    wait_until(lambda: len(ended(queue.folder)) == len(jobs))

    account = Account.of(queue.folder)
    assert account.paid_twice == []
    assert 0 < account.repeats <= left


def test_a_worker_that_is_told_to_end_leaves_its_jobs_to_others_at_once(
    queue: Place, workers: Workers
) -> None:
    first = workers.start(calls=50, seconds=0.1, reap=600)
    first.name  # noqa: B018
    submit(queue, "north", 2)
    wait_until(lambda: len(Account.of(queue.folder).finished) >= 2)

    assert first.ask_to_end() == 0

    second = workers.start(calls=3, seconds=0.1, reap=600)
    assert second.name == "slot-0"
    wait_until(lambda: len(ended(queue.folder)) == 2)
    assert Account.of(queue.folder).paid_twice == []


def test_a_cancelled_job_stops_and_goes_on_when_it_is_resumed(
    queue: Place, workers: Workers
) -> None:
    workers.start(calls=25, seconds=0.1).name  # noqa: B018
    (job,) = submit(queue, "north", 1)
    wait_until(lambda: len(Account.of(queue.folder).finished) >= 2)

    async def cancelled_and_resumed() -> tuple[int, int, RecordState]:
        with engine_of(queue) as engine:
            await engine.cancel(job)
            assert await engine.status(job) is RecordState.CANCELLED
            assert await engine.result(job) is RecordState.CANCELLED
            assert await engine.list() == ()
            await asyncio.sleep(2)
            before = len(Account.of(queue.folder).begun)
            await asyncio.sleep(0.5)
            after = len(Account.of(queue.folder).begun)
            await engine.resume(job)
            return before, after, await engine.result(job)

    before, after, state = asyncio.run(cancelled_and_resumed())
    assert before == after
    assert state is RecordState.FINISHED
    assert Account.of(queue.folder).paid_twice == []


def test_jobs_are_listed_by_tenant_and_known_by_their_ids(queue: Place) -> None:
    async def listed() -> None:
        with engine_of(queue) as engine:
            north, south = JobRef(tenant="north", id="1"), JobRef(tenant="south", id="1")
            for job in (north, south, north):
                await engine.submit(job)
            assert await engine.list() == (
                (north, RecordState.WAITING),
                (south, RecordState.WAITING),
            )
            assert await engine.list(tenant="south") == ((south, RecordState.WAITING),)
            assert await engine.status(JobRef(tenant="north", id="2")) is None
            with pytest.raises(KeyError):
                await engine.result(JobRef(tenant="north", id="2"))

    asyncio.run(listed())


@pytest.mark.sweep
@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_thousand_jobs_of_one_tenant_hardly_delay_the_single_job_of_another(
    queue: Place, workers: Workers, concurrency: int, is_whole: bool
) -> None:
    count = JOBS_OF_ONE_TENANT.size(is_whole=is_whole)
    calls, seconds = 2, 0.5 if is_whole else 0.25
    submit(queue, "north", count)
    workers.start(calls=calls, seconds=seconds, concurrency=concurrency).name  # noqa: B018
    wait_until(lambda: len(ended(queue.folder)) >= concurrency)

    submit(queue, "south", 1)
    asked = time.monotonic()
    wait_until(lambda: "south/j0000" in ended(queue.folder))
    delay = time.monotonic() - asked - calls * seconds

    # Of short jobs beside other tests the time says little; how many went before does.
    assert delay < 2 * calls * seconds or not is_whole
    assert len(ended(queue.folder)) < count / 2


def _has_ended(queue: Place, job: JobRef) -> bool:
    return f"{job.tenant}/{job.id}" in ended(queue.folder)


def test_callers_of_one_tenant_take_turns(queue: Place, workers: Workers) -> None:
    # More than can end in the test, however long it takes to hand in the others.
    submit(queue, "north", 120, asked_by="many")
    workers.start(calls=1, seconds=0.2, concurrency=1).name  # noqa: B018
    wait_until(lambda: len(ended(queue.folder)) >= 2)

    # Who comes one at a time is soon served, and holds up nobody who has waited longer.
    went_before = []
    single = []
    for number in range(200, 205):
        (job,) = submit(queue, "north", 1, first=number, asked_by="one")
        before = set(ended(queue.folder))
        wait_until(partial(_has_ended, queue, job))
        went_before.append(len(set(ended(queue.folder)) - before) - 1)
        single.append(f"{job.tenant}/{job.id}")
    assert max(went_before) <= 3
    places = [place for place, job in enumerate(ended_in_order(queue.folder)) if job in single]
    assert places[-1] - places[0] - (len(places) - 1) >= 6


def test_no_more_jobs_of_a_tenant_run_at_once_than_are_allowed(
    queue: Place, workers: Workers
) -> None:
    options = {"calls": 1, "seconds": 0.3, "concurrency": 4, "per_tenant": 2}
    started = [workers.start(**options), workers.start(**options)]
    assert {worker.name for worker in started} == {"slot-0", "slot-1"}
    submit(queue, "north", 8)
    most = 0

    def all_ended() -> bool:
        nonlocal most
        account = Account.of(queue.folder)
        most = max(most, len(account.begun) - len(account.finished))
        return len(ended(queue.folder)) == 8

    wait_until(all_ended)
    # Workers that look into a file at the same moment each see the room that is left.
    assert most == 2 if queue.url else 2 <= most <= 4


def test_the_tables_hold_ids_and_codes_alone(queue: Place) -> None:
    good, bad = JobRef(tenant="north", id="good"), JobRef(tenant="north", id="bad")

    async def work(job: JobRef) -> RecordState:
        await asyncio.sleep(0)
        if job == bad:
            raise ValueError(MARKER)
        return RecordState.FAILED

    async def done() -> None:
        stop = asyncio.Event()
        with engine_of(queue) as engine:
            await engine.submit(good)
            await engine.submit(bad)
            options = WorkerOptions(reap_seconds=600)
            worker = Worker(database=queue.database, work=work, options=options)
            running = asyncio.create_task(worker.run(stop))
            try:
                assert await engine.result(good) is RecordState.FAILED
                async with asyncio.timeout(PATIENCE_SECONDS):
                    assert await engine.result(bad) is RecordState.FAILED
            finally:
                stop.set()
                await running

    asyncio.run(done())
    held = everything_in(queue)
    assert "north/bad" in held
    assert "JobNotDone" in held
    assert MARKER not in held


def everything_in(queue: Place) -> str:
    """All cells of all tables as text, and whatever in them is base64 read as such."""
    cells = list(_cells_of_file(queue) if not queue.url else _cells_of_server(queue))
    decoded = [text for cell in cells for text in _decoded(cell)]
    return "\n".join(cells + decoded)


def _cells_of_file(queue: Place) -> Iterator[str]:
    file = queue.database.file
    assert file is not None
    with closing(sqlite3.connect(file)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        for (table,) in tables.fetchall():
            for row in connection.execute(f'SELECT * FROM "{table}"'):  # noqa: S608
                yield from map(str, row)


def _cells_of_server(queue: Place) -> Iterator[str]:
    with psycopg.connect(queue.url) as connection:
        tables = connection.execute(
            "SELECT table_schema, table_name FROM information_schema.tables"
            " WHERE table_schema NOT IN ('pg_catalog', 'information_schema')"
        )
        for schema, table in tables.fetchall():
            query = psycopg.sql.SQL("SELECT * FROM {}").format(
                psycopg.sql.Identifier(schema, table)
            )
            for row in connection.execute(query):
                yield from map(str, row)


def _decoded(cell: str) -> Iterator[str]:
    for found in re.findall(r"[A-Za-z0-9+/=]{8,}", cell):
        try:
            yield base64.b64decode(found).decode("latin-1")
        except (binascii.Error, ValueError):
            continue


def test_the_file_is_private_and_has_a_log_for_writers(tmp_path: Path) -> None:
    with place("sqlite", tmp_path / "state") as queue:
        submit(queue, "north", 1)
        file = queue.database.file
        assert file is not None
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        with closing(sqlite3.connect(file)) as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_workers_of_another_machine_are_refused_beside_a_file(tmp_path: Path) -> None:
    queue = tmp_path / "jobs.sqlite"

    async def taken() -> None:
        note = tmp_path / "jobs.workers" / "slot-0" / "machine"
        note.parent.mkdir(parents=True)
        note.write_text("of-another-machine", "ascii")
        with pytest.raises(ConfigurationError, match="JOBS_DATABASE_URL"):
            await FileSlots(queue).take(1)
        os.utime(note, (1, 1))
        slots = FileSlots(queue)
        assert await slots.take(1)
        await slots.close()

    asyncio.run(taken())


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://user:secret-word@127.0.0.1",
        "mysql://user:secret-word@127.0.0.1/jobs",
        "secret-word",
        "postgresql://user:secret-word@[::1/jobs",
        "postgresql://user:secret-word@host:port/jobs",
    ],
)
def test_what_is_no_address_is_refused_without_repeating_it(url: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="JOBS_DATABASE_URL") as raised:
        jobs_database(url=SecretStr(url), state_dir=tmp_path)
    assert "secret-word" not in str(raised.value)
    assert raised.value.__cause__ is None


def test_a_database_that_is_away_is_said_so_without_its_password(tmp_path: Path) -> None:
    url = "postgresql://user:secret-word@127.0.0.1:1/jobs"
    database = jobs_database(url=SecretStr(url), state_dir=tmp_path)
    assert "secret-word" not in repr(database)

    async def submitted() -> None:
        engine = DbosEngine(database)
        with pytest.raises(EngineAway) as raised:
            await engine.submit(JobRef(tenant="north", id="1"))
        assert "secret-word" not in str(raised.value)
        worker = Worker(database=database, work=_nothing)
        with pytest.raises(EngineAway) as raised:
            await worker.run(asyncio.Event())
        assert "secret-word" not in str(raised.value)

    asyncio.run(submitted())


async def _nothing(_job: JobRef) -> RecordState:
    return RecordState.FINISHED


def test_the_password_may_lie_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("p@ss/word\n", "utf-8")
    url = SecretStr("postgresql://user@127.0.0.1/jobs")
    database = jobs_database(url=url, state_dir=tmp_path, password_file=file)
    assert database.url.password == "p@ss/word"
    with pytest.raises(ConfigurationError, match="JOBS_DATABASE_PASSWORD_FILE"):
        jobs_database(url=url, state_dir=tmp_path, password_file=tmp_path / "none")


def test_a_worker_whose_connection_dies_stops_and_others_go_on(tmp_path: Path) -> None:
    with own_database(server_address()) as url:
        queue = Place(url=url, folder=tmp_path)
        with workers_of(queue) as workers:
            first = workers.start(calls=30, seconds=0.1, reap=0.5)
            assert first.name == "slot-0"
            jobs = submit(queue, "north", 2)
            wait_until(lambda: len(Account.of(tmp_path).finished) >= 2)
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_locks"
                    " WHERE locktype = 'advisory' AND granted AND pid <> pg_backend_pid()"
                    " AND database ="
                    " (SELECT oid FROM pg_database WHERE datname = current_database())"
                )
            assert first.process.wait(PATIENCE_SECONDS) == LOST
            begun_by_first = len(Account.of(tmp_path).begun)
            workers.start(calls=30, seconds=0.1, reap=0.5)
            wait_until(lambda: len(ended(tmp_path)) == len(jobs))
            account = Account.of(tmp_path)
            assert account.paid_twice == []
            assert len([1 for process, _, _ in account.begun if process == first.id]) == (
                begun_by_first
            )


def test_what_ended_long_ago_leaves_the_tables(queue: Place) -> None:
    job = JobRef(tenant="north", id="1")

    async def done() -> None:
        stop = asyncio.Event()
        with engine_of(queue) as engine:
            await engine.submit(job)
            options = WorkerOptions(reap_seconds=0.2, keep_seconds=2)
            worker = Worker(database=queue.database, work=_nothing, options=options)
            running = asyncio.create_task(worker.run(stop))
            try:
                assert await engine.result(job) is RecordState.FINISHED
                await asyncio.wait_for(_forgotten(engine, job), PATIENCE_SECONDS)
            finally:
                stop.set()
                await running

    asyncio.run(done())
    assert "north/1" not in everything_in(queue)


async def _forgotten(engine: DbosEngine, job: JobRef) -> None:
    while await engine.status(job) is not None:  # noqa: ASYNC110  another process forgets it
        await asyncio.sleep(0.1)
