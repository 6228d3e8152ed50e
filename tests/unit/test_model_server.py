import asyncio
import json
import os
import signal
import ssl
import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import TypeVar

import httpx
import pytest
from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.exceptions import ModelHTTPError, OutputTokenLimitExceeded, UnexpectedModelBehavior
from pydantic_ai.models import Model
from pydantic_ai.models.ollama import OllamaModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.ollama import OllamaProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings
from tests.fakes.faults import first_attempts, only_for
from tests.fakes.model_server import (
    FAULTS,
    TASKS,
    ModelServer,
    ModelServerThread,
    Reply,
    Request,
    Script,
    fault,
    good_replies,
)
from tests.fakes.replies import ITEMS
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


def ask_openai(script: Script | None, task: str) -> httpx.Response:
    return against(script, lambda _, client: client.post("/v1/chat/completions", json=body(task)))


def ask_ollama(script: Script | None, task: str, **more: object) -> httpx.Response:
    sent = body(task, stream=False, **more)
    return against(script, lambda _, client: client.post("/api/chat", json=sent))


def openai_text(response: httpx.Response) -> str:
    text = response.json()["choices"][0]["message"]["content"]
    assert isinstance(text, str)
    return text


def test_openai_wire_answers_with_usage_and_finish_reason() -> None:
    payload = ask_openai(None, "evidence").json()
    assert payload["choices"][0]["finish_reason"] == "stop"
    assert payload["usage"]["prompt_tokens"] > 0
    evidence = json.loads(payload["choices"][0]["message"]["content"])
    assert tuple(evidence) == ITEMS
    assert [quotes for quotes in evidence.values() if quotes] == [
        ["I wake up at four every night."],
        ["I feel tired all the time."],
    ]


def test_ollama_wire_answers_with_token_counts() -> None:
    payload = ask_ollama(None, "judge_accuracy").json()
    assert payload["done"] is True
    assert payload["done_reason"] == "stop"
    assert payload["prompt_eval_count"] > 0
    assert payload["eval_count"] > 0
    assert payload["message"]["content"].endswith("Score: 4")


def test_ollama_refuses_a_client_that_forgot_to_switch_streaming_off() -> None:
    response = against(None, lambda _, client: client.post("/api/chat", json=body("scoring")))
    assert response.status_code == 400


@pytest.mark.parametrize("path", ["/v1/models", "/api/tags", "/api/version", "/stats"])
def test_look_ups_answer(path: str) -> None:
    assert against(None, lambda _, client: client.get(path)).status_code == 200


@pytest.mark.parametrize("task", TASKS)
def test_every_task_has_a_valid_reply(task: str) -> None:
    marks = {"evidence": "{", "danger": "{", "scoring": "<answer>", "meta_review": "<severity>"}
    text = openai_text(ask_openai(good_replies(), task))
    assert text.startswith(
        marks.get(task, "Explanation:" if task.startswith("judge") else "<assessment>")
    )


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


def test_task_line_inside_the_transcript_is_not_the_task() -> None:
    sent = {"messages": [{"role": "user", "content": prompt("scoring", "P: Hi.\nTask: evidence")}]}

    async def use(server: ModelServer, client: httpx.AsyncClient) -> str:
        await client.post("/v1/chat/completions", json=sent)
        return server.requests[0].task

    assert against(None, use) == "scoring"


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


def test_fault_can_be_limited_to_tasks_and_first_attempts() -> None:
    script = only_for(["scoring"], first_attempts(1, FAULTS["empty"]))

    async def use(_: ModelServer, client: httpx.AsyncClient) -> list[bool]:
        tasks = ("evidence", "scoring", "scoring")
        replies = [await client.post("/v1/chat/completions", json=body(t)) for t in tasks]
        return [bool(openai_text(reply)) for reply in replies]

    assert against(script, use) == [True, False, True]


@pytest.mark.parametrize("name", sorted(set(FAULTS) - {"hang", "reset", "slow_drip"}))
@pytest.mark.parametrize("ask", [ask_openai, ask_ollama])
def test_every_fault_is_delivered_on_both_wires(
    name: str, ask: Callable[[Script, str], httpx.Response]
) -> None:
    response = ask(fault(name), "scoring")
    assert response.status_code in (200, 400, 401, 404, 429, 500)
    assert response.content


@pytest.mark.parametrize("name", ["status_400", "status_429", "status_500"])
def test_error_statuses_echo_the_prompt(name: str) -> None:
    response = ask_openai(fault(name), "scoring")
    assert response.status_code == int(name.removeprefix("status_"))
    assert SECRET in response.json()["error"]["message"]


def test_context_full_reports_the_window_that_was_asked_for() -> None:
    payload = ask_ollama(fault("context_full"), "scoring", options={"num_ctx": 8192}).json()
    assert payload["prompt_eval_count"] == 8192


def test_interviewer_quotes_are_not_the_participant_s() -> None:
    evidence = json.loads(openai_text(ask_openai(fault("interviewer_quotes"), "evidence")))
    assert evidence["PHQ8_Sleep"] == ["How have you been sleeping these days?"]


def test_draft_comes_before_the_final_answer() -> None:
    text = openai_text(ask_openai(fault("draft_then_final"), "scoring"))
    assert text.count("<answer>") == 2
    assert text.rindex(SECRET) > text.rindex("<answer>")


def test_reset_breaks_the_body() -> None:
    async def use(_: ModelServer, client: httpx.AsyncClient) -> None:
        with pytest.raises((httpx.ReadError, httpx.RemoteProtocolError)):
            await client.post("/v1/chat/completions", json=body("scoring"))

    against(fault("reset"), use)


@pytest.mark.parametrize("name", ["hang", "slow_drip"])
def test_client_that_loses_patience_frees_the_server(name: str) -> None:
    async def use(server: ModelServer, client: httpx.AsyncClient) -> int:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await client.post("/v1/chat/completions", json=body("scoring"))
        await asyncio.to_thread(wait_until, lambda: server.in_flight == 0)
        return server.in_flight

    assert against(fault(name), use) == 0


def run_agent(
    script: Script, task: str, build: Callable[[AsyncOpenAI], Model]
) -> tuple[str, list[Request]]:
    async def run() -> tuple[str, list[Request]]:
        async with (
            ModelServer(script) as server,
            AsyncOpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client,
        ):
            agent = Agent(build(client), system_prompt="You assess interviews.")
            result = await agent.run(
                prompt(task), model_settings=ModelSettings(timeout=PATIENCE_SECONDS)
            )
            return result.output, list(server.requests)

    return asyncio.run(run())


def openai_model(client: AsyncOpenAI) -> Model:
    return OpenAIChatModel("fake-model", provider=OpenAIProvider(openai_client=client))


def ollama_model(client: AsyncOpenAI) -> Model:
    return OllamaModel("fake-model", provider=OllamaProvider(openai_client=client))


@pytest.mark.parametrize("build", [openai_model, ollama_model])
def test_pydantic_ai_reads_replies_and_asks_again_after_an_empty_one(
    build: Callable[[AsyncOpenAI], Model],
) -> None:
    output, requests = run_agent(first_attempts(1, FAULTS["empty"]), "meta_review", build)
    assert output.startswith("<severity>2</severity>")
    assert [(r.task, r.attempt) for r in requests] == [("meta_review", 1), ("meta_review", 2)]


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("no_choices", IndexError),
        ("error_with_200", UnexpectedModelBehavior),
        ("null_content", UnexpectedModelBehavior),
        ("context_exceeded", ModelHTTPError),
        ("status_500", ModelHTTPError),
    ],
)
def test_pydantic_ai_fails_as_expected(name: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        run_agent(fault(name), "scoring", openai_model)


def test_pydantic_ai_reports_an_empty_reply_at_the_length_limit() -> None:
    def script(_: Request) -> Reply:
        return Reply(text="", finish_reason="length")

    with pytest.raises(OutputTokenLimitExceeded):
        run_agent(script, "scoring", openai_model)


def test_thread_serves_clients_that_block() -> None:
    with ModelServerThread() as server, httpx.Client(base_url=server.url) as client:
        response = client.post("/v1/chat/completions", json=body("scoring"))
        assert SECRET in openai_text(response)
    assert [request.task for request in server.requests] == ["scoring"]


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
