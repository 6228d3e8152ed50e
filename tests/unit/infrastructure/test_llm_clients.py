import asyncio
import json
import ssl
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Literal, TypeVar

import pytest
from pydantic import SecretStr
from tests.fakes.model_server import FAULTS, ModelServer, Reply, Request, Script
from tests.fakes.wires import encode_reply

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.llm.connections import ModelConnections
from ai_psychiatrist.llm.endpoints import EndpointOptions
from ai_psychiatrist.llm.http_client import http_client
from ai_psychiatrist.llm.replies import ChatReply, SimpleChatClient
from ai_psychiatrist.llm.settings import (
    ModelCallSettings,
    OllamaSettings,
    OpenAISettings,
    PydanticAISettings,
)

Wire = Literal["ollama", "openai"]
WIRES: tuple[Wire, ...] = ("ollama", "openai")
Result = TypeVar("Result")

SYSTEM = "You assess interviews."
SECRET = "I wake up at four every night."
PROMPT = f"<transcript-0a>\nP: {SECRET}\n</transcript-0a>\n\nTask: judge_accuracy"


@asynccontextmanager
async def connected(
    wire: Wire, url: str, *, num_ctx: int | None = None, timeout_seconds: float = 5
) -> AsyncIterator[SimpleChatClient]:
    connections = ModelConnections(
        EndpointOptions(
            models=ModelCallSettings(
                temperature=0.2, max_reply_bytes=200_000, max_output_tokens=777
            ),
            openai=OpenAISettings(base_url=f"{url}/v1", api_key=SecretStr("key")),
            ollama=OllamaSettings(host=url, num_ctx=num_ctx),
            pydantic_ai=PydanticAISettings(timeout_seconds=timeout_seconds),
        )
    )
    try:
        name = "ollama:gemma3" if wire == "ollama" else "openai-chat:gemma3"
        (route,) = connections.chain(name)
        assert route.chat is not None
        yield route.chat
    finally:
        await connections.aclose()


def against(
    script: Script | None,
    wire: Wire,
    use: Callable[[SimpleChatClient, ModelServer], Awaitable[Result]],
    *,
    num_ctx: int | None = None,
    timeout_seconds: float = 5,
) -> Result:
    async def run() -> Result:
        async with (
            ModelServer(script) as server,
            connected(wire, server.url, num_ctx=num_ctx, timeout_seconds=timeout_seconds) as client,
        ):
            return await use(client, server)

    return asyncio.run(run())


async def ask(client: SimpleChatClient, _: ModelServer) -> ChatReply:
    reply = await client.simple_chat(PROMPT, system_prompt=SYSTEM)
    assert isinstance(reply, ChatReply)
    return reply


async def ask_and_tell(client: SimpleChatClient, server: ModelServer) -> Request:
    await client.simple_chat(PROMPT, system_prompt=SYSTEM)
    return server.requests[0]


async def fail(client: SimpleChatClient, _: ModelServer) -> ModelCallFailed:
    with pytest.raises(ModelCallFailed) as caught:
        await client.simple_chat(PROMPT, system_prompt=SYSTEM)
    return caught.value


@pytest.mark.parametrize("wire", WIRES)
def test_reply_comes_with_its_counts(wire: Wire) -> None:
    reply = against(lambda _: Reply(text="ein müder Satz", prompt_tokens=77), wire, ask)
    assert reply == ChatReply(
        text="ein müder Satz", is_cut_off=False, input_tokens=77, output_tokens=3
    )


@pytest.mark.parametrize("wire", WIRES)
def test_request_holds_system_and_prompt_and_asks_for_no_format(wire: Wire) -> None:
    request = against(None, wire, ask_and_tell)
    assert [(one.role, one.content) for one in request.messages] == [
        ("system", SYSTEM),
        ("user", PROMPT),
    ]
    assert request.wire == wire
    assert request.body["model"] == "gemma3"
    assert request.headers.get("authorization") == (None if wire == "ollama" else "Bearer key")
    assert {"format", "response_format", "tools"}.isdisjoint(request.body)


def test_ollama_is_told_temperature_window_and_to_refuse_rather_than_cut() -> None:
    body = against(None, "ollama", ask_and_tell, num_ctx=8192).body
    assert body["options"] == {"temperature": 0.2, "num_predict": 777, "num_ctx": 8192}
    assert (body["stream"], body["truncate"], body["shift"]) == (False, False, False)


def test_ollama_window_is_left_to_the_server_unless_it_is_set() -> None:
    options = against(None, "ollama", ask_and_tell).body["options"]
    assert options == {"temperature": 0.2, "num_predict": 777}


def test_other_servers_are_told_temperature_and_the_older_name_of_the_bound() -> None:
    body = against(None, "openai", ask_and_tell).body
    assert (body["temperature"], body["max_tokens"]) == (0.2, 777)
    assert "max_completion_tokens" not in body


@pytest.mark.parametrize("wire", WIRES)
def test_reply_that_ends_at_the_length_limit_is_marked(wire: Wire) -> None:
    assert against(FAULTS["truncated"], wire, ask).is_cut_off is True


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("name", ["empty", "null_content"])
def test_reply_without_content_is_an_empty_text(wire: Wire, name: str) -> None:
    assert against(FAULTS[name], wire, ask).text == ""


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    ("script", "code"),
    [
        pytest.param(FAULTS["html"], FailureCode.MALFORMED_RESPONSE, id="html"),
        pytest.param(FAULTS["no_choices"], FailureCode.MALFORMED_RESPONSE, id="no_choices"),
        pytest.param(FAULTS["error_with_200"], FailureCode.BACKEND_ERROR, id="error_in_200"),
        pytest.param(FAULTS["huge"], FailureCode.MALFORMED_RESPONSE, id="ten_megabytes"),
        pytest.param(FAULTS["status_400"], FailureCode.REQUEST_REFUSED, id="400_echo"),
        pytest.param(FAULTS["status_429"], FailureCode.RATE_LIMITED, id="429_echo"),
        pytest.param(FAULTS["status_500"], FailureCode.BACKEND_ERROR, id="500_echo"),
        pytest.param(FAULTS["context_exceeded"], FailureCode.CONTEXT_TRUNCATED, id="context"),
        pytest.param(FAULTS["reset"], FailureCode.BROKEN_OFF, id="reset"),
        pytest.param(
            lambda _: Reply(raw_body=b"[1]"), FailureCode.MALFORMED_RESPONSE, id="json_list"
        ),
        pytest.param(
            lambda _: Reply(raw_body=b"[" * 100_000), FailureCode.MALFORMED_RESPONSE, id="deep_json"
        ),
        pytest.param(
            lambda _: Reply(raw_body=b"\xff\xfe\x00"), FailureCode.MALFORMED_RESPONSE, id="bytes"
        ),
        pytest.param(lambda _: Reply(raw_body=b""), FailureCode.MALFORMED_RESPONSE, id="no_body"),
        pytest.param(
            lambda _: Reply(raw_body=b'{"message": {"content": 1}, "choices": {"0": 1}}'),
            FailureCode.MALFORMED_RESPONSE,
            id="content_of_another_type",
        ),
        pytest.param(
            lambda _: Reply(status=302, headers={"Location": "http://127.0.0.1:1/"}),
            FailureCode.REQUEST_REFUSED,
            id="redirect",
        ),
    ],
)
def test_fault_of_the_server_is_a_typed_failure_without_text(
    wire: Wire, script: Script, code: FailureCode
) -> None:
    error = against(script, wire, fail)
    assert error.code is code
    assert str(error) == code.value
    assert error.__cause__ is None
    assert error.__suppress_context__ is True or error.__context__ is None


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    ("status", "code"), [(200, FailureCode.MALFORMED_RESPONSE), (500, FailureCode.BACKEND_ERROR)]
)
def test_of_a_response_of_very_many_parts_no_object_is_made(
    wire: Wire, status: int, code: FailureCode
) -> None:
    body = b'{"choices":[' + b"{}," * 350_000 + b"{}]}"
    tracemalloc.start()
    error = against(lambda _: Reply(raw_body=body, status=status), wire, fail)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert error.code is code
    assert peak < 12 * len(body)


@pytest.mark.parametrize("wire", WIRES)
def test_of_very_many_choices_none_is_read(wire: Wire) -> None:
    """The client would make a model of each on the event loop, 45 microseconds apiece."""

    def script(request: Request) -> Reply:
        body = json.loads(encode_reply(request, Reply(text="well")))
        body["choices"] = body.get("choices", [{}]) * 1_000
        return Reply(raw_body=json.dumps(body).encode())

    assert against(script, wire, fail).code is FailureCode.MALFORMED_RESPONSE


@pytest.mark.parametrize("wire", WIRES)
def test_an_error_too_long_to_be_read_is_the_error_that_its_status_says(wire: Wire) -> None:
    error = against(lambda _: Reply(raw_body=b"x" * 1_500_000, status=500), wire, fail)
    assert error.code is FailureCode.BACKEND_ERROR


@pytest.mark.parametrize("wire", WIRES)
def test_server_that_never_answers_is_timed_out(wire: Wire) -> None:
    # Half of it is for the connection, which may take a while on a busy machine.
    error = against(FAULTS["hang"], wire, fail, timeout_seconds=0.5)
    assert error.code is FailureCode.TIMED_OUT


def test_prompt_that_fills_the_window_is_a_failure() -> None:
    error = against(FAULTS["context_full"], "ollama", fail, num_ctx=4096)
    assert error.code is FailureCode.CONTEXT_TRUNCATED


def test_prompt_that_fits_the_window_is_answered() -> None:
    script = lambda _: Reply(text="fine", prompt_tokens=4000)  # noqa: E731
    assert against(script, "ollama", ask, num_ctx=4096).text == "fine"


@pytest.mark.parametrize("wire", WIRES)
def test_each_call_is_sent_once(wire: Wire) -> None:
    async def count(client: SimpleChatClient, server: ModelServer) -> int:
        await fail(client, server)
        return server.request_count

    assert against(FAULTS["status_500"], wire, count) == 1


@pytest.mark.parametrize("wire", WIRES)
def test_dead_server_fails_as_a_connection(wire: Wire) -> None:
    async def run() -> FailureCode:
        async with connected(wire, "http://127.0.0.1:1") as client:
            with pytest.raises(ModelCallFailed) as caught:
                await client.simple_chat(PROMPT)
            return caught.value.code

    assert asyncio.run(run()) is FailureCode.CONNECTION_FAILED


def test_text_of_a_reply_is_kept_out_of_its_representation() -> None:
    assert "four" not in repr(ChatReply(text=SECRET))


def test_certificates_are_read_once_in_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    http_client(timeout_seconds=1, max_reply_bytes=1)
    monkeypatch.delattr(ssl, "SSLContext")
    http_client(timeout_seconds=1, max_reply_bytes=1)
