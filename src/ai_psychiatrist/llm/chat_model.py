"""Models of servers that speak OpenAI's chat completions or Ollama's native chat.

Both wires are written here, and not left to the libraries: of an answer the words are read and all
else is bookkeeping that servers fill in as they like, Ollama's imitation of OpenAI's interface has
no place for the context window and cuts long prompts silently, and the SDK takes a third of the CPU
time of a call.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import urlsplit

import httpx2
from pydantic_ai.messages import (
    FinishReason,
    ModelMessage,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)
from pydantic_ai.models import Model, ModelRequestParameters, check_allow_model_requests
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.llm.failures import http_failure, told_failure
from ai_psychiatrist.llm.http_client import Access
from ai_psychiatrist.llm.providers import OLLAMA
from ai_psychiatrist.llm.recording_model import sent_messages

Wire: TypeAlias = Literal["openai", "ollama"]

ODD_FIELDS: Final = "odd_fields"
"""Provider detail of a response: what of its bookkeeping is missing, null or of another type."""

CLOUD: Final = "-cloud"
"""Ends the names of models that Ollama passes on to its own servers, where no schema holds."""
_OPENAI_HOST: Final = "api.openai.com"
_PATHS: Final[Mapping[Wire, str]] = {"openai": "/chat/completions", "ollama": "/api/chat"}
_REFUSALS: Final = frozenset({400, 422})
_OPTIONAL: Final = (
    *("temperature", "max_tokens", "max_completion_tokens", "reasoning_effort"),
    *("chat_template_kwargs", "think", "response_format", "format", "tool_choice"),
)
"""What a call can do without, or say under another name."""
_NO_SYSTEM_ROLE: Final = re.compile(r"\bsystem (?:role|message|prompt)|role\W+system\b")
_LONGEST_ERROR: Final = 300
"""Characters of an error that are read: a server may quote the prompt behind them."""
_BOOKKEEPING: Final[Mapping[Wire, tuple[Mapping[str, type], ...]]] = {
    "openai": (
        {"id": str, "object": str, "created": int, "model": str, "usage": dict},
        {"index": int, "finish_reason": str},
        {"role": str},
        {"prompt_tokens": int, "completion_tokens": int},
    ),
    "ollama": (
        {"model": str, "created_at": str, "prompt_eval_count": int, "eval_count": int},
        {"done_reason": str},
        {"role": str},
    ),
}
"""What a response, its choice, its message and its usage hold beside the words."""
_FINISH_REASONS: Final[Mapping[object, FinishReason]] = {
    "length": "length",
    "content_filter": "content_filter",
    "tool_calls": "tool_call",
    "function_call": "tool_call",
}


class ChatModel(Model):
    """One model of a chat server."""

    def __init__(
        self,
        model_name: str,
        access: Access,
        *,
        num_ctx: int | None = None,
        settings: ModelSettings | None = None,
    ) -> None:
        """`num_ctx`: context window in tokens to ask Ollama for; `None` leaves it to the server."""
        self.left_out: set[str] = set()
        """Parameters that the server refused for this model; `system` for the system's role."""
        super().__init__(
            settings=settings,
            profile=ModelProfile(
                supports_json_schema_output=not model_name.endswith(CLOUD),
                # A server that cannot is asked without it once it has refused it.
                supports_thinking=True,
            ),
        )
        self._model_name = model_name
        self._access = access
        self._num_ctx = num_ctx
        self._wire: Wire = "ollama" if access.provider is OLLAMA else "openai"
        self._is_openai = urlsplit(access.address).hostname == _OPENAI_HOST
        """Whether it is OpenAI itself, which knows schemas and bounds that others do not."""

    @property
    def model_name(self) -> str:
        """The model's name at the server."""
        return self._model_name

    @property
    def system(self) -> str:
        """The provider's name."""
        return self._wire

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Send one request; raises `ModelCallFailed`."""
        check_allow_model_requests()
        settings, parameters = self.prepare_request(model_settings, model_request_parameters)
        access = self._access
        payload = self._payload(messages, settings or ModelSettings(), parameters)
        response = await access.http.post(
            access.address + _PATHS[self._wire],
            json=payload,
            headers={"Authorization": f"Bearer {access.key}"} if access.key else None,
            timeout=access.timeout_seconds,
        )
        if not response.is_success:
            failure = http_failure(response.status_code, response.text, response.headers)
            failure.is_adjusted = self._leaves_out(response, payload)
            raise failure
        body = json_object(response.content)
        if "error" in body and not (body.get("choices") or body.get("message")):
            raise told_failure(body["error"], response.headers)
        return _response(self._wire, body)

    def _payload(
        self,
        messages: list[ModelMessage],
        settings: ModelSettings,
        parameters: ModelRequestParameters,
    ) -> dict[str, object]:
        has_system_role = "system" not in self.left_out
        payload: dict[str, object] = {
            "model": self._model_name,
            "messages": _chat_messages(messages, has_system_role=has_system_role),
        }
        if self._wire == "openai":
            bound = "max_completion_tokens" if self._is_openai else "max_tokens"
            if bound in self.left_out:
                bound = "max_tokens" if self._is_openai else "max_completion_tokens"
            payload |= _openai_fields(settings, parameters, bound, is_openai=self._is_openai)
        else:
            payload |= _ollama_fields(settings, parameters, self._num_ctx)
        payload |= _thinking_fields(parameters.thinking, self._wire, is_openai=self._is_openai)
        payload["stream"] = False
        more = settings.get("extra_body")
        payload |= more if isinstance(more, dict) else {}
        return {name: value for name, value in payload.items() if name not in self.left_out}

    def _leaves_out(self, response: httpx2.Response, payload: Mapping[str, object]) -> bool:
        """Note a parameter that a response refuses; returns whether calls now go without it."""
        if response.status_code not in _REFUSALS:
            return False
        words = _error_words(response)
        # Ollama refuses `think` as "does not support thinking".
        named = [
            one for one in _OPTIONAL if one in payload and re.search(rf"\b{one}(?:ing)?\b", words)
        ]
        if "system" not in self.left_out and _NO_SYSTEM_ROLE.search(words):
            named.append("system")
        self.left_out.update(named[:1])
        return bool(named)


def _error_words(response: httpx2.Response) -> str:
    """Return what a response names as refused, in lower case; the rest of it may be the prompt."""
    try:
        error = json_object(response.content).get("error")
    except ModelCallFailed:
        return ""
    told = error if isinstance(error, dict) else {"message": error}
    words = (str(told.get(name) or "")[:_LONGEST_ERROR] for name in ("param", "code", "message"))
    return " ".join(words).lower()


def _thinking_fields(thinking: object, wire: Wire, *, is_openai: bool) -> dict[str, object]:
    """Return how much to think, as each kind of server has it; none is left to the server."""
    if thinking is None:
        return {}
    is_on = thinking is not False
    if wire == "ollama":
        return {"think": thinking if is_on else False}
    if is_openai:
        return {"reasoning_effort": thinking if is_on else "none"}
    # vLLM, SGLang and llama.cpp hand these to the template: Qwen's name of it, and DeepSeek's.
    template = {"enable_thinking": is_on, "thinking": is_on}
    effort = {"reasoning_effort": thinking} if is_on else {}
    return {"chat_template_kwargs": template, **effort}


def _openai_fields(
    settings: ModelSettings, parameters: ModelRequestParameters, bound: str, *, is_openai: bool
) -> dict[str, object]:
    """`bound`: the name of the longest reply, which OpenAI's newer models know by a newer one."""
    fields: dict[str, object] = {}
    tools = [_openai_tool(tool, is_openai=is_openai) for tool in parameters.output_tools]
    if tools:
        # Of one required tool nothing else can be called; llama.cpp takes its name for no choice.
        fields |= {"tools": tools, "tool_choice": "required"}
    if settings.get("max_tokens") is not None:
        fields[bound] = settings.get("max_tokens")
    wanted = parameters.output_object
    if parameters.output_mode == "native" and wanted is not None:
        schema = _openai_schema(wanted.json_schema, is_openai=is_openai)
        described = {"name": wanted.name, "description": wanted.description, **schema}
        fields["response_format"] = {"type": "json_schema", "json_schema": described}
    if settings.get("temperature") is not None:
        fields["temperature"] = settings.get("temperature")
    return fields


def _openai_tool(tool: ToolDefinition, *, is_openai: bool) -> dict[str, object]:
    schema = _openai_schema(tool.parameters_json_schema, is_openai=is_openai)
    schema["parameters"] = schema.pop("schema")
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description or "", **schema},
    }


def _openai_schema(schema: dict[str, Any], *, is_openai: bool) -> dict[str, object]:
    """Return a schema with what OpenAI itself needs to keep to it; other servers refuse some."""
    if not is_openai:
        return {"schema": schema}
    transformer = OpenAIJsonSchemaTransformer(schema, strict=None)
    walked = transformer.walk()
    return {"schema": walked, "strict": transformer.is_strict_compatible}


def _ollama_fields(
    settings: ModelSettings, parameters: ModelRequestParameters, num_ctx: int | None
) -> dict[str, object]:
    options = {
        "temperature": settings.get("temperature"),
        "num_predict": settings.get("max_tokens"),
        "num_ctx": num_ctx,
    }
    fields: dict[str, object] = {
        # Servers that know these refuse an overlong prompt; older ones cut it silently, which the
        # token count of the response shows.
        "truncate": False,
        "shift": False,
        "options": {name: value for name, value in options.items() if value is not None},
    }
    tools = [_openai_tool(tool, is_openai=False) for tool in parameters.output_tools]
    if tools:
        fields["tools"] = tools
    if parameters.output_mode == "native" and parameters.output_object is not None:
        fields["format"] = parameters.output_object.json_schema
    return fields


def _chat_messages(
    messages: list[ModelMessage], *, has_system_role: bool
) -> list[dict[str, object]]:
    """Return the messages as both wires have them.

    For a model without a role of the system, its words begin the user's.
    """
    sent = list(sent_messages(messages))
    if sent[0].role == "system" and not has_system_role:
        system, first, *rest = sent
        sent = [first._replace(text=f"{system.text}\n\n{first.text}"), *rest]
    return [{"role": one.role, "content": one.text} for one in sent]


def _response(wire: Wire, body: Mapping[str, object]) -> ModelResponse:
    """Read the text and, under the field names of both protocols, its metadata."""
    choices = body.get("choices")
    listed = choices[0] if isinstance(choices, list) and choices else None
    choice = body if wire == "ollama" else listed
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise ModelCallFailed(FailureCode.MALFORMED_RESPONSE)
    if message.get("refusal"):
        raise ModelCallFailed(FailureCode.CONTENT_FILTERED)
    usage, model = body.get("usage"), body.get("model")
    counts = (usage,) if isinstance(usage, dict) else ()
    thinking = message.get("reasoning") or message.get("reasoning_content")
    finish_reason = choice.get("finish_reason") or choice.get("done_reason")
    return ModelResponse(
        parts=list(_parts(message, thinking or message.get("thinking"))),
        usage=RequestUsage(
            input_tokens=_count(usage, "prompt_tokens") or _count(body, "prompt_eval_count"),
            output_tokens=_count(usage, "completion_tokens") or _count(body, "eval_count"),
            cache_read_tokens=_count(usage, "prompt_tokens_details", "cached_tokens"),
        ),
        model_name=model if isinstance(model, str) else None,
        provider_name=wire,
        provider_details={
            "logprobs": _at(choice, "logprobs", "content") or body.get("logprobs"),
            "system_fingerprint": body.get("system_fingerprint"),
            ODD_FIELDS: _odd_fields(wire, body, choice, message, *counts),
        },
        finish_reason=_FINISH_REASONS.get(finish_reason, "stop")
        if isinstance(finish_reason, str)
        else "stop",
    )


def _odd_fields(wire: Wire, *holders: Mapping[str, object]) -> tuple[str, ...]:
    """Return what of the bookkeeping is missing, null or of another type."""
    return tuple(
        name
        for holder, kinds in zip(holders, _BOOKKEEPING[wire], strict=False)
        for name, kind in kinds.items()
        if type(holder.get(name)) is not kind
    )


def _parts(message: Mapping[str, object], thinking: object) -> Iterator[ModelResponsePart]:
    text, calls = _text(message.get("content")), message.get("tool_calls")
    if isinstance(thinking, str) and thinking:
        yield ThinkingPart(thinking)
    if text:
        yield TextPart(text)
    for call in calls if isinstance(calls, list) else []:
        name, arguments = _at(call, "function", "name"), _at(call, "function", "arguments")
        if not isinstance(name, str):
            raise ModelCallFailed(FailureCode.MALFORMED_RESPONSE)
        is_written = isinstance(arguments, str | dict)
        yield ToolCallPart(name, arguments if is_written else json.dumps(arguments))


def _text(content: object) -> str:
    """Return the words of a message: a string or, as some servers have it, a list of parts.

    Raises `ModelCallFailed` for anything else but null, which stands for no words.
    """
    if content is None:
        return ""
    if isinstance(content, list):
        texts = [_at(part, "text") for part in content]
        content = "".join(text for text in texts if isinstance(text, str))
    if not isinstance(content, str):
        raise ModelCallFailed(FailureCode.MALFORMED_RESPONSE)
    return content


def json_object(body: bytes) -> dict[str, object]:
    """Return the object of a response; raises `ModelCallFailed` when it holds none."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise ModelCallFailed(FailureCode.MALFORMED_RESPONSE) from None
    if not isinstance(value, dict):
        raise ModelCallFailed(FailureCode.MALFORMED_RESPONSE)
    return value


def _at(value: object, *path: str) -> Any:  # noqa: ANN401  JSON of any server
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _count(body: object, *path: str) -> int:
    """Return the count at a path of a response, 0 when there is none."""
    value = _at(body, *path)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
