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
        msg = "write host names or addresses alone, such as gpu.example, without scheme and port"
        raise ValueError(msg)
    return tuple(map(plain_host, hosts))


class PydanticAISettings(Options):
    """How models are asked through Pydantic AI."""

    model_config = SettingsConfigDict(env_prefix="PYDANTIC_AI_")

    enabled: bool = Field(
        default=True,
        description="Ask through Pydantic AI; false makes one plain chat call an agent.",
    )
    retries: int = Field(
        default=3,
        ge=0,
        le=10,
        description="Further calls when a reply is rejected; in interviews at most one.",
    )
    timeout_seconds: float | None = Field(
        default=None,
        gt=0,
        description="Longest wait for one model call; empty: the backend's own.",
    )


class ModelCallSettings(Options):
    """Which models the agents ask, and what bounds their calls."""

    model_config = SettingsConfigDict(env_prefix="MODEL_")
    empty_is_none = frozenset({"temperature"})

    default: str = Field(
        default="baseline",
        description="Model of every agent that names none, such as `ollama:gemma3:27b`.",
    )
    qualitative_model: str | None = Field(
        default=None, description="Model of the qualitative agent; empty: the default."
    )
    quantitative_model: str | None = Field(
        default=None,
        description="Model of evidence and scores; empty: the default.",
    )
    judge_model: str | None = Field(
        default=None, description="Model of the judge; empty: the default."
    )
    meta_review_model: str | None = Field(
        default=None, description="Model of the meta-review; empty: the default."
    )
    fallbacks: CommaList[str] = Field(
        default=(),
        description="Models to ask next, in order, when one gives nothing acceptable.",
    )
    temperature: Annotated[float, Field(ge=0.0, le=2.0)] | None = Field(
        default=0.0, description="Sampling temperature, 0-2; empty: none is sent."
    )
    thinking: Annotated[
        dict[str, Literal["off", "low", "medium", "high", ""]],
        AfterValidator(_named_models),
        BeforeValidator(_one_or_by_model),
    ] = Field(
        default={},
        description="How much models think: `off`, `low`, `medium` or `high`, or a JSON object of "
        "these by model name, `*` for all others; empty: as the provider has it.",
    )
    output_mode: OutputModeOfModels = Field(
        default="auto",
        description="How replies come in the form that is asked for: `native`, held to a schema by "
        "every server that can, or `text`, by the prompt alone; `auto`: native at Ollama.",
    )
    extra_body: Annotated[
        dict[str, dict[str, object]],
        AfterValidator(_without_fields_of_the_call),
        AfterValidator(_named_models),
        BeforeValidator(_json_object),
    ] = Field(
        default={},
        repr=False,
        description="Further fields of requests: a JSON object of JSON objects by model name, `*` "
        "for all others.",
    )
    local_only: bool = Field(
        default=False,
        description="Refuse every model and embedder of another machine than this and those of "
        "MODEL_LOCAL_HOSTS.",
    )
    local_hosts: Annotated[CommaList[str], AfterValidator(_host_names)] = Field(
        default=(),
        description="Hosts that MODEL_LOCAL_ONLY allows beside this machine.",
    )
    max_calls: int = Field(default=60, ge=1, description="Most model calls of one assessment.")
    max_reply_bytes: int = Field(
        default=262_144, ge=1024, description="Longest reply that is read, in bytes of UTF-8."
    )
    busy_waits_seconds: CommaList[Annotated[float, Field(ge=0)]] = Field(
        default=(1.0, 2.0, 4.0),
        description="Waits before further calls to a busy server, unless it names longer.",
    )
    max_concurrency: int = Field(
        default=16, ge=1, description="Most calls under way at one backend."
    )
    first_call_ahead: Literal["auto", "always", "never"] = Field(
        default="auto",
        description="Send the first call of an assessment alone, so that the others find the "
        "transcript in the provider's cache. `auto`: in runs over datasets, where nobody waits.",
    )
    max_output_tokens: int = Field(
        default=8192, ge=16, description="Longest reply that a model may write, in tokens."
    )
    http_proxy: WebAddress | None = Field(
        default=None,
        description="Proxy on the way to the models; HTTP_PROXY and its like are not followed.",
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
        description="API key of that server, if it asks for one; `openai:` models need it.",
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
        description="Base URL; empty: the Gemini API. GOOGLE_GEMINI_BASE_URL is read, too.",
    )
    api_key: ApiKey = Field(
        default=SecretStr(""),
        validation_alias=AliasChoices("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        description="API key of the Gemini API. GEMINI_API_KEY is read, too.",
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
    port: int = Field(default=11434, ge=1, le=65535, description="Port, unless the host names one.")
    timeout_seconds: float = Field(
        default=600.0,
        gt=0,
        description="Longest wait for one call, unless PYDANTIC_AI_TIMEOUT_SECONDS is set.",
    )
    num_ctx: int | None = Field(
        default=None,
        ge=256,
        description="Context window in tokens; a longer prompt fails, and is never cut.",
    )

    @property
    def base_url(self) -> str:
        """The server's URL without a trailing slash."""
        return _ollama_url(self.host, self.port)


OutputModeSetting: TypeAlias = Literal["auto", "tool", "native", "text"]
"""`auto`: a tool where the model is asked through Pydantic AI, text otherwise."""


class BatchSettings(Options):
    """How large batches are, and how they are waited for."""

    model_config = SettingsConfigDict(env_prefix="BATCH_")

    most_calls: int = Field(
        default=10_000, ge=1, description="Most calls of one batch; a provider may allow fewer."
    )
    tries: int = Field(
        default=3,
        ge=1,
        le=10,
        description="How often a call is handed in that a batch leaves unanswered.",
    )
    poll_seconds: float = Field(
        default=60.0,
        gt=0,
        description="First wait of --wait; each next is half as long again, up to 15 minutes.",
    )
