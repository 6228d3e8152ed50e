"""Options of the models and their backends."""

import json
import re
from collections.abc import Mapping
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import AfterValidator, AliasChoices, BeforeValidator, Field, SecretStr
from pydantic_settings import SettingsConfigDict

from ai_psychiatrist.infrastructure.options import (
    ApiKey,
    CommaList,
    Options,
    WebAddress,
    plain_host,
    web_address,
)
from ai_psychiatrist.llm.providers import provider_of

Thinking: TypeAlias = Literal["off", "low", "medium", "high"]
OutputModeOfModels: TypeAlias = Literal["auto", "native", "text"]
_ANY_MODEL: Final = "*"
_HOST: Final = re.compile(r"[\w.-]+|\[[\da-fA-F:.]+\]|[\da-fA-F:.]*:[\da-fA-F:.]*", re.ASCII)
_OF_THE_CALL: Final = frozenset({"model", "messages", "stream"})
"""Fields of a request that say which call it is."""


def _json_object(text: object) -> object:
    if not isinstance(text, str):
        return text
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        msg = 'write a JSON object by model name, such as {"ollama:gemma3:27b": ..., "*": ...}'
        raise ValueError(msg)
    return value


def _refuse_constant(_name: str) -> None:
    raise ValueError


def _one_or_by_model(text: object) -> object:
    if isinstance(text, str) and not text.startswith("{"):
        return {_ANY_MODEL: text}
    return _json_object(text)


def _named_models(by_model: Mapping[str, object]) -> Mapping[str, object]:
    if any(name != _ANY_MODEL and provider_of(name) is None for name in by_model):
        msg = "name models with their provider, such as ollama:gemma3:27b, or * for all others"
        raise ValueError(msg)
    return by_model


def _without_fields_of_the_call(
    bodies: Mapping[str, Mapping[str, object]],
) -> Mapping[str, Mapping[str, object]]:
    if any(_OF_THE_CALL & body.keys() for body in bodies.values()):
        msg = f"{', '.join(sorted(_OF_THE_CALL))} are what the call itself says; leave them out"
        raise ValueError(msg)
    return bodies


def _host_names(hosts: tuple[str, ...]) -> tuple[str, ...]:
    if not all(_HOST.fullmatch(host) for host in hosts):
        msg = "write only host names or addresses, such as gpu.example, without scheme and port"
        raise ValueError(msg)
    return tuple(map(plain_host, hosts))


class PydanticAISettings(Options):
    """How models are called through Pydantic AI."""

    model_config = SettingsConfigDict(env_prefix="PYDANTIC_AI_")

    enabled: bool = Field(
        default=True,
        description=(
            "Call models through Pydantic AI; false makes one plain chat call for each agent."
        ),
    )
    retries: int = Field(
        default=3,
        ge=0,
        le=10,
        description="Further calls after a rejected reply; at most one in interviews.",
    )
    timeout_seconds: float | None = Field(
        default=None,
        gt=0,
        description="Timeout of one model call; empty: the backend's own.",
    )


class ModelCallSettings(Options):
    """Which models the agents use, and the limits of their calls."""

    model_config = SettingsConfigDict(env_prefix="MODEL_")
    empty_is_none = frozenset({"temperature"})

    default: str = Field(
        default="baseline",
        description="Model of every agent without a model of its own, such as `ollama:gemma3:27b`.",
    )
    qualitative_model: str | None = Field(
        default=None, description="Model of the qualitative agent; empty: the default model."
    )
    quantitative_model: str | None = Field(
        default=None,
        description="Model for evidence and scores; empty: the default model.",
    )
    judge_model: str | None = Field(
        default=None, description="Model of the judge; empty: the default model."
    )
    meta_review_model: str | None = Field(
        default=None, description="Model of the meta-review; empty: the default model."
    )
    fallbacks: CommaList[str] = Field(
        default=(),
        description="Models to ask next, in order, if a model gives no acceptable reply.",
    )
    temperature: Annotated[float, Field(ge=0.0, le=2.0)] | None = Field(
        default=0.0, description="Sampling temperature, 0-2; empty: not sent."
    )
    thinking: Annotated[
        dict[str, Literal["off", "low", "medium", "high", ""]],
        AfterValidator(_named_models),
        BeforeValidator(_one_or_by_model),
    ] = Field(
        default={},
        description=(
            "Reasoning effort: `off`, `low`, `medium` or `high`, or a JSON object of these "
            "by model name, `*` for all others; empty: the provider's default."
        ),
    )
    output_mode: OutputModeOfModels = Field(
        default="auto",
        description=(
            "How the format of replies is enforced: `native`, by a schema on every server "
            "that supports it; `text`, by the prompt alone; `auto`: native on Ollama."
        ),
    )
    extra_body: Annotated[
        dict[str, dict[str, object]],
        AfterValidator(_without_fields_of_the_call),
        AfterValidator(_named_models),
        BeforeValidator(_json_object),
    ] = Field(
        default={},
        repr=False,
        description=(
            "Additional fields of requests: a JSON object of JSON objects by model name, "
            "`*` for all others."
        ),
    )
    local_only: bool = Field(
        default=False,
        description=(
            "Refuse models and embedders on machines other than this one and MODEL_LOCAL_HOSTS."
        ),
    )
    local_hosts: Annotated[CommaList[str], AfterValidator(_host_names)] = Field(
        default=(),
        description="Hosts that MODEL_LOCAL_ONLY allows in addition to this machine.",
    )
    max_calls: int = Field(default=60, ge=1, description="Maximum model calls of one assessment.")
    max_reply_bytes: int = Field(
        default=262_144, ge=1024, description="Maximum length of a reply, in bytes of UTF-8."
    )
    busy_waits_seconds: CommaList[Annotated[float, Field(ge=0)]] = Field(
        default=(1.0, 2.0, 4.0),
        description="Waits before repeated calls to a busy server, unless it asks for longer ones.",
    )
    max_concurrency: int = Field(
        default=16, ge=1, description="Maximum calls to one backend at a time."
    )
    first_call_ahead: Literal["auto", "always", "never"] = Field(
        default="auto",
        description=(
            "Send the first call of an assessment alone, so that the others find the "
            "transcript in the provider's cache; `auto`: in dataset runs only."
        ),
    )
    max_output_tokens: int = Field(
        default=8192, ge=16, description="Maximum length of a model's reply, in tokens."
    )
    http_proxy: WebAddress | None = Field(
        default=None,
        description="Proxy for calls to models; HTTP_PROXY and similar variables are ignored.",
    )

    def thinking_of(self, model: str) -> Thinking | None:
        """Return how much a model thinks; `None`: as its provider has it."""
        return self.thinking.get(model, self.thinking.get(_ANY_MODEL)) or None

    def extra_body_of(self, model: str) -> Mapping[str, object]:
        """Return the further fields of requests to a model."""
        return self.extra_body.get(model, self.extra_body.get(_ANY_MODEL, {}))


class OpenAISettings(Options):
    """Where `openai-chat:` models are served, and `openai:` ones unless that is OpenAI itself."""

    model_config = SettingsConfigDict(env_prefix="OPENAI_")

    base_url: WebAddress | None = Field(
        default=None,
        description="Base URL of an OpenAI-compatible server, such as http://127.0.0.1:8080/v1.",
    )
    api_key: ApiKey = Field(
        default=SecretStr(""),
        description="API key of that server, if it needs one; `openai:` models need it.",
    )


class AnthropicSettings(Options):
    """Where `anthropic:` models are served."""

    model_config = SettingsConfigDict(env_prefix="ANTHROPIC_")

    base_url: WebAddress | None = Field(
        default=None, description="Base URL; empty: Anthropic itself."
    )
    api_key: ApiKey = Field(default=SecretStr(""), description="API key of Anthropic.")


class GoogleSettings(Options):
    """Where `google:` models are served."""

    model_config = SettingsConfigDict(env_prefix="GOOGLE_")

    base_url: WebAddress | None = Field(
        default=None,
        validation_alias=AliasChoices("GOOGLE_BASE_URL", "GOOGLE_GEMINI_BASE_URL"),
        description="Base URL; empty: the Gemini API. GOOGLE_GEMINI_BASE_URL works, too.",
    )
    api_key: ApiKey = Field(
        default=SecretStr(""),
        validation_alias=AliasChoices("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        description="API key of the Gemini API. GEMINI_API_KEY works, too.",
    )


def _ollama_host(host: str) -> str:
    web_address(_ollama_url(host, 1))
    return host


def _ollama_url(host: str, port: int) -> str:
    host = host.strip().rstrip("/")
    if "://" in host:
        return host
    if host.count(":") > 1 and "[" not in host:
        host = f"[{host}]"
    if host.rpartition(":")[2].isdigit():
        return f"http://{host}"
    return f"http://{host}:{port}"


class OllamaSettings(Options):
    """Where `ollama:` models are served."""

    model_config = SettingsConfigDict(env_prefix="OLLAMA_")

    host: Annotated[str, AfterValidator(_ollama_host)] = Field(
        default="127.0.0.1", description="Host, host:port or URL of the Ollama server."
    )
    port: int = Field(
        default=11434, ge=1, le=65535, description="Port, unless OLLAMA_HOST contains one."
    )
    timeout_seconds: float = Field(
        default=600.0,
        gt=0,
        description="Timeout of one call, unless PYDANTIC_AI_TIMEOUT_SECONDS is set.",
    )
    num_ctx: int | None = Field(
        default=None,
        ge=256,
        description="Context window in tokens; a longer prompt fails and is never truncated.",
    )

    @property
    def base_url(self) -> str:
        """The server's URL without a trailing slash."""
        return _ollama_url(self.host, self.port)


OutputModeSetting: TypeAlias = Literal["auto", "tool", "native", "text"]
"""`auto`: a tool where the model is asked through Pydantic AI, text otherwise."""


class BatchSettings(Options):
    """Size of batches, and how to wait for them."""

    model_config = SettingsConfigDict(env_prefix="BATCH_")

    most_calls: int = Field(
        default=10_000, ge=1, description="Maximum calls of one batch; a provider may allow fewer."
    )
    tries: int = Field(
        default=3,
        ge=1,
        le=10,
        description="How often to submit a call that a batch leaves unanswered.",
    )
    poll_seconds: float = Field(
        default=60.0,
        gt=0,
        description=(
            "First interval of --wait; each next one is 1.5 times as long, up to 15 minutes."
        ),
    )
