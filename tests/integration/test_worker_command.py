"""`serve` and `worker` as their own processes: jobs come in by HTTP and are done elsewhere."""

import asyncio
import json
import signal
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path

import pytest
from sqlalchemy.engine import URL, make_url

from tests.integration.command import COMMAND, Finished, environment_of, run
from tests.integration.started import Started, start
from tests.jobs.own_cluster import own_cluster
from tests.jobs.places import Place, own_database, place, server_address
from tests.patience import PATIENCE_SECONDS, wait_until


@pytest.fixture(params=["sqlite", "postgresql"])
def queue(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A new queue of each kind."""
    with place(request.param, tmp_path) as made:
        yield made


@contextmanager
def started(queue: Place, name: str, *arguments: str, **more: str) -> Iterator[Started]:
    settings = {"DATA_STATE_DIR": str(queue.folder), **queue.settings}
    environment = environment_of(queue.folder, settings | more)
    with (queue.folder / name).open("wb") as log:
        process = start((COMMAND, *arguments), queue.folder, environment, streams={1: log, 2: log})
    with process:
        yield process


def said(queue: Place, name: str, word: str) -> str:
    """Return the line in which a process says a word; waits for it."""

    def lines() -> list[str]:
        text = (queue.folder / name).read_text("utf-8")
        return [line for line in text.splitlines() if word in line]

    wait_until(lines)
    return lines()[0]


def asked(url: str, body: bytes | None = None, **headers: str) -> dict[str, object]:
    request = urllib.request.Request(url, data=body, headers=headers)  # noqa: S310  our own server
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:  # noqa: S310
        found: dict[str, object] = json.load(answer)
    return found


def test_a_server_hands_in_jobs_and_workers_do_them(queue: Place, example_interview: str) -> None:
    health = queue.folder / "health"
    with ExitStack() as processes:
        serve = started(queue, "server", "serve", "--port", "0", JOBS_CONCURRENCY="0")
        server = processes.enter_context(serve)
        workers = [
            processes.enter_context(
                started(
                    queue,
                    f"worker-{number}",
                    *("worker", "--health-file", f"{health}-{number}"),
                    # With PostgreSQL it shares nothing else with the server.
                    DATA_STATE_DIR=str(queue.folder / (f"machine-{number}" if queue.url else "")),
                )
            )
            for number in range(2)
        ]
        names = {said(queue, f"worker-{number}", "takes jobs").split()[1] for number in range(2)}
        assert len(names) == 2
        url = said(queue, "server", "Serving on").split()[2]
        body = json.dumps({"transcript_text": example_interview}).encode()
        jobs = [
            asked(
                f"{url}/v1/assessments",
                body,
                **{"Content-Type": "application/json", "Prefer": "respond-async"},
            )
            for _ in range(2)
        ]

        def states() -> set[object]:
            found = asked(f"{url}/v1/jobs")["jobs"]
            assert isinstance(found, list)
            return {one["state"] for one in found}

        wait_until(lambda: states() == {"finished"})
        assert len(jobs) == 2
        assert all(Path(f"{health}-{number}").exists() for number in range(2))
        for process in workers:
            process.send_signal(signal.SIGTERM)
        assert [process.wait(PATIENCE_SECONDS) for process in workers] == [0, 0]
        assert not list(queue.folder.glob("health-*"))
        server.send_signal(signal.SIGTERM)
        server.wait(PATIENCE_SECONDS)

    for name in ("server", "worker-0", "worker-1"):
        log = (queue.folder / name).read_text("utf-8")
        assert all(word not in log for word in _telling_words(example_interview))


def _telling_words(text: str) -> list[str]:
    return [line.strip()[-40:] for line in text.splitlines() if len(line.strip()) > 60]


def test_a_worker_that_may_do_nothing_says_what_to_set(tmp_path: Path) -> None:
    ended = run(["worker"], tmp_path, {"JOBS_CONCURRENCY": "0"})
    assert ended.code == 2
    assert "JOBS_CONCURRENCY" in ended.err


def test_a_database_of_many_machines_needs_the_same_key_on_each(tmp_path: Path) -> None:
    ended = run(["worker"], tmp_path, {"DATABASE_URL": "postgresql://user@127.0.0.1:1/jobs"})
    assert ended.code == 2
    assert "DATABASE_URL needs DATA_KEY_FILE" in ended.err


def test_a_worker_ends_with_a_status_of_its_own_where_the_database_is_away(tmp_path: Path) -> None:
    away = Place(url="postgresql://user:secret-word@127.0.0.1:1/jobs", folder=tmp_path)
    ended = run(["worker"], tmp_path, away.settings)
    assert ended.code == 75
    assert "DATABASE_URL" in ended.err
    assert "Start it again" in ended.err
    assert "secret-word" not in ended.err


@pytest.mark.parametrize("connections", [0, 1])
def test_a_worker_that_loses_its_database_while_it_starts_asks_to_be_started_again(
    connections: int, tmp_path: Path
) -> None:
    """Before its first connection, or between that and the one that says it lives."""

    async def worker(database: str) -> Finished:
        async with losing(make_url(database), after=connections) as address:
            # It never comes back: the worker need not be patient.
            patience = {"DATABASE_PATIENCE_SECONDS": "1"}
            settings = Place(url=address, folder=tmp_path).settings | patience
            return await asyncio.to_thread(run, ["worker"], tmp_path, settings)

    with own_database(server_address()) as database:
        ended = asyncio.run(worker(database))
    assert ended.code == 75, ended.err
    assert "Start it again" in ended.err
    assert "Traceback" not in ended.err


def test_a_worker_whose_database_stays_away_ends_to_be_started_again(tmp_path: Path) -> None:
    with own_cluster() as cluster:
        queue = Place(url=cluster.url, folder=tmp_path)
        with started(queue, "worker", "worker", DATABASE_PATIENCE_SECONDS="1") as worker:
            said(queue, "worker", "takes jobs")
            cluster.stop()
            assert worker.wait(PATIENCE_SECONDS) == 75
    log = (tmp_path / "worker").read_text("utf-8")
    assert "Start it again" in log
    assert "Traceback" not in log


@asynccontextmanager
async def losing(database: URL, *, after: int) -> AsyncIterator[str]:
    """Yield an address that lets so many connections through; the next one ends all of them."""
    opened: list[asyncio.StreamWriter] = []
    tasks = asyncio.TaskGroup()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        opened.append(writer)
        if len(opened) > after:
            for one in opened:
                one.transport.abort()
            return
        theirs = await asyncio.open_connection(database.host, database.port or 5432)
        tasks.create_task(passed_on(reader, theirs[1]))
        tasks.create_task(passed_on(theirs[0], writer))

    async with tasks:
        server = await asyncio.start_server(connected, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        yield database.set(host="127.0.0.1", port=port).render_as_string(hide_password=False)
        server.close()
        for one in opened:
            one.transport.abort()


async def passed_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while part := await reader.read(65_536):
            writer.write(part)
            await writer.drain()
    writer.transport.abort()


def test_the_library_is_imported_by_nobody_who_does_not_need_it() -> None:
    program = (
        "import sys, ai_psychiatrist;"
        "import ai_psychiatrist.cli.worker, ai_psychiatrist.cli.assess;"
        "print([n for n in sys.modules if n.split('.')[0] in {'sqlalchemy', 'psycopg'}]);"
        "from ai_psychiatrist.api.app import create_app;"
        "from ai_psychiatrist.config import Settings;"
        "import ai_psychiatrist.wiring.jobs;"
        "create_app(Settings());"
        "print([n for n in sys.modules if n.split('.')[0] in {'psycopg'}])"
    )
    ended = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert ended.stdout.split() == [b"[]", b"[]"]
