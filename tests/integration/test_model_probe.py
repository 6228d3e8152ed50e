"""What a look at one model finds, step by step, against servers that are not."""

import asyncio
import json
import socket
from collections.abc import Sequence

import pytest
from pydantic import SecretStr

from ai_psychiatrist.agents.baseline import BASELINE
from ai_psychiatrist.agents.baseline.answers import baseline_route
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.llm.connections import ModelConnections
from ai_psychiatrist.llm.doctor import ModelProbe
from ai_psychiatrist.llm.endpoints import EndpointOptions
from ai_psychiatrist.llm.settings import (
    ModelCallSettings,
    OllamaSettings,
    OpenAISettings,
    PydanticAISettings,
)
from tests.fakes.exchange import Reply, Request, Script, Wire
from tests.fakes.model_server import ModelServer, fault
from tests.fakes.wires import encode_reply

WIRES: tuple[Wire, ...] = ("openai", "ollama")
NAMES = {"openai": "openai-chat:fake-model", "ollama": "ollama:fake-model"}
both_wires = pytest.mark.parametrize("wire", WIRES)


def able(request: Request) -> Reply:
    """Answer as a server that can do everything."""
    if "format" in request.body or "response_format" in request.body:
        return Reply(text='{"ready": true}')
    reply = Reply(text="ready")
    if not request.body.get("logprobs"):
        return reply
    body = json.loads(encode_reply(request, reply))
    likely = [{"token": "ready", "logprob": -0.1, "bytes": None, "top_logprobs": []}]
    if request.wire == "ollama":
        body["logprobs"] = likely
    else:
        body["choices"][0]["logprobs"] = {"content": likely, "refusal": None}
    return Reply(raw_body=json.dumps(body).encode())


async def probed(name: str, url: str) -> ModelProbe:
    connections = ModelConnections(
        EndpointOptions(
            models=ModelCallSettings(),
            openai=OpenAISettings(base_url=f"{url}/v1", api_key=SecretStr("key")),
            ollama=OllamaSettings(host=url),
            pydantic_ai=PydanticAISettings(),
            local={BASELINE: baseline_route()},
        )
    )
    try:
        return await connections.probe(name)
    finally:
        await connections.aclose()


def look(
    wire: Wire, script: Script, *, models: Sequence[str] = ("fake-model",), list_status: int = 200
) -> ModelProbe:
    async def run() -> ModelProbe:
        async with ModelServer(script, models=models, list_status=list_status) as server:
            return await probed(NAMES[wire], server.url)

    return asyncio.run(run())


def outcomes(found: ModelProbe) -> list[str]:
    checks = (
        found.reachable,
        found.key_accepted,
        found.model_present,
        found.first_reply,
        found.json_schema,
        found.log_probabilities,
    )
    return [check.outcome.value for check in checks]


@both_wires
def test_a_server_that_can_do_everything(wire: Wire) -> None:
    found = look(wire, able)
    assert outcomes(found) == ["ok"] * 6
    assert found.is_usable
    assert found.reply_seconds is not None
    assert found.tokens_per_second is not None


@both_wires
def test_a_server_that_answers_in_words_alone_is_usable(wire: Wire) -> None:
    found = look(wire, lambda _: Reply(text="ready"))
    assert outcomes(found) == ["ok"] * 4 + ["failed"] * 2
    assert found.is_usable


@both_wires
@pytest.mark.parametrize(
    ("name", "steps", "code"),
    [
        ("status_401", ["ok", "failed"], FailureCode.NOT_AUTHORISED),
        ("status_404", ["ok", "ok", "failed"], FailureCode.MODEL_NOT_FOUND),
        ("status_500", ["ok", "ok", "ok", "failed"], FailureCode.BACKEND_ERROR),
        ("empty", ["ok", "ok", "ok", "failed"], FailureCode.OUTPUT_REJECTED),
    ],
)
def test_the_first_step_that_fails_says_why(
    wire: Wire, name: str, steps: list[str], code: FailureCode
) -> None:
    found = look(wire, fault(name))
    assert outcomes(found) == steps + ["not_tried"] * (6 - len(steps))
    checks = (found.key_accepted, found.model_present, found.first_reply)
    assert [check.code for check in checks if check.code] == [code]
    assert all(check.cure for check in checks if check.code)
    assert not found.is_usable


@both_wires
def test_a_refused_list_is_a_refused_key(wire: Wire) -> None:
    found = look(wire, able, list_status=401)
    assert outcomes(found)[:3] == ["ok", "failed", "not_tried"]


@both_wires
def test_a_model_that_answers_is_there_whatever_the_list_says(wire: Wire) -> None:
    assert look(wire, able, models=["another"]).model_present.is_ok


@both_wires
def test_where_nothing_listens_nothing_is_tried(wire: Wire) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    found = asyncio.run(probed(NAMES[wire], f"http://127.0.0.1:{port}"))
    assert outcomes(found) == ["failed"] + ["not_tried"] * 5
    assert found.reachable.code is FailureCode.CONNECTION_FAILED
    assert str(port) in (found.reachable.cure or "")


def test_the_baseline_is_always_there() -> None:
    found = asyncio.run(probed(BASELINE, "http://127.0.0.1:1"))
    assert found.is_usable
    assert found.address is None
