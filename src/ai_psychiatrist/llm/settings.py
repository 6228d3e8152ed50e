"""Options of the models and their backends; each is read from the environment by `config` alone."""

from typing import Annotated, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr


class Options(BaseModel):
    """One group of settings: fixed, without unknown names, and silent about values."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


def _web_address(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_whole = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_whole = False
    if not is_whole or any(character.isspace() for character in url):
        msg = "an address begins with http:// or https:// and names a host"
        raise ValueError(msg)
    return url.rstrip("/")


WebAddress = Annotated[str, AfterValidator(_web_address)]


def _api_key(key: SecretStr) -> SecretStr:
    text = key.get_secret_value().strip()
    if not all("!" <= character <= "~" for character in text):
        msg = "a key holds no blanks, line breaks or letters beyond ASCII; copy it again"
        raise ValueError(msg)
    return SecretStr(text)


ApiKey = Annotated[SecretStr, AfterValidator(_api_key)]


class PydanticAISettings(Options):
    """How models are asked through Pydantic AI."""

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
    fallbacks: tuple[str, ...] = Field(
        default=(),
        description="Models to ask next, in order, when one gives nothing acceptable.",
    )
    temperature: float = Field(
        default=0.0, ge=0.0, le=2.0, description="Sampling temperature, 0-2."
    )
    max_calls: int = Field(default=60, ge=1, description="Most model calls of one assessment.")
    max_reply_bytes: int = Field(
        default=262_144, ge=1024, description="Longest reply that is read, in bytes of UTF-8."
    )
    busy_waits_seconds: tuple[Annotated[float, Field(ge=0)], ...] = Field(
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


class OpenAISettings(Options):
    """Where `openai-chat:` models are served, and `openai:` ones unless that is OpenAI itself."""

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

    base_url: WebAddress | None = Field(
        default=None, description="Base URL; empty: Anthropic itself."
    )
    api_key: ApiKey = Field(default=SecretStr(""), description="API key of Anthropic.")


class GoogleSettings(Options):
    """Where `google:` models are served."""

    base_url: WebAddress | None = Field(
        default=None,
        description="Base URL; empty: the Gemini API. GOOGLE_GEMINI_BASE_URL is read, too.",
    )
    api_key: ApiKey = Field(
        default=SecretStr(""),
        description="API key of the Gemini API. GEMINI_API_KEY is read, too.",
    )


def _ollama_host(host: str) -> str:
    _web_address(_ollama_url(host, 1))
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

    most_calls: int = Field(
        default=10_000, ge=1, description="Most calls of one batch; a provider may allow fewer."
    )
    most_bytes: int = Field(
        default=67_108_864,
        ge=1_048_576,
        description="Most bytes of one batch; they are held in memory while it is handed in.",
    )
    tries: int = Field(
        default=3,
        ge=1,
        le=10,
        description="How often a call is handed in that a batch leaves unanswered.",
    )
    poll_seconds: float = Field(
        default=60.0, gt=0, description="First wait of --wait; each next is half as long again."
    )
    most_poll_seconds: float = Field(
        default=900.0, gt=0, description="Longest wait of --wait before a batch is looked at."
    )
