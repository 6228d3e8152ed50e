"""A server that callers keep waiting goes on answering the others, and holds nothing for ever."""

import asyncio
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Final

import httpx
import pytest

from tests.attack.connections import Attack, Health, Seen, carry_out, watch_health
from tests.attack.memory import cpu_seconds
from tests.fakes.faults import fault
from tests.fakes.model_server import ModelServerThread
from tests.integration.command import Serving
from tests.integration.running_app import client_at, model_at
from tests.integration.test_stopping import SERVERS, asked, assess, serving
from tests.patience import wait_until

IMPATIENT: Final = {
    "API_HEADER_TIMEOUT_SECONDS": "0.2",
    "API_BODY_TIMEOUT_SECONDS": "0.2",
    "API_ANSWER_TIMEOUT_SECONDS": "0.2",
    "LOG_FORMAT": "json",
}
PATIENT: Final = {
    "API_HEADER_TIMEOUT_SECONDS": "600",
    "API_BODY_TIMEOUT_SECONDS": "600",
    "API_MAX_CONNECTIONS": "20",
    "LOG_FORMAT": "json",
}
CRUMBS_SECONDS: Final = 2.0
DESCRIPTORS: Final = 400
"""Fewer than the callers of a test, and the server's own files among them."""


def attacked(
    running: Serving, kind: str, count: int, seconds: float, *, enough: int = 0
) -> tuple[Seen, Health]:
    """Attack a server, and once all callers are there, see whether it answers a monitor."""
    host, _, port = running.url.removeprefix("http://").rpartition(":")
    seen = Seen()
    attack = Attack(
        host=host,
        port=int(port),
        kind=kind,
        count=count,
        seconds=seconds,
        drip_seconds=0.1,
        enough=enough,
    )
    with ThreadPoolExecutor(1) as pool:
        attacking = pool.submit(lambda: asyncio.run(carry_out(attack, seen)))
        wait_until(lambda: seen.opened + seen.refused == count)
        health = watch_health(host, int(port), 0.3)
        attacking.result()
    return seen, health


def test_callers_who_keep_it_waiting_are_left(tmp_path: Path) -> None:
    kinds = {"silent": 30, "slow header": 30, "slow body": 30, "slow reader": 2}
    with Serving(tmp_path, IMPATIENT) as running:
        for kind, count in kinds.items():
            # It ends as soon as all are closed.
            seen, health = attacked(running, kind, count, 60)
            assert (seen.opened, seen.held) == (count, 0), kind
            assert health.failed == 0, kind
            late = {b"HTTP/1.1 408 Request Timeout"} if kind == "slow body" else set()
            assert set(seen.first_lines) == late, kind
        done = running.stop()
    assert "library_log" not in done.err


def test_a_caller_who_leaves_stops_the_calls_though_further_requests_wait_behind(
    tmp_path: Path,
) -> None:
    body = b"Interviewer: How do you sleep?\nParticipant: I hardly sleep at all.\n"
    post = (
        b"POST /full_pipeline HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
        b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    )
    waits = {"API_REQUEST_TIMEOUT_SECONDS": "600"}
    with (
        ModelServerThread(fault("hang")) as models,
        Serving(tmp_path, model_at(models.url) | waits) as running,
    ):
        host, _, port = running.url.removeprefix("http://").rpartition(":")
        with socket.create_connection((host, int(port))) as caller:
            caller.sendall(post + b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            wait_until(lambda: models.server.in_flight > 0)
        wait_until(lambda: models.server.in_flight == 0)


def test_at_the_limit_of_connections_the_one_that_waited_longest_makes_room(
    tmp_path: Path,
) -> None:
    with Serving(tmp_path, PATIENT) as running:
        for kind in ("silent", "slow header", "slow body"):
            seen, health = attacked(running, kind, 60, 60, enough=20)
            assert seen.opened == 60, kind
            assert 15 <= seen.held <= 20, kind
            assert health.failed == 0, kind
        done = running.stop()
    events = [line["event"] for line in done.served_lines]
    assert events.count("connections_dropped") == 1


def test_a_request_that_is_worked_on_is_never_dropped_for_room(tmp_path: Path) -> None:
    with ModelServerThread(fault("hang", tasks=["scoring"])) as models:
        settings = PATIENT | model_at(models.url) | {"API_SHUTDOWN_SECONDS": "2"}
        with Serving(tmp_path, settings) as running, asked(running.url, assess, 3) as answers:
            wait_until(lambda: len(models.requests) >= 3 * 7)
            seen, _ = attacked(running, "silent", 60, 60, enough=17)
            running.signal(signal.SIGTERM)
            assert {answer.result().status_code for answer in answers} == {200}
    assert seen.opened == 60
    assert 12 <= seen.held <= 17


@pytest.mark.parametrize("server", SERVERS)
def test_callers_beyond_the_file_descriptors_cost_a_line_a_minute(
    tmp_path: Path, server: str
) -> None:
    settings = PATIENT | {"API_MAX_CONNECTIONS": "1000"}
    limits = {"RLIMIT_NOFILE": DESCRIPTORS}
    with Serving(tmp_path, settings, command=SERVERS[server], limits=limits) as running:
        seen, health = attacked(running, "silent", DESCRIPTORS + 60, 0.8)
        with client_at(running.url) as client:
            assert client.get("/healthz").status_code == 200
        done = running.stop()
    assert seen.opened == DESCRIPTORS + 60
    told = [line for line in done.err.splitlines() if "connections_" in line]
    assert len(told) == 1
    assert "accept" not in done.err
    if server == "serve":
        assert health.failed == 0


def test_a_body_that_does_not_come_is_told_under_any_server(tmp_path: Path) -> None:
    with serving(tmp_path, "uvicorn", IMPATIENT) as running:
        seen, _ = attacked(running, "slow body", 1, 60)
    assert seen.first_lines == [b"HTTP/1.1 408 Request Timeout"]


@pytest.mark.parametrize("path", ["/full_pipeline", "/nothing"])
def test_bodies_in_crumbs_cost_the_server_little(tmp_path: Path, path: str) -> None:
    """Whether a body is read or was answered before its end; unbounded it costs all of a core."""
    settings = {"AUTH_REQUIRED": "true" if path == "/nothing" else "false"}
    with Serving(tmp_path, settings) as running:
        host, _, port = running.url.removeprefix("http://").rpartition(":")
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        end = time.monotonic() + CRUMBS_SECONDS

        def send_crumbs() -> None:
            while time.monotonic() < end:
                with (
                    suppress(OSError),
                    socket.create_connection((host, int(port)), timeout=0.1) as caller,
                ):
                    caller.sendall(head.encode())
                    while time.monotonic() < end:
                        caller.sendall(b"1\r\nx\r\n" * 10_000)

        before = cpu_seconds(running.pid)
        with ThreadPoolExecutor(4) as pool:
            for sent in [pool.submit(send_crumbs) for _ in range(4)]:
                sent.result()
        used = cpu_seconds(running.pid) - before
    assert used < CRUMBS_SECONDS / 2


def test_a_refused_body_can_be_sent_to_its_end(tmp_path: Path) -> None:
    """Closing at once would take the answer away before the caller has read it."""
    with (
        Serving(tmp_path, {"API_MAX_BODY_BYTES": "2048"}) as running,
        httpx.Client(base_url=running.url, trust_env=False) as client,
    ):
        answers = [client.post("/full_pipeline", content=b"x" * 5_000_000) for _ in range(3)]
    assert {answer.status_code for answer in answers} == {413}


def test_the_command_serves_on_a_name_of_this_machine(tmp_path: Path) -> None:
    with Serving(tmp_path, {"API_HOST": "localhost"}) as running:
        assert httpx.get(f"{running.url}/healthz", trust_env=False).status_code == 200


def test_a_target_that_names_a_host_of_its_own_is_refused(tmp_path: Path) -> None:
    with Serving(tmp_path, {"LOG_FORMAT": "json"}) as running:
        host, _, port = running.url.removeprefix("http://").rpartition(":")
        with socket.create_connection((host, int(port))) as caller, caller.makefile("rb") as answer:
            caller.sendall(b"GET http://evil.example/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert answer.readline().startswith(b"HTTP/1.1 400")


def test_a_header_without_end_is_cut_off(tmp_path: Path) -> None:
    with Serving(tmp_path, PATIENT) as running:
        host, _, port = running.url.removeprefix("http://").rpartition(":")
        with socket.create_connection((host, int(port))) as caller, caller.makefile("rb") as answer:
            caller.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 400_000)
            assert answer.readline().startswith(b"HTTP/1.1 400")
