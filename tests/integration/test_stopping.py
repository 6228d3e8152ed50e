"""A server that is told to end keeps what is finished, takes nothing new, and ends."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from ai_psychiatrist.api.limits import Limits
from ai_psychiatrist.config import load_settings
from ai_psychiatrist.infrastructure.tasks import GracefulShutdown
from tests.fakes.exchange import Reply
from tests.fakes.faults import fault
from tests.fakes.model_server import ModelServerThread
from tests.integration.command import COMMAND, UVICORN, Serving
from tests.integration.running_app import client_at, model_at
from tests.patience import wait_until

SERVERS: Final = {
    "serve": (COMMAND, "serve"),
    "uvicorn": UVICORN,
}
TEXT = "Participant: I feel tired every day, and I think of killing myself."
INCIDENT = {
    "title": "The lunch",
    "summary": "Somebody ate the lunch of somebody else.",
    "interviewee_name": "Sam",
    "interviewee_role": "a colleague who was there",
    "confidence_threshold": 40,
}

under_each_server = pytest.mark.parametrize("server", SERVERS)


def serving(folder: Path, server: str, settings: dict[str, str]) -> Serving:
    return Serving(folder, settings, command=SERVERS[server])


def assess(client: httpx.Client) -> httpx.Response:
    return client.post("/full_pipeline", json={"transcript_text": TEXT})


@contextmanager
def asked(
    url: str, ask: Callable[[httpx.Client], httpx.Response], count: int
) -> Iterator[list[Future[httpx.Response]]]:
    """Have so many callers ask, each over a connection of its own."""
    with ThreadPoolExecutor(count) as pool, client_at(url) as client:
        yield [pool.submit(ask, client) for _ in range(count)]


@dataclass(frozen=True, kw_only=True)
class Stopped:
    """What callers saw of a server that was told to end while three assessments ran."""

    running: list[httpx.Response]
    refused: httpx.Response
    alive: httpx.Response
    code: int


def stop_while_assessing(folder: Path, server: str, seconds: str) -> Stopped:
    with ModelServerThread(fault("hang", tasks=["scoring"])) as models:
        settings = model_at(models.url) | {"API_SHUTDOWN_SECONDS": seconds}
        with (
            serving(folder, server, settings) as running,
            asked(running.url, assess, 3) as answers,
            client_at(running.url) as client,
        ):
            # Of each the findings, four metrics, the evidence, and the scores, which hang.
            wait_until(lambda: len(models.requests) >= 3 * 7)
            running.signal(signal.SIGTERM)
            wait_until(lambda: client.get("/readyz").status_code == 503)
            refused, alive = assess(client), client.get("/healthz")
            code = running.wait().code
            found = [answer.result() for answer in answers]
    return Stopped(running=found, refused=refused, alive=alive, code=code)


@under_each_server
def test_running_requests_get_what_is_finished_and_nothing_new_begins(
    tmp_path: Path, server: str
) -> None:
    # On a busy machine what does not hang may be late too: then there is more time.
    # It may also have ended before it was asked.
    for seconds in ("1", "8", "60"):
        with suppress(httpx.TransportError):
            stopped = stop_while_assessing(tmp_path, server, seconds)
            if all(answer.status_code == 200 for answer in stopped.running):
                break
    assert (stopped.refused.status_code, stopped.refused.json()["code"]) == (503, "stopping")
    assert int(stopped.refused.headers["Retry-After"]) > 0
    assert stopped.alive.status_code == 200
    for answer in stopped.running:
        body = answer.json()
        assert body["status"] == "partial"
        assert body["qualitative"]["overall"]
        assert body["evaluation"]["average_score"]
        assert "deadline_exceeded" in {failure["code"] for failure in body["failures"]}
    assert stopped.code == -signal.SIGTERM


def test_a_request_with_nothing_finished_is_told_with_its_signs_of_danger(tmp_path: Path) -> None:
    with ModelServerThread(lambda _: Reply(hang=True)) as models:
        settings = model_at(models.url) | {"API_SHUTDOWN_SECONDS": "0.5"}
        with (
            serving(tmp_path, "serve", settings) as running,
            asked(running.url, assess, 1) as answers,
        ):
            wait_until(lambda: models.server.in_flight > 0)
            running.signal(signal.SIGTERM)
            body = answers[0].result().json()
            running.wait()
    assert (body["code"], body["risk"]["level"]) == ("stopping", "high")


@under_each_server
def test_a_second_signal_ends_it_at_once(tmp_path: Path, server: str) -> None:
    with ModelServerThread(lambda _: Reply(hang=True)) as models:
        settings = model_at(models.url) | {"API_SHUTDOWN_SECONDS": "3600"}
        with (
            serving(tmp_path, server, settings) as running,
            asked(running.url, assess, 1) as answers,
            client_at(running.url) as client,
        ):
            wait_until(lambda: models.server.in_flight > 0)
            running.signal(signal.SIGTERM)
            wait_until(lambda: client.get("/readyz").status_code == 503)
            running.signal(signal.SIGTERM)
            assert running.wait().code == -signal.SIGTERM
            assert isinstance(answers[0].exception(), httpx.TransportError)


def test_a_turn_of_an_interview_is_told_and_keeps_its_answer(tmp_path: Path) -> None:
    settings = {"API_SHUTDOWN_SECONDS": "0.5", "INTERVIEW_CALL_TIMEOUT_SECONDS": "600"}

    def begin(client: httpx.Client) -> httpx.Response:
        return client.post("/v1/interviews", json={"protocol": "incident", "inputs": INCIDENT})

    with ModelServerThread(lambda _: Reply(hang=True)) as models:
        settings |= model_at(models.url)
        with (
            serving(tmp_path, "serve", settings) as running,
            asked(running.url, begin, 1) as answers,
        ):
            wait_until(lambda: models.server.in_flight > 0)
            running.signal(signal.SIGTERM)
            answer = answers[0].result()
            running.wait()
    assert (answer.status_code, answer.json()["code"]) == (503, "stopping")


async def hang(_: Scope, __: Receive, ___: Send) -> None:
    """Stand for a request that no time limit of its own ends."""
    await asyncio.Event().wait()


def test_a_request_that_nothing_else_ends_is_ended_by_its_deadline() -> None:
    settings = load_settings({"API_REQUEST_TIMEOUT_SECONDS": "0.01"}, None).api
    limits = Limits(hang, settings=settings, stopping=GracefulShutdown(), margin_seconds=0.01)

    async def ask() -> list[httpx.Response]:
        transport = httpx.ASGITransport(limits)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await asyncio.gather(*(client.get("/readyz") for _ in range(200)))

    answers = asyncio.run(ask())
    assert {answer.status_code for answer in answers} == {504}
    assert {answer.json()["code"] for answer in answers} == {"deadline_exceeded"}
