"""One model server as this program speaks to it: its address, its key and its own kind of model."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

import httpx2
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.llm import providers
from ai_psychiatrist.llm.ollama import OllamaChatModel
from ai_psychiatrist.llm.providers import Provider
from ai_psychiatrist.llm.settings import OllamaSettings

NO_KEY: Final = "none"
"""What goes out where a client insists on a key and the server has none."""
_NO_TAG: Final = "<no tag of any model's thinking>"
_OPENAI_HOST: Final = "api.openai.com"
_ANTHROPIC_VERSION: Final = "2023-06-01"


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """One server, under one key."""

    provider: Provider
    address: str
    build: Callable[[str, ModelSettings], Model] = field(repr=False)
    """Makes a model from its name at the server; all share one client."""
    models_url: str
    """Lists the models; where `{model}` is in it, it says whether this one is there."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What the list is asked with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How a server is reached."""

    address: str
    key: str = field(repr=False)
    http: httpx2.AsyncClient = field(repr=False)
    timeout_seconds: float


def ollama_backend(access: Access, settings: OllamaSettings) -> Backend:
    """Return an Ollama server."""

    def build(model: str, options: ModelSettings) -> Model:
        return OllamaChatModel(
            model,
            base_url=access.address,
            http=access.http,
            timeout_seconds=access.timeout_seconds,
            num_ctx=settings.num_ctx,
            settings=options,
        )

    return Backend(
        provider=providers.OLLAMA,
        address=access.address,
        build=build,
        models_url=f"{access.address}/api/tags",
    )


def openai_backend(access: Access, provider: Provider) -> Backend:
    """Return a server of OpenAI's protocols: chat completions, or responses for OpenAI itself."""
    # Half a second that only those wait for who ask such a server.
    from openai import AsyncOpenAI  # noqa: PLC0415
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel  # noqa: PLC0415
    from pydantic_ai.profiles.openai import OpenAIModelProfile  # noqa: PLC0415
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415

    from ai_psychiatrist.llm.openai_client import OpenAIClient  # noqa: PLC0415

    client: AsyncOpenAI
    if provider is providers.OPENAI:
        # Batches are handed in through copies of the client, which only its own kind can make.
        client = AsyncOpenAI(
            base_url=access.address,
            api_key=access.key or NO_KEY,
            timeout=access.timeout_seconds,
            max_retries=0,
            http_client=access.http,
        )
    else:
        client = OpenAIClient(
            address=access.address,
            key=access.key or NO_KEY,
            http=access.http,
            seconds=access.timeout_seconds,
        )
    is_openai = urlsplit(access.address).hostname == _OPENAI_HOST
    profile = OpenAIModelProfile(
        # The library would drop the tag of thinking that never ends, and its drafts would be text.
        thinking_tags=(_NO_TAG, _NO_TAG),
        # Tokens are broken where a text is quoted in a prompt; the library would look for them once
        # more in all of each prompt and reply, on the event loop.
        may_tokenize_special_tokens_in_content=False,
        # Other servers know the older name of this bound, which OpenAI's newer models refuse.
        openai_chat_supports_max_completion_tokens=is_openai,
    )

    def build(model: str, options: ModelSettings) -> Model:
        connected = OpenAIProvider(openai_client=client)
        if provider is providers.OPENAI:
            return OpenAIResponsesModel(model, provider=connected, settings=options)
        return OpenAIChatModel(model, provider=connected, profile=profile, settings=options)

    return Backend(
        provider=provider,
        address=access.address,
        build=build,
        models_url=f"{access.address}/models",
        headers={"Authorization": f"Bearer {access.key}"} if access.key else {},
    )


def anthropic_backend(access: Access) -> Backend:
    """Return Anthropic; raises `ConfigurationError` where its package is not installed."""
    try:
        from anthropic import AsyncAnthropic  # noqa: PLC0415  an extra
        from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415
        from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415
    except ImportError:
        raise _extra_missing(providers.ANTHROPIC) from None
    client = AsyncAnthropic(
        base_url=access.address,
        api_key=access.key,
        timeout=access.timeout_seconds,
        max_retries=0,
        http_client=access.http,
    )

    def build(model: str, options: ModelSettings) -> Model:
        connected = AnthropicProvider(anthropic_client=client)
        return AnthropicModel(model, provider=connected, settings=options)

    return Backend(
        provider=providers.ANTHROPIC,
        address=access.address,
        build=build,
        models_url=f"{access.address}/v1/models/{{model}}",
        headers={**client.auth_headers, "anthropic-version": _ANTHROPIC_VERSION},
    )


def google_backend(access: Access) -> Backend:
    """Return the Gemini API; raises `ConfigurationError` where its package is not installed."""
    try:
        from google.genai.types import HttpRetryOptions  # noqa: PLC0415  an extra
        from pydantic_ai.models.google import GoogleModel  # noqa: PLC0415
        from pydantic_ai.providers.google import GoogleProvider  # noqa: PLC0415
    except ImportError:
        raise _extra_missing(providers.GOOGLE) from None
    connected = GoogleProvider(
        api_key=access.key,
        base_url=access.address,
        http_client=access.http,
        retry_options=HttpRetryOptions(attempts=1),
    )

    def build(model: str, options: ModelSettings) -> Model:
        return GoogleModel(model, provider=connected, settings=options)

    return Backend(
        provider=providers.GOOGLE,
        address=access.address,
        build=build,
        models_url=f"{access.address}/v1beta/models/{{model}}",
        headers={"x-goog-api-key": access.key},
    )


def _extra_missing(provider: Provider) -> ConfigurationError:
    return ConfigurationError(
        f"{provider.name}: models need an extra: pip install 'ai-psychiatrist[{provider.extra}]'"
    )
