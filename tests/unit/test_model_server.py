import asyncio
import os
import signal
import ssl
import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import TypeVar

import httpx
import pytest
from tests.fakes.model_server import (
    ModelServer,
    Reply,
    Request,
    Script,
    fault,
)
from tests.patience import PATIENCE_SECONDS, wait_until

TRANSCRIPT = (
    "Interviewer: How have you been sleeping these days?\n"
    "Participant: Badly. I wake up at four every night.\n"
    "Interviewer: And your energy in the daytime?\n"
    "Participant: I feel tired all the time.\n"
)
SECRET = "I wake up at four every night."

# Each client would otherwise load the certificates anew, which takes longer than its test.
NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

Result = TypeVar("Result")


def prompt(task: str, transcript: str = TRANSCRIPT) -> str:
    return f"<transcript-0a1b>\n{transcript}\n</transcript-0a1b>\n\nTask: {task}\n\nDo it."


def body(task: str, **more: object) -> dict[str, object]:
    messages = [
        {"role": "system", "content": "You assess interviews."},
        {"role": "user", "content": prompt(task)},
    ]
    return {"model": "fake-model", "messages": messages, **more}


def against(
    script: Script | None, use: Callable[[ModelServer, httpx.AsyncClient], Awaitable[Result]]
) -> Result:
    async def run() -> Result:
        async with (
            ModelServer(script) as server,
            httpx.AsyncClient(
                base_url=server.url, timeout=PATIENCE_SECONDS, verify=NO_CERTIFICATES
            ) as client,
        ):
            return await use(server, client)

    return asyncio.run(run())


def openai_text(response: httpx.Response) -> str:
    text = response.json()["choices"][0]["message"]["content"]
    assert isinstance(text, str)
    return text


def test_requests_are_recorded_with_task_attempt_and_time() -> None:
    async def use(server: ModelServer, client: httpx.AsyncClient) -> list[Request]:
        for task in ("scoring", "scoring", "evidence"):
            await client.post("/v1/chat/completions", json=body(task))
        return list(server.requests)

    requests = against(None, use)
    assert [(r.task, r.attempt) for r in requests] == [
        ("scoring", 1),
        ("scoring", 2),
        ("evidence", 1),
    ]
    assert requests[0].transcript.strip() == TRANSCRIPT.strip()
    assert requests[0].arrived_at <= requests[1].arrived_at <= requests[2].arrived_at


def test_in_flight_peak_counts_calls_that_wait() -> None:
    async def use(server: ModelServer, client: httpx.AsyncClient) -> int:
        server.delay_seconds = 0.05
        calls = (client.post("/v1/chat/completions", json=body("scoring")) for _ in range(6))
        await asyncio.gather(*calls)
        return server.max_in_flight

    assert against(None, use) == 6


def test_exception_of_a_script_surfaces_at_the_end() -> None:
    def broken(_: Request) -> Reply:
        raise KeyError("script")

    async def use(_: ModelServer, client: httpx.AsyncClient) -> None:
        with pytest.raises(httpx.RemoteProtocolError):
            await client.post("/v1/chat/completions", json=body("scoring"))

    with pytest.raises(KeyError):
        against(broken, use)


@pytest.mark.parametrize("name", ["hang", "slow_drip"])
def test_client_that_loses_patience_frees_the_server(name: str) -> None:
    async def use(server: ModelServer, client: httpx.AsyncClient) -> int:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await client.post("/v1/chat/completions", json=body("scoring"))
        await asyncio.to_thread(wait_until, lambda: server.in_flight == 0)
        return server.in_flight

    assert against(fault(name), use) == 0


def test_command_prints_its_address_counts_and_stops_on_a_signal() -> None:
    command = [sys.executable, "-m", "tests.fakes.model_server", "--fault", "judge_low"]
    with subprocess.Popen(
        [*command, "--tasks", "judge_accuracy"], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().decode().removeprefix("listening on ").strip()
        with httpx.Client(base_url=url) as client:
            low = client.post("/v1/chat/completions", json=body("judge_accuracy"))
            high = client.post("/v1/chat/completions", json=body("judge_coherence"))
            assert client.get("/stats").json()["requests"] == 2
            client.post("/reset")
            assert client.get("/stats").json()["requests"] == 0
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(PATIENCE_SECONDS) == 0
    assert openai_text(low).endswith("Score: 2")
    assert openai_text(high).endswith("Score: 4")
