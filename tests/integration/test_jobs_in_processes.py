"""Jobs that several real processes do, on files and on a real PostgreSQL."""

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from zlib import crc32

import psycopg
import pytest
from pydantic import SecretStr

from ai_psychiatrist.domain.errors import ConfigurationError, StoreUnusable
from ai_psychiatrist.store.address import address_of
from ai_psychiatrist.store.settings import DatabaseSettings
from ai_psychiatrist.store.stores import Stores
from tests.jobs.filed_work import Account, left
from tests.jobs.places import Place, own_database, place, server_address
from tests.jobs.worker_process import LOST
from tests.jobs.workers import Workers, workers_of
from tests.patience import wait_until
from tests.sweeps import JOBS_OF_ONE_TENANT, STORE_KINDS

KINDS = ("sqlite", "postgresql")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Try a test with a store of each kind, but a slice of a sweep with one of them."""
    if "queue" in metafunc.fixturenames:
        kinds: Sequence[str] = KINDS
        if metafunc.definition.get_closest_marker("sweep") is not None:
            is_whole = metafunc.config.getoption("whole")
            first = crc32(metafunc.function.__name__.encode()) % 2
            kinds = STORE_KINDS.of([*KINDS[first:], *KINDS[:first]], is_whole=is_whole)
        metafunc.parametrize("queue", kinds, indirect=True)


@pytest.fixture
def queue(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A new store of each kind."""
    with place(request.param, tmp_path) as made:
        yield made


@pytest.fixture
def workers(queue: Place) -> Iterator[Workers]:
    """Worker processes of that store."""
    with workers_of(queue) as made:
        yield made


@pytest.fixture
def stores(queue: Place) -> Iterator[Stores]:
    opened = queue.stores()
    yield opened
    opened.close()


def test_two_workers_share_the_jobs_and_no_call_is_made_twice(
    queue: Place, workers: Workers, stores: Stores
) -> None:
    names = {workers.start(calls=2, concurrency=2).name, workers.start(calls=2, concurrency=2).name}
    assert len(names) == 2
    queue.store_jobs("north", 24)

    wait_until(lambda: left(stores) == 0)

    account = Account.of(queue.folder)
    assert account.repeats == 0
    assert len(account.processes) == 2


def test_what_a_killed_worker_left_is_done_by_another_and_paid_calls_are_kept(
    queue: Place, workers: Workers, stores: Stores
) -> None:
    first = workers.start(calls=4, seconds=0.2)
    first.name  # noqa: B018  it takes jobs from here on
    queue.store_jobs("north", 4)
    wait_until(lambda: len(Account.of(queue.folder).finished) >= 4)
    first.kill()
    lost = Account.of(queue.folder).lost_in_flight
    workers.start(calls=4, seconds=0.2)
    workers.start(calls=4, seconds=0.2)

    wait_until(lambda: left(stores) == 0)

    account = Account.of(queue.folder)
    assert account.paid_twice == []
    assert 0 < account.repeats <= lost


def test_a_worker_that_is_told_to_end_leaves_its_jobs_to_others_at_once(
    queue: Place, workers: Workers, stores: Stores
) -> None:
    first = workers.start(calls=50, seconds=0.1, reap=600)
    first.name  # noqa: B018
    queue.store_jobs("north", 2)
    wait_until(lambda: len(Account.of(queue.folder).finished) >= 2)

    assert first.ask_to_end() == 0

    workers.start(calls=3, seconds=0.1, reap=600)
    wait_until(lambda: left(stores) == 0)
    assert Account.of(queue.folder).paid_twice == []


def test_a_worker_that_stood_still_for_long_does_no_job_twice_to_its_end(
    queue: Place, workers: Workers, stores: Stores
) -> None:
    """As a machine does that sleeps: others take its jobs, and it finds that out."""
    if not queue.url:
        pytest.skip("on one machine a lock says whether a process lives, however long it stands")
    slow = workers.start(calls=6, seconds=0.3)
    slow.name  # noqa: B018
    jobs = queue.store_jobs("north", 2)
    wait_until(lambda: len(Account.of(queue.folder).finished) >= 2)
    slow.pause()
    workers.start(calls=6, seconds=0.3)
    wait_until(lambda: left(stores) == 0)
    slow.go_on()
    queue.store_jobs("north", 4, first=100)
    wait_until(lambda: left(stores) == 0)

    ended = Account.of(queue.folder).ended
    assert len(ended) == len(set(ended)) == len(jobs) + 4


@pytest.mark.sweep
@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_thousand_jobs_of_one_tenant_hardly_delay_the_single_job_of_another(
    queue: Place, workers: Workers, concurrency: int, is_whole: bool
) -> None:
    count = JOBS_OF_ONE_TENANT.size(is_whole=is_whole)
    calls, seconds = 2, 0.5 if is_whole else 0.25
    queue.store_jobs("north", count)
    workers.start(calls=calls, seconds=seconds, concurrency=concurrency).name  # noqa: B018
    wait_until(lambda: len(Account.of(queue.folder).ended) >= concurrency)

    queue.store_jobs("south", 1)
    asked = time.monotonic()
    wait_until(partial(_has_ended, queue, "south/south-0000"))
    delay = time.monotonic() - asked - calls * seconds

    # Of short jobs beside other tests the time says little; how many went before does.
    assert delay < 2 * calls * seconds or not is_whole
    assert len(Account.of(queue.folder).ended) < count / 2


def _has_ended(queue: Place, job: str) -> bool:
    return job in Account.of(queue.folder).ended


@pytest.mark.sweep
def test_callers_of_one_tenant_take_turns(queue: Place, workers: Workers) -> None:
    # More than can end in the test, however long it takes to hand in the others.
    queue.store_jobs("north", 120, asked_by="many")
    workers.start(calls=1, seconds=0.2, concurrency=1).name  # noqa: B018
    wait_until(lambda: len(Account.of(queue.folder).ended) >= 2)

    # Who comes one at a time is soon served, and holds up nobody who has waited longer.
    went_before = []
    single = []
    for number in range(200, 205):
        (job,) = queue.store_jobs("north", 1, first=number, asked_by="one")
        before = set(Account.of(queue.folder).ended)
        wait_until(partial(_has_ended, queue, f"north/{job}"))
        went_before.append(len(set(Account.of(queue.folder).ended) - before) - 1)
        single.append(f"north/{job}")
    assert max(went_before) <= 3
    ended = Account.of(queue.folder).ended
    places = [place for place, job in enumerate(ended) if job in single]
    assert places[-1] - places[0] - (len(places) - 1) >= 4


@pytest.mark.sweep
def test_no_more_jobs_of_a_tenant_run_at_once_than_are_allowed(
    queue: Place, workers: Workers, stores: Stores
) -> None:
    options = {"calls": 1, "seconds": 0.3, "concurrency": 4, "per_tenant": 2}
    started = [workers.start(**options), workers.start(**options)]
    assert len({worker.name for worker in started}) == 2
    queue.store_jobs("north", 8)
    most = 0

    def all_ended() -> bool:
        nonlocal most
        account = Account.of(queue.folder)
        most = max(most, len(account.begun) - len(account.finished))
        return left(stores) == 0

    wait_until(all_ended)
    assert most == 2


def test_what_is_to_be_done_is_told_by_ids_alone(queue: Place) -> None:
    queue.store_jobs("north", 2, asked_by="ann")
    statement = "SELECT tenant, record_id, asked_by, turn, runner FROM queue ORDER BY turn"
    assert _rows(queue, statement) == [
        ("north", "north-0000", "ann", 1, None),
        ("north", "north-0001", "ann", 2, None),
    ]


def _rows(queue: Place, statement: str) -> list[tuple[object, ...]]:
    if not queue.url:
        with closing(sqlite3.connect(queue.folder / "store.sqlite")) as file:
            return file.execute(statement).fetchall()
    with psycopg.connect(queue.url) as connection:
        return connection.execute(statement.encode()).fetchall()


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
def test_what_is_no_address_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ConfigurationError, match="DATABASE_URL") as raised:
        address_of(DatabaseSettings(url=SecretStr(url)))
    assert "secret-word" not in str(raised.value)
    assert raised.value.__cause__ is None


def test_a_database_that_is_away_is_said_so_without_its_password(tmp_path: Path) -> None:
    away = Place(url="postgresql://user:secret-word@127.0.0.1:1/jobs", folder=tmp_path)
    stores = away.stores()
    assert "secret-word" not in repr(stores.place)
    with pytest.raises(StoreUnusable) as raised:
        stores.open("north")
    assert "secret-word" not in str(raised.value)
    with workers_of(away) as workers:
        worker = workers.start()
        assert worker.process.wait() == LOST
        assert "secret-word" not in worker.log.read_text("utf-8")


def test_the_password_may_lie_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("p@ss/word\n", "utf-8")
    url = SecretStr("postgresql://user@127.0.0.1/jobs")
    address = address_of(DatabaseSettings(url=url, password_file=file))
    assert address is not None
    assert address.password == "p@ss/word"
    with pytest.raises(ConfigurationError, match="DATABASE_PASSWORD_FILE"):
        address_of(DatabaseSettings(url=url, password_file=tmp_path / "none"))


def test_connections_that_die_are_made_anew_and_nothing_is_done_twice(tmp_path: Path) -> None:
    with own_database(server_address()) as url:
        queue = Place(url=url, folder=tmp_path)
        stores = queue.stores()
        with workers_of(queue) as workers:
            workers.start(calls=8, seconds=0.1).name  # noqa: B018
            queue.store_jobs("north", 2)
            wait_until(lambda: len(Account.of(tmp_path).finished) >= 2)
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            wait_until(lambda: len(Account.of(tmp_path).ended) == 2)
        stores.close()
        assert Account.of(tmp_path).paid_twice == []
