"""What Prometheus is told by a worker, at a door of the worker's own."""

import json
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests.integration.command_here import run_here
from tests.integration.running_app import client_at
from tests.integration.started import Started
from tests.integration.test_metrics_http import counted, of
from tests.integration.test_worker_command import asked, said, started
from tests.jobs.places import Place
from tests.patience import PATIENCE_SECONDS, wait_until

WORDS = "I wake at four every night, canary."
BODY = json.dumps({"transcript_text": f"Participant: {WORDS}"}).encode()
ASYNC = {"Content-Type": "application/json", "Prefer": "respond-async"}


@pytest.fixture
def port() -> int:
    """A port that nobody has just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        found: int = probe.getsockname()[1]
    return found


@pytest.fixture
def counting(port: int) -> dict[str, str]:
    """Settings of a worker that counts."""
    return {"TELEMETRY_METRICS": "true", "TELEMETRY_WORKER_PORT": str(port)}


@pytest.fixture
def working(tmp_path: Path, counting: dict[str, str]) -> Iterator[tuple[Place, Started]]:
    """A worker at work, and its queue."""
    queue = Place(url="", folder=tmp_path)
    with started(queue, "worker", "worker", **counting) as worker:
        said(queue, "worker", "takes jobs")
        yield queue, worker


def test_what_a_worker_does_is_read_at_its_own_port(
    working: tuple[Place, Started], port: int
) -> None:
    queue, worker = working
    with ExitStack() as stack:
        stack.enter_context(started(queue, "server", "serve", "--port", "0", JOBS_CONCURRENCY="0"))
        url = said(queue, "server", "Serving on").split()[2]
        asked(f"{url}/v1/assessments", BODY, **ASYNC)
        client = stack.enter_context(client_at(f"http://127.0.0.1:{port}"))
        wait_until(lambda: of(counted(client), "job_ends_total", state="finished") == 1)
        found = counted(client)
        assert of(found, "assessments_total", status="complete") == 1
        assert of(found, "model_calls_total", outcome="accepted") > 0
        assert of(found, "agent_runs_total", end="accepted") > 0
        # How many jobs wait, a server alone tells.
        oldest = found[("ai_psychiatrist_oldest_waiting_job_seconds", ())]
        assert oldest != oldest  # noqa: PLR0124  no number
        assert not [name for name, _ in found if name == "ai_psychiatrist_jobs"]
        assert "canary" not in client.get("/metrics").text
        for method in ("POST", "PUT", "DELETE", "HEAD"):
            assert client.request(method, "/metrics").status_code == 405
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(PATIENCE_SECONDS) == 0
    with pytest.raises(httpx.ConnectError), client_at(f"http://127.0.0.1:{port}") as late:
        late.get("/metrics")


def test_a_second_worker_at_the_same_port_says_which_setting_to_change(
    working: tuple[Place, Started], counting: dict[str, str], port: int
) -> None:
    folder = working[0].folder
    environment = {"DATA_STATE_DIR": str(folder)} | counting
    ended = run_here(["worker"], folder, environment)
    assert ended.code == 2
    assert f"TELEMETRY_WORKER_PORT={port} is in use" in ended.err


def test_an_address_of_another_machine_is_refused_by_name(
    tmp_path: Path, counting: dict[str, str]
) -> None:
    environment = {"TELEMETRY_WORKER_ADDRESS": "192.0.2.1"} | counting
    ended = run_here(["worker"], tmp_path, environment)
    assert ended.code == 2
    assert "TELEMETRY_WORKER_ADDRESS=192.0.2.1" in ended.err
