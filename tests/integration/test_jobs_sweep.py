"""Kills and outages among many jobs: every job ends, and no finished call is paid for twice."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.jobs.filed_work import Account
from tests.jobs.fleet import Fleet
from tests.jobs.own_cluster import own_cluster
from tests.jobs.places import Place, place
from tests.patience import wait_until
from tests.sweeps import JOB_KILLS, JOB_OUTAGE_SECONDS, JOBS_AMONG_KILLS, STORE_KINDS


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Kill with PostgreSQL, and in the whole of the sweep with files as well."""
    if "queue" in metafunc.fixturenames:
        is_whole = metafunc.config.getoption("whole")
        kinds = STORE_KINDS.of(("postgresql", "sqlite"), is_whole=is_whole)
        metafunc.parametrize("queue", kinds, indirect=True)


@pytest.fixture
def queue(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A new store of each kind."""
    with place(request.param, tmp_path) as made:
        yield made


@pytest.mark.sweep
@pytest.mark.timeout(900)
def test_kills_lose_no_job_and_repeat_only_calls_in_flight(queue: Place, is_whole: bool) -> None:
    jobs = JOBS_AMONG_KILLS.size(is_whole=is_whole)
    kills = JOB_KILLS.size(is_whole=is_whole)
    fleet = Fleet(place=queue, jobs=jobs, seconds=0.5, concurrency=4 if is_whole else 1)
    try:
        fleet.run(kills=kills, seed=7)
    finally:
        fleet.close()

    account = Account.of(queue.folder)
    assert fleet.kills == kills
    assert len(account.ended) == len(set(account.ended))
    assert account.paid_twice == []
    assert account.repeats <= account.lost_in_flight


@pytest.mark.sweep
@pytest.mark.timeout(900)
def test_an_outage_of_the_database_loses_nothing(tmp_path: Path, is_whole: bool) -> None:
    jobs = JOBS_AMONG_KILLS.size(is_whole=is_whole)
    with own_cluster() as cluster:
        fleet = Fleet(place=Place(url=cluster.url, folder=tmp_path), jobs=jobs, seconds=0.4)
        running = threading.Thread(target=fleet.run, kwargs={"kills": 0, "seed": 1}, daemon=True)
        running.start()
        try:
            # Most of the jobs are still to be done.
            wait_until(lambda: Account.of(tmp_path).finished != ())
            cluster.stop()
            time.sleep(JOB_OUTAGE_SECONDS.size(is_whole=is_whole))
            before = len(Account.of(tmp_path).ended)
            cluster.start()
            running.join()
        finally:
            fleet.close()

        account = Account.of(tmp_path)
        assert before < jobs
        assert len(account.ended) == len(set(account.ended))
        assert account.repeats == 0
