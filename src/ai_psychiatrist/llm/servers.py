"""The servers that models are asked at: one connection each, and what they say about themselves."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import httpx2
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.llm.chat_model import ChatModel
from ai_psychiatrist.llm.endpoints import (
    BUSY_RETRIES,
    DEFAULT_MAX_REPLY_BYTES,
    DEFAULT_TIMEOUT_SECONDS,
    CallRetries,
    EndpointOptions,
    ModelEndpoint,
)
from ai_psychiatrist.llm.http_client import NO_KEY, Access, hosts_of, http_client
from ai_psychiatrist.llm.local_only import require_local, require_local_embedder
from ai_psychiatrist.llm.providers import (
    ANTHROPIC,
    GOOGLE,
    OLLAMA,
    OPENAI,
    PROVIDERS,
    Provider,
    provider_of,
)
from ai_psychiatrist.llm.pydantic_agent import PlainChat
from ai_psychiatrist.llm.reasons import shown_address
from ai_psychiatrist.llm.recording_model import WholePromptModel
from ai_psychiatrist.llm.replies import OutputMode
from ai_psychiatrist.llm.settings import (
    AnthropicSettings,
    GoogleSettings,
    ModelCallSettings,
    OpenAISettings,
)

if TYPE_CHECKING:
    from pydantic_ai.providers.openai import OpenAIProvider

    from ai_psychiatrist.llm.embedders import ServerEmbedder

_ANTHROPIC_VERSION: Final = "2023-06-01"
_MOST_BATCH_BYTES: Final = 1 << 28
"""Of the replies of one batch; the longest each may be is looked at when it is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """One model server as this program speaks to it."""

    access: Access
    build: Callable[[str, ModelSettings], Model] = field(repr=False)
    """Makes a model from its name at the server; all share one client."""
    models_path: str
    """Lists the models; where `{model}` is in it, it says whether this one is there."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What the list is asked with."""


class ModelServers:
    """Connects each server once and closes all of them together."""

    def __init__(self, options: EndpointOptions) -> None:
        self._options = options
        self._servers: dict[Provider, Server] = {}
        self._limiters: dict[str, asyncio.Semaphore] = {}
        self._http: httpx2.AsyncClient | None = None

    def endpoint(self, name: str) -> ModelEndpoint:
        """Return one model; raises `ConfigurationError` where nothing can serve it."""
        provider, model = provider_of(name), name.partition(":")[2]
        if provider is not None and not model:
            msg = f"model {name!r} names no model of {provider.name}; write {provider.name}:NAME"
            raise ConfigurationError(msg)
        if provider is None:
            known = ", ".join(f"{one}:" for one in PROVIDERS)
            msg = (
                f"model {name!r} names no provider; write ollama:{name} if Ollama serves it "
                f"(providers: {known}; openai-chat: is for any server of OpenAI's protocol)"
            )
            raise ConfigurationError(msg)
        if provider not in self._servers:
            self._servers[provider] = _connected(self._access(provider, name), self._options)
        return self._endpoint(name, model, self._servers[provider])

    def embedder(self, name: str) -> "ServerEmbedder":
        """Return an embedding model, `ollama:NAME` or `openai:NAME`.

        Raises `ConfigurationError` where nothing can serve it.
        """
        options = self._options
        require_local_embedder(name, options.models, ollama=options.ollama, openai=options.openai)
        # Its arrays need an extra, which only few-shot scoring has to have.
        from ai_psychiatrist.llm.embedders import server_embedder  # noqa: PLC0415

        if provider_of(name) is OLLAMA:
            access = self._access_to(OLLAMA, f"{self._options.ollama.base_url}/v1", "")
        else:
            given = self._options.openai
            key = given.api_key.get_secret_value()
            if given.base_url is None and not key:
                msg = (
                    f"REFERENCES_EMBEDDER={name} needs {OPENAI.url_variable}, or for OpenAI itself "
                    f"its key in {OPENAI.key_variable}"
                )
                raise ConfigurationError(msg)
            access = self._access_to(OPENAI, given.base_url or OPENAI.default_url or "", key)
        limiter = self._limiter(access.address)
        return server_embedder(
            name, _openai_provider(access), limiter=limiter, retries=self._retries
        )

    def decision_endpoint(self, model: str, url: str, key: str) -> ModelEndpoint:
        """Return a decision model."""
        from pydantic_ai.models.system_one import SystemOneModel  # noqa: PLC0415  for few
        from pydantic_ai.providers.system_one import SystemOneProvider  # noqa: PLC0415

        address = url.rstrip("/")
        require_local(
            self._options.models, f"model {model!r}", address, setting="BELIEF_DECISION_URL"
        )
        provider = SystemOneProvider(base_url=address, api_key=key or NO_KEY, http_client=self.http)
        return ModelEndpoint(
            name=f"system-one:{model}",
            address=shown_address(address),
            hosts=hosts_of(address, self._options.models.http_proxy),
            agent_model=SystemOneModel(model, provider=provider),
            chat=None,
            timeout_seconds=self._options.pydantic_ai.timeout_seconds or DEFAULT_TIMEOUT_SECONDS,
            max_reply_bytes=self._options.models.max_reply_bytes,
            limiter=self._limiter(address),
            retries=self._retries,
        )

    def server_of(self, endpoint: ModelEndpoint) -> Server:
        """Return the server of an endpoint that was made here."""
        return self._servers[PROVIDERS[endpoint.name.partition(":")[0]]]

    @property
    def http(self) -> httpx2.AsyncClient:
        """The client of all servers."""
        if self._http is None:
            models, is_batched = self._options.models, self._options.batches is not None
            self._http = http_client(
                timeout_seconds=self._options.pydantic_ai.timeout_seconds
                or DEFAULT_TIMEOUT_SECONDS,
                max_reply_bytes=_MOST_BATCH_BYTES if is_batched else models.max_reply_bytes,
                proxy=models.http_proxy,
                reads_batches=is_batched,
            )
        return self._http

    async def aclose(self) -> None:
        """Close all connections."""
        if self._http is not None:
            await self._http.aclose()

    def _endpoint(self, name: str, model: str, server: Server) -> ModelEndpoint:
        options, provider = self._options, server.access.provider
        served, is_batched = server.build(model, call_settings(name, options.models)), False
        if options.batches is not None:
            from ai_psychiatrist.llm.batches import BatchedModel  # noqa: PLC0415  for few

            is_batched = options.batches.add(name, served)
            served = BatchedModel(name, served) if is_batched else served
        agent_model = WholePromptModel(
            served, options.ollama.num_ctx if provider is OLLAMA else None
        )
        retries = self._retries
        return ModelEndpoint(
            name=name,
            address=shown_address(server.access.address),
            hosts=hosts_of(server.access.address, options.models.http_proxy),
            agent_model=agent_model,
            chat=PlainChat(agent_model, temperature=options.models.temperature),
            timeout_seconds=server.access.timeout_seconds,
            max_reply_bytes=options.models.max_reply_bytes,
            output_mode=_output_mode(provider, served, options.models),
            caches_prefixes=provider.caches_prefixes,
            limiter=self._limiter(server.access.address),
            # The next batch is the wait.
            retries=replace(retries, waits_seconds=tuple(0.0 for _ in retries.waits_seconds))
            if is_batched
            else retries,
        )

    @property
    def _retries(self) -> CallRetries:
        return replace(BUSY_RETRIES, waits_seconds=self._options.models.busy_waits_seconds)

    def _limiter(self, address: str) -> asyncio.Semaphore:
        limiter = asyncio.Semaphore(self._options.models.max_concurrency)
        return self._limiters.setdefault(address, limiter)

    def _access(self, provider: Provider, name: str) -> Access:
        options = self._options
        if provider is OLLAMA:
            server = options.ollama.base_url
            require_local(options.models, f"model {name!r}", server, setting=provider.url_variable)
            return self._access_to(provider, server, "")
        hosted: dict[Provider, OpenAISettings | AnthropicSettings | GoogleSettings] = {
            ANTHROPIC: options.anthropic,
            GOOGLE: options.google,
        }
        given = hosted.get(provider, options.openai)
        address, key = given.base_url or provider.default_url, given.api_key.get_secret_value()
        if address is None:
            msg = (
                f"model {name!r} needs {provider.url_variable}; transcripts are sent to no server "
                "that is not named there (https://api.openai.com/v1 for OpenAI itself)"
            )
            raise ConfigurationError(msg)
        require_local(options.models, f"model {name!r}", address, setting=provider.url_variable)
        if not key and provider.default_url is not None:
            msg = f"model {name!r} needs its key in {provider.key_variable}"
            raise ConfigurationError(msg)
        return self._access_to(provider, address, key)

    def _access_to(self, provider: Provider, address: str, key: str) -> Access:
        is_ollama = provider is OLLAMA
        own = self._options.ollama.timeout_seconds if is_ollama else DEFAULT_TIMEOUT_SECONDS
        return Access(
            provider=provider,
            address=address.rstrip("/"),
            key=key,
            http=self.http,
            timeout_seconds=self._options.pydantic_ai.timeout_seconds or own,
        )


def call_settings(name: str, models: ModelCallSettings) -> ModelSettings:
    """Return what every call to a model is sent with."""
    settings = ModelSettings(max_tokens=models.max_output_tokens)
    if body := models.extra_body_of(name):
        settings["extra_body"] = dict(body)
    thinking = models.thinking_of(name)
    if thinking is not None:
        settings["thinking"] = False if thinking == "off" else thinking
    return settings


def _output_mode(provider: Provider, model: Model, models: ModelCallSettings) -> OutputMode:
    """Return how schemas go out: as text to a model that knows no others, whatever is set.

    Left to us, no schema goes to a provider that puts it ahead of the prompt: each agent has its
    own, and none would find the transcript in the provider's cache. Nor to a server that is not
    known.
    """
    is_wanted = models.output_mode == "native" or (
        models.output_mode == "auto" and provider.only_samples_by_schema
    )
    can = model.profile.get("supports_json_schema_output", False)
    return OutputMode.NATIVE if is_wanted and can else OutputMode.TEXT


def lone_ollama_model(model: str, address: str, *, timeout_seconds: float) -> Model:
    """Return one model of an Ollama server, over connections of its own."""
    http = http_client(timeout_seconds=timeout_seconds, max_reply_bytes=DEFAULT_MAX_REPLY_BYTES)
    access = Access(
        provider=OLLAMA,
        address=address.rstrip("/"),
        key="",
        http=http,
        timeout_seconds=timeout_seconds,
    )
    return ChatModel(model, access)


def _connected(access: Access, options: EndpointOptions) -> Server:
    """Return a server; raises `ConfigurationError` where its package is not installed."""
    if access.provider is OPENAI:
        return _openai(access)
    if access.provider in (ANTHROPIC, GOOGLE):
        try:
            return _anthropic(access) if access.provider is ANTHROPIC else _google(access)
        except ImportError:
            name, extra = access.provider.name, access.provider.extra
            msg = f"{name}: models need an extra: pip install 'ai-psychiatrist[{extra}]'"
            raise ConfigurationError(msg) from None
    num_ctx = options.ollama.num_ctx
    return Server(
        access=access,
        build=lambda model, settings: ChatModel(model, access, num_ctx=num_ctx, settings=settings),
        models_path="/api/tags" if access.provider is OLLAMA else "/models",
        headers={"Authorization": f"Bearer {access.key}"} if access.key else {},
    )


def _openai_provider(access: Access) -> "OpenAIProvider":
    # Half a second that only those wait for who ask such a server.
    from openai import AsyncOpenAI  # noqa: PLC0415
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415

    # The runner decides what is asked again; retries of an SDK would be calls nobody counts.
    client = AsyncOpenAI(
        base_url=access.address,
        api_key=access.key or NO_KEY,
        timeout=access.timeout_seconds,
        max_retries=0,
        http_client=access.http,
    )
    return OpenAIProvider(openai_client=client)


def _openai(access: Access) -> Server:
    from pydantic_ai.models.openai import OpenAIResponsesModel  # noqa: PLC0415  half a second

    provider = _openai_provider(access)
    return Server(
        access=access,
        build=lambda model, settings: OpenAIResponsesModel(
            model, provider=provider, settings=settings
        ),
        models_path="/models",
        headers={"Authorization": f"Bearer {access.key}"},
    )


def _anthropic(access: Access) -> Server:
    from anthropic import AsyncAnthropic  # noqa: PLC0415  an extra
    from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415
    from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415

    client = AsyncAnthropic(
        base_url=access.address,
        api_key=access.key,
        timeout=access.timeout_seconds,
        max_retries=0,
        http_client=access.http,
    )
    provider = AnthropicProvider(anthropic_client=client)
    return Server(
        access=access,
        build=lambda model, settings: AnthropicModel(model, provider=provider, settings=settings),
        models_path="/v1/models/{model}",
        headers={**client.auth_headers, "anthropic-version": _ANTHROPIC_VERSION},
    )


def _google(access: Access) -> Server:
    from google.genai.types import HttpRetryOptions  # noqa: PLC0415  an extra
    from pydantic_ai.models.google import GoogleModel  # noqa: PLC0415
    from pydantic_ai.providers.google import GoogleProvider  # noqa: PLC0415

    provider = GoogleProvider(
        api_key=access.key,
        base_url=access.address,
        http_client=access.http,
        retry_options=HttpRetryOptions(attempts=1),
    )
    return Server(
        access=access,
        build=lambda model, settings: GoogleModel(model, provider=provider, settings=settings),
        models_path="/v1beta/models/{model}",
        headers={"x-goog-api-key": access.key},
    )
