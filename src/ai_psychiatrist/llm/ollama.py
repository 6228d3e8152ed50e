"""A model of an Ollama server over its native interface, `POST /api/chat`.

The server's imitation of OpenAI's interface has no place for the context window, so it cuts long
prompts silently; and one interface for plain calls and agents is one thing to trust.
"""

import json
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Final

import httpx2
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    RetryFeedbackPart,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters, check_allow_model_requests
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage

from ai_psychiatrist.llm.call_failures import http_failure
from ai_psychiatrist.llm.http_json import count_at, json_object, text_at
from ai_psychiatrist.llm.user_text import user_text

CLOUD: Final = "-cloud"
"""Ends the names of models that the server passes on to Ollama's own, where no schema holds."""


class OllamaChatModel(Model):
    """One model of an Ollama server."""

    def __init__(
        self,
        model_name: str,
        *,
        base_url: str,
        http: httpx2.AsyncClient,
        timeout_seconds: float,
        num_ctx: int | None = None,
        settings: ModelSettings | None = None,
    ) -> None:
        """`num_ctx`: context window in tokens to ask for; `None` leaves it to the server."""
        schema = ModelProfile(supports_json_schema_output=not model_name.endswith(CLOUD))
        super().__init__(settings=settings, profile=schema)
        self._model_name = model_name
        self._base_url = base_url
        self._http = http
        self._timeout_seconds = timeout_seconds
        self._num_ctx = num_ctx

    @property
    def model_name(self) -> str:
        """The model's name at the server."""
        return self._model_name

    @property
    def system(self) -> str:
        """The provider's name."""
        return "ollama"

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Send one request; raises `ModelCallFailed` or what the transport raises."""
        check_allow_model_requests()
        settings, parameters = self.prepare_request(model_settings, model_request_parameters)
        response = await self._http.post(
            f"{self._base_url}/api/chat",
            json=self._payload(messages, settings or {}, parameters),
            timeout=self._timeout_seconds,
        )
        if not response.is_success:
            raise http_failure(response.status_code, response.text, response.headers)
        return _response(json_object(response.content))

    def _payload(
        self,
        messages: list[ModelMessage],
        settings: ModelSettings,
        parameters: ModelRequestParameters,
    ) -> dict[str, object]:
        payload: dict[str, object] = {
            "model": self._model_name,
            "messages": [*_instructions(messages), *chain.from_iterable(map(_written, messages))],
            "stream": False,
            # Servers that know these refuse an overlong prompt; older ones cut it silently, which
            # the token count of the response shows.
            "truncate": False,
            "shift": False,
            "options": self._options(settings),
        }
        tools = [*parameters.function_tools, *parameters.output_tools]
        if tools:
            payload["tools"] = [_tool(tool) for tool in tools]
        if parameters.output_mode == "native" and parameters.output_object is not None:
            payload["format"] = parameters.output_object.json_schema
        more = settings.get("extra_body")
        return payload | more if isinstance(more, dict) else payload

    def _options(self, settings: ModelSettings) -> dict[str, object]:
        options = {
            "temperature": settings.get("temperature"),
            "num_predict": settings.get("max_tokens"),
            "num_ctx": self._num_ctx,
        }
        return {name: value for name, value in options.items() if value is not None}


def _instructions(messages: list[ModelMessage]) -> list[Mapping[str, object]]:
    """Return the system's message, once: each request of a conversation names the same."""
    named = [one.instructions for one in messages if isinstance(one, ModelRequest)]
    return [{"role": "system", "content": named[0]}] if named and named[0] else []


def _written(message: ModelMessage) -> list[Mapping[str, object]]:
    if isinstance(message, ModelResponse):
        return [_reply(message)]
    return [_asked(part) for part in message.parts]


def _asked(part: ModelRequestPart) -> Mapping[str, object]:
    match part:
        case SystemPromptPart():
            return {"role": "system", "content": part.content}
        case UserPromptPart():
            return {"role": "user", "content": user_text(part)}
        case ToolReturnPart():
            content = part.model_response_str()
            return {"role": "tool", "tool_name": part.tool_name, "content": content}
        case RetryFeedbackPart():
            return {"role": "user", "content": part.model_response()}
        case _:
            msg = f"no message of Ollama's for a part of kind {part.part_kind!r}"
            raise NotImplementedError(msg)


def _reply(message: ModelResponse) -> Mapping[str, object]:
    calls = [
        {"function": {"name": part.tool_name, "arguments": part.args_as_dict()}}
        for part in message.parts
        if isinstance(part, ToolCallPart)
    ]
    text = "".join(part.content for part in message.parts if isinstance(part, TextPart))
    return {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}


def _tool(tool: ToolDefinition) -> Mapping[str, object]:
    function = {
        "name": tool.name,
        "description": tool.description or "",
        "parameters": tool.parameters_json_schema,
    }
    return {"type": "function", "function": function}


def _response(body: dict[str, object]) -> ModelResponse:
    return ModelResponse(
        parts=list(_parts(body)),
        usage=RequestUsage(
            input_tokens=count_at(body, "prompt_eval_count") or 0,
            output_tokens=count_at(body, "eval_count") or 0,
        ),
        provider_name="ollama",
        provider_details={"logprobs": body["logprobs"]} if body.get("logprobs") else None,
        finish_reason="length" if body.get("done_reason") == "length" else "stop",
    )


def _parts(body: dict[str, object]) -> Iterator[ModelResponsePart]:
    text = text_at(body, "message", "content")
    message = body["message"]
    told = message if isinstance(message, dict) else {}
    thought, calls = told.get("thinking"), told.get("tool_calls")
    if isinstance(thought, str) and thought:
        yield ThinkingPart(thought)
    if text:
        yield TextPart(text)
    for call in calls if isinstance(calls, list) else []:
        yield ToolCallPart(text_at(call, "function", "name"), _arguments(call))


def _arguments(call: dict[str, object]) -> str | dict[str, object]:
    function = call["function"]
    arguments = function.get("arguments") if isinstance(function, dict) else None
    if isinstance(arguments, str | dict):
        return arguments
    return json.dumps(arguments)
