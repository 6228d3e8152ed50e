"""Models of hosted providers, against servers that are not, as settings in a file name them."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest

from ai_psychiatrist.assessment.assessor import AssessmentOptions
from ai_psychiatrist.assessment.parts import Part
from ai_psychiatrist.config import load_settings
from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.errors import ConfigurationError, ModelCallFailed
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.llm.replies import ChatReply
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.wiring import Services, bootstrap
from tests.fakes.http_connection import HttpCall
from tests.fakes.recording_server import RecordingServer

SECRET = "I wake up at four every night."
KEY = "sk-copper-lanterns"
Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class Hosted:
    """One provider: its variables, where its key goes, and a reply that says "ready"."""

    model: str
    url_variable: str
    key_variable: str
    header: str
    reply: object
    needs: str | None = None


OPENAI = Hosted(
    model="openai:gpt-fake",
    url_variable="OPENAI_BASE_URL",
    key_variable="OPENAI_API_KEY",
    header="authorization",
    reply={
        "id": "resp_1",
        "object": "response",
        "created_at": 1_700_000_000,
        "model": "gpt-fake",
        "status": "completed",
        "output": [
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "ready", "annotations": []}],
            }
        ],
        "usage": {
            "input_tokens": 9,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 3,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 12,
        },
    },
)
ANTHROPIC = Hosted(
    model="anthropic:claude-fake",
    url_variable="ANTHROPIC_BASE_URL",
    key_variable="ANTHROPIC_API_KEY",
    header="authorization",
    needs="anthropic",
    reply={
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-fake",
        "content": [{"type": "text", "text": "ready"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 3},
    },
)
GOOGLE = Hosted(
    model="google:gemini-fake",
    url_variable="GOOGLE_BASE_URL",
    key_variable="GOOGLE_API_KEY",
    header="x-goog-api-key",
    needs="google.genai",
    reply={
        "candidates": [
            {
                "content": {"role": "model", "parts": [{"text": "ready"}]},
                "finishReason": "STOP",
                "index": 0,
            }
        ],
        "usageMetadata": {
            "promptTokenCount": 9,
            "candidatesTokenCount": 3,
            "totalTokenCount": 12,
        },
        "modelVersion": "gemini-fake",
    },
)
OPENAI_CHAT = Hosted(
    model="openai-chat:fake",
    url_variable="OPENAI_BASE_URL",
    key_variable="OPENAI_API_KEY",
    header="authorization",
    reply={
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "fake",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "ready"},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12},
    },
)
each_provider = pytest.mark.parametrize(
    "hosted", [OPENAI, ANTHROPIC, GOOGLE, OPENAI_CHAT], ids=lambda hosted: hosted.model
)


def with_model(
    hosted: Hosted,
    folder: Path,
    url: str,
    use: Callable[[Services], Awaitable[Result]],
    **environment: str,
) -> Awaitable[Result]:
    """Use the services of settings whose address and key stand in a file."""
    if hosted.needs is not None:
        pytest.importorskip(hosted.needs)
    dotenv = folder / ".env"
    dotenv.write_text(
        f"MODEL_DEFAULT={hosted.model}\n{hosted.url_variable}={url}\n{hosted.key_variable}={KEY}\n"
    )
    given = {"DATA_STATE_DIR": str(folder), "LOG_LEVEL": "CRITICAL", **environment}
    settings = load_settings(given, dotenv)

    async def used() -> Result:
        async with bootstrap(settings) as services:
            return await use(services)

    return used()


def served(
    hosted: Hosted,
    folder: Path,
    use: Callable[[Services], Awaitable[Result]],
    *,
    status: int = 200,
    **environment: str,
) -> tuple[Result, list[HttpCall]]:
    async def run() -> tuple[Result, list[HttpCall]]:
        async with RecordingServer(lambda _: (status, hosted.reply)) as server:
            result = await with_model(hosted, folder, server.url, use, **environment)
            return result, server.calls

    return asyncio.run(run())


async def chat(services: Services) -> str:
    (route,) = services.connections.chain(services.settings.model.default)
    assert route.chat is not None
    reply = await route.chat.simple_chat(SECRET, system_prompt="Say ready.")
    assert isinstance(reply, ChatReply)
    assert (reply.input_tokens, reply.output_tokens) == (9, 3)
    return reply.text


async def failing_chat(services: Services) -> ModelCallFailed:
    (route,) = services.connections.chain(services.settings.model.default)
    assert route.chat is not None
    with pytest.raises(ModelCallFailed) as caught:
        await route.chat.simple_chat(SECRET)
    return caught.value


async def findings(services: Services) -> Assessment:
    transcript = parse_transcript(f"Participant: {SECRET}")
    return await services.assessor.assess(
        transcript, AssessmentOptions(parts=frozenset({Part.FINDINGS}))
    )


@each_provider
def test_a_plain_call_is_one_request_under_the_key_of_the_file(
    hosted: Hosted, tmp_path: Path
) -> None:
    text, (call,) = served(hosted, tmp_path, chat)
    assert text == "ready"
    assert call.headers[hosted.header].removeprefix("Bearer ") == KEY
    assert SECRET.encode() in call.body
    assert b"8192" in call.body


@each_provider
@pytest.mark.parametrize("status", [500, 408, 409])
def test_every_request_is_an_attempt(hosted: Hosted, tmp_path: Path, status: int) -> None:
    assessment, calls = served(hosted, tmp_path, findings, status=status)
    assert len(calls) == len(assessment.attempts) > 0
    assert {attempt.http_status for attempt in assessment.attempts} == {status}


@each_provider
@pytest.mark.parametrize(
    ("status", "code"),
    [
        (401, FailureCode.NOT_AUTHORISED),
        (404, FailureCode.MODEL_NOT_FOUND),
        (429, FailureCode.RATE_LIMITED),
        (500, FailureCode.BACKEND_ERROR),
        (307, FailureCode.REQUEST_REFUSED),
    ],
)
def test_a_refusal_has_its_code_and_is_not_asked_again(
    hosted: Hosted, tmp_path: Path, status: int, code: FailureCode
) -> None:
    error, calls = served(hosted, tmp_path, failing_chat, status=status)
    assert (error.code, error.http_status) == (code, status)
    assert len(calls) == 1
    assert KEY not in repr(error)


@each_provider
def test_a_refused_key_shows_before_the_first_call(hosted: Hosted, tmp_path: Path) -> None:
    async def look(services: Services) -> list[tuple[FailureCode, str]]:
        found = (await services.connections.unready()).values()
        return [(cause.code, cause.cure) for cause in found]

    ((code, cure),), _ = served(hosted, tmp_path, look, status=401)
    assert code is FailureCode.NOT_AUTHORISED
    assert hosted.key_variable in cure
    assert KEY not in cure


@each_provider
def test_no_proxy_of_the_environment_sees_a_prompt(
    hosted: Hosted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> tuple[list[HttpCall], list[HttpCall]]:
        async with (
            RecordingServer(lambda _: (200, hosted.reply)) as server,
            RecordingServer() as proxy,
        ):
            for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
                monkeypatch.setenv(name, proxy.url)
                monkeypatch.setenv(name.lower(), proxy.url)
            await with_model(hosted, tmp_path, server.url, chat)
            return server.calls, proxy.calls

    reached, passed = asyncio.run(run())
    assert len(reached) == 1
    assert passed == []


@each_provider
def test_a_proxy_that_is_named_takes_the_calls(hosted: Hosted, tmp_path: Path) -> None:
    async def run() -> list[HttpCall]:
        async with RecordingServer(lambda _: (200, hosted.reply)) as proxy:
            environment = {"MODEL_HTTP_PROXY": proxy.url}
            await with_model(hosted, tmp_path, "http://nowhere.invalid", chat, **environment)
            return proxy.calls

    (call,) = asyncio.run(run())
    assert SECRET.encode() in call.body


@pytest.mark.parametrize("hosted", [OPENAI, ANTHROPIC, GOOGLE], ids=lambda hosted: hosted.model)
def test_a_missing_key_is_refused_at_the_start(hosted: Hosted, tmp_path: Path) -> None:
    async def start() -> None:
        settings = load_settings(
            {"MODEL_DEFAULT": hosted.model, "DATA_STATE_DIR": str(tmp_path)}, None
        )
        async with bootstrap(settings):
            pytest.fail("it started without a key")

    with pytest.raises(ConfigurationError, match=hosted.key_variable):
        asyncio.run(start())


def test_other_names_of_variables_are_read_too() -> None:
    environment = {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:9"}
    settings = load_settings(environment, None)
    assert settings.google.api_key.get_secret_value() == KEY
    assert settings.google.base_url == "http://127.0.0.1:9"


def test_models_at_one_address_under_two_protocols_keep_their_keys_apart(tmp_path: Path) -> None:
    async def both(services: Services) -> None:
        for name in ("ollama:fake", "openai-chat:fake"):
            (route,) = services.connections.chain(name)
            assert route.chat is not None
            await route.chat.simple_chat(SECRET)

    def answer(call: HttpCall) -> tuple[int, object]:
        if call.path == "/api/chat":
            return 200, {"message": {"content": "ready"}}
        return 200, OPENAI_CHAT.reply

    async def run() -> list[HttpCall]:
        async with RecordingServer(answer) as server:
            environment = {"OLLAMA_HOST": server.url, "MODEL_FALLBACKS": ""}
            await with_model(OPENAI_CHAT, tmp_path, f"{server.url}/v1", both, **environment)
            return server.calls

    keys = {call.path: call.headers.get("authorization") for call in asyncio.run(run())}
    assert keys == {"/api/chat": None, "/v1/chat/completions": f"Bearer {KEY}"}
