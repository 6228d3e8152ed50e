"""A server and two workers that share nothing but PostgreSQL and a key, killed and cut off."""

import json
import random
import secrets
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, LiteralString

import httpx
import psycopg
import pytest
from psycopg import sql

from tests.fakes.model_server import ModelServerThread
from tests.integration.command import COMMAND, Serving, environment_of, finish, run
from tests.integration.running_app import client_at, model_at
from tests.integration.started import Started, start
from tests.jobs.own_cluster import Cluster, own_cluster
from tests.jobs.places import Place
from tests.patience import PATIENCE_SECONDS, wait_until
from tests.sweeps import JOB_KILLS, JOB_OUTAGE_SECONDS, JOBS_ON_MACHINES, UNITS_ON_MACHINES

_PLACES: Final = 4
_CALLS_AT_ONCE: Final = 4
"""Of one assessment, at most."""
_RESTART_SECONDS: Final = 2.0
_LOOK_SECONDS: Final = 0.1
_DELAY_SECONDS: Final = 0.05


@dataclass(slots=True)
class Machines:
    """A server and two workers, each on a machine of its own, started again when they end."""

    folder: Path
    settings: dict[str, str]
    port: int
    kills: int = 0
    _running: dict[str, Started] = field(default_factory=dict)
    _not_before: dict[str, float] = field(default_factory=dict)
    _starts: int = 0
    _looking: threading.Lock = field(default_factory=threading.Lock)
    """Nobody asks after a process that is just being ended."""

    def keep_alive(self) -> None:
        """Start what does not run."""
        with self._looking:
            self._start_what_ended()

    def _start_what_ended(self) -> None:
        for name in ("server", "worker-1", "worker-2"):
            process = self._running.get(name)
            if process is not None and process.poll() is None:
                continue
            if time.monotonic() >= self._not_before.get(name, 0.0):
                if process is not None:
                    process.end()
                self._running[name] = self._started(name)
                self._not_before[name] = time.monotonic() + _RESTART_SECONDS

    def kill(self, chance: random.Random) -> None:
        """Kill one of them, whichever it is."""
        with self._looking:
            living = [name for name, one in sorted(self._running.items()) if one.poll() is None]
            self._running[chance.choice(living)].end()
        self.kills += 1

    def close(self) -> None:
        """Kill all."""
        for process in self._running.values():
            process.end()

    def _started(self, name: str) -> Started:
        machine = self.folder / name
        machine.mkdir(exist_ok=True)
        self._starts += 1
        arguments = ["worker", "--concurrency", str(_PLACES)]
        more = {}
        if name == "server":
            arguments, more = ["serve", "--port", str(self.port)], {"JOBS_CONCURRENCY": "0"}
        environment = environment_of(machine, self.settings | more)
        with (machine / f"log-{self._starts}").open("wb") as log:
            return start((COMMAND, *arguments), machine, environment, streams={1: log, 2: log})


@contextmanager
def machines_of(folder: Path, settings: dict[str, str]) -> Iterator[Machines]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    machines = Machines(folder=folder, settings=settings, port=port)
    ended = threading.Event()

    def supervise() -> None:
        while not ended.wait(_LOOK_SECONDS):
            machines.keep_alive()

    supervising = threading.Thread(target=supervise, daemon=True)
    supervising.start()
    try:
        yield machines
    finally:
        ended.set()
        supervising.join()
        machines.close()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A PostgreSQL that can be stopped."""
    with own_cluster() as made:
        yield made


def own_role(cluster: Cluster) -> str:
    """Return the address of a database that belongs to a role which is no superuser."""
    name = f"site_{secrets.token_hex(4)}"
    with psycopg.connect(cluster.url, autocommit=True) as admin:
        role = sql.Identifier(name)
        admin.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
        admin.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(role, role))
    return f"postgresql://{name}@127.0.0.1:{cluster.port}/{name}"


def asked(count: int) -> list[dict[str, str]]:
    said = "Interviewer: How do you sleep?\nParticipant: Badly, on nearly every night, for"
    return [{"transcript_text": f"{said} {number} years."} for number in range(1, count + 1)]


def handed_in(client: httpx.Client, requests: list[dict[str, str]]) -> list[str]:
    """Hand jobs in as a batch, until that is answered; return the places of their results."""
    end = time.monotonic() + PATIENCE_SECONDS
    key = {"Idempotency-Key": secrets.token_hex(8)}
    while time.monotonic() < end:
        try:
            answer = client.post("/v1/batches", json={"requests": requests}, headers=key)
        except httpx.TransportError:
            time.sleep(_LOOK_SECONDS)
            continue
        if answer.status_code == 202:
            return [f"/v1/assessments/{job['job_id']}" for job in answer.json()["jobs"]]
        assert answer.status_code in {409, 503}, answer.text
        time.sleep(_LOOK_SECONDS)
    raise TimeoutError


_JOBS: Final = "SELECT count(*) FROM records WHERE state IN ('finished', 'failed')"
_UNITS: Final = "SELECT count(*) FROM run_attempts WHERE step = 'assessment'"


def ended_in(place: Place, count: LiteralString = _JOBS) -> int:
    """Return how many jobs, or units, have their end, as far as the database says."""
    try:
        with psycopg.connect(place.url) as connection:
            connection.execute("SELECT set_config('store.tenant', 'local', true)")
            row = connection.execute(count).fetchone()
    except psycopg.Error:
        return 0
    return int(row[0]) if row else 0


def read(client: httpx.Client, places: list[str]) -> list[str]:
    """Return the results without what is another each time: the id, and times."""

    def plain(found: object) -> object:
        if isinstance(found, dict):
            differing = {"assessment_id", "duration_ms"}
            return {name: plain(one) for name, one in found.items() if name not in differing}
        return [plain(one) for one in found] if isinstance(found, list) else found

    def result(place: str) -> httpx.Response:
        answer = client.get(place)
        assert answer.status_code == 200, answer.text
        return answer

    return [json.dumps(plain(result(place).json()), sort_keys=True) for place in places]


@pytest.mark.sweep
@pytest.mark.timeout(3_600)
def test_every_job_ends_once_and_says_what_one_machine_says(
    cluster: Cluster, tmp_path: Path, is_whole: bool
) -> None:
    count = JOBS_ON_MACHINES.size(is_whole=is_whole)
    kills = JOB_KILLS.size(is_whole=is_whole)
    requests, chance = asked(count), random.Random(11)  # noqa: S311  drawn again from the same seed
    with ModelServerThread(delay_seconds=_DELAY_SECONDS) as models:
        place = Place(url=own_role(cluster), folder=tmp_path)
        settings = model_at(models.url) | place.settings | {"JOBS_REAP_SECONDS": "5"}
        alone = tmp_path / "alone"
        alone.mkdir()
        one_machine = model_at(models.url) | {"DATA_KEY_FILE": str(place.key_file)}
        with Serving(alone, one_machine) as serving, client_at(serving.url) as client:
            places = handed_in(client, requests)
            wait_until(lambda: client.get("/v1/jobs?state=finished&limit=1").json()["jobs"])
            end = time.monotonic() + PATIENCE_SECONDS * 10
            while client.get("/v1/jobs?state=running&limit=1").json()["jobs"]:
                assert time.monotonic() < end
                time.sleep(_LOOK_SECONDS)
            expected = read(client, places)
        asked_alone = len(models.requests)

        with (
            machines_of(tmp_path, settings) as machines,
            client_at(f"http://127.0.0.1:{machines.port}") as client,
        ):
            places = handed_in(client, requests)
            due = sorted(chance.sample(range(count // 2), kills))
            end = time.monotonic() + PATIENCE_SECONDS * 10
            is_cut_off = False
            while (done := ended_in(place)) < count:
                assert time.monotonic() < end, done
                calls = len(models.requests) - asked_alone
                # By calls: jobs that were begun together end together.
                if machines.kills < kills and calls * count >= due[machines.kills] * asked_alone:
                    machines.kill(chance)
                if not is_cut_off and calls > count:
                    is_cut_off = True
                    cluster.stop()
                    time.sleep(JOB_OUTAGE_SECONDS.size(is_whole=is_whole))
                    cluster.start()
                time.sleep(_LOOK_SECONDS)
            wait_until(lambda: _answers(client))
            assert read(client, places) == expected
            assert (machines.kills, is_cut_off) == (kills, True)

        bodies = Counter(
            json.dumps(request.body, sort_keys=True) for request in models.requests[asked_alone:]
        )
        in_flight = kills * _PLACES * _CALLS_AT_ONCE
        assert sum(bodies.values()) - len(bodies) <= in_flight
        assert len(bodies) == asked_alone


def written(folder: Path, count: int) -> Path:
    interviews = folder / "interviews"
    interviews.mkdir()
    for number, request in enumerate(asked(count), 1):
        (interviews / f"{number:05}.txt").write_text(request["transcript_text"], "utf-8")
    return interviews


def among_kills(
    place: Place, cluster: Cluster, machines: Machines, *, count: int, is_whole: bool
) -> None:
    """Kill processes and cut the database off until all units have their end."""
    kills = JOB_KILLS.size(is_whole=is_whole)
    chance = random.Random(11)  # noqa: S311  drawn again from the same seed
    due = sorted(chance.sample(range(count // 2), kills))
    end = time.monotonic() + PATIENCE_SECONDS * 20
    is_cut_off = False
    while (done := ended_in(place, _UNITS)) < count:
        assert time.monotonic() < end, done
        if machines.kills < kills and done >= due[machines.kills]:
            machines.kill(chance)
        if not is_cut_off and done >= count // 3:
            is_cut_off = True
            cluster.stop()
            time.sleep(JOB_OUTAGE_SECONDS.size(is_whole=is_whole))
            cluster.start()
        time.sleep(_LOOK_SECONDS)
    assert (machines.kills, is_cut_off) == (kills, True)


@pytest.mark.sweep
@pytest.mark.timeout(7_200)
def test_every_unit_of_a_run_ends_once_and_says_what_one_machine_says(
    cluster: Cluster, tmp_path: Path, is_whole: bool
) -> None:
    count = UNITS_ON_MACHINES.size(is_whole=is_whole)
    interviews = written(tmp_path, count)
    with ModelServerThread(delay_seconds=_DELAY_SECONDS) as models:
        place = Place(url=own_role(cluster), folder=tmp_path)
        settings = model_at(models.url) | place.settings | {"JOBS_REAP_SECONDS": "5"}
        own = {name: value for name, value in settings.items() if name != "DATABASE_URL"}
        wanted = ("evaluate", "run", str(interviews), "--out")
        with start((COMMAND, *wanted, "alone"), tmp_path, environment_of(tmp_path, own)) as alone:
            assert finish(alone, seconds=PATIENCE_SECONDS * 20).code == 0
        asked_alone = len(models.requests)

        detached = run([*wanted, "shared", "--database", "--detach"], tmp_path, settings)
        assert detached.code == 4, detached.err
        with machines_of(tmp_path, settings) as machines:
            among_kills(place, cluster, machines, count=count, is_whole=is_whole)
        told = run(["evaluate", "status", "shared"], tmp_path, settings)
        assert told.code == 0, told.err
        for name in ("predictions.jsonl", "failures.jsonl", "units.jsonl"):
            assert (tmp_path / "shared" / name).read_bytes() == (
                tmp_path / "alone" / name
            ).read_bytes()

        bodies = Counter(
            json.dumps(request.body, sort_keys=True) for request in models.requests[asked_alone:]
        )
        in_flight = machines.kills * _PLACES * _CALLS_AT_ONCE
        assert sum(bodies.values()) - len(bodies) <= in_flight
        assert len(bodies) == asked_alone


def _answers(client: httpx.Client) -> bool:
    try:
        return client.get("/readyz").status_code in {200, 503}
    except httpx.TransportError:
        return False
