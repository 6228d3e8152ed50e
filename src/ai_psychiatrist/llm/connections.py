"""Turn model names into chains of models, sharing one set of connections per backend."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import httpx2
from pydantic_ai.settings import ModelSettings as RequestSettings

from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.llm import providers
from ai_psychiatrist.llm.backends import (
    Access,
    Backend,
    anthropic_backend,
    google_backend,
    ollama_backend,
    openai_backend,
)
from ai_psychiatrist.llm.cures import Cause, cause_of, causes, shown_address
from ai_psychiatrist.llm.direct_chat import DirectChatClient
from ai_psychiatrist.llm.model_list import unserved
from ai_psychiatrist.llm.probe import ModelProbe, local_probe, probe
from ai_psychiatrist.llm.providers import Provider, provider_of
from ai_psychiatrist.llm.retries import BUSY_RETRIES
from ai_psychiatrist.llm.routes import DEFAULT_TIMEOUT_SECONDS, ModelChain, ModelRoute
from ai_psychiatrist.llm.settings import (
    AnthropicSettings,
    GoogleSettings,
    ModelSettings,
    OllamaSettings,
    OpenAISettings,
    PydanticAISettings,
)
from ai_psychiatrist.llm.windowed_model import PromptWindow, WindowedModel


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendOptions:
    """Everything that says where models are and how they are called."""

    models: ModelSettings
    openai: OpenAISettings
    ollama: OllamaSettings
    pydantic_ai: PydanticAISettings
    anthropic: AnthropicSettings = field(default_factory=AnthropicSettings)
    google: GoogleSettings = field(default_factory=GoogleSettings)
    local: Mapping[str, ModelRoute] = field(default_factory=dict)
    """Models that run in this process, by name."""


class ModelConnections:
    """Builds each named model once and closes all of them together."""

    def __init__(self, options: BackendOptions) -> None:
        self._options = options
        self._routes: dict[str, ModelRoute] = {}
        self._backends: dict[str, Backend] = {}
        self._limiters: dict[str, asyncio.Semaphore] = {}
        self._http: httpx2.AsyncClient | None = None

    def chain(self, name: str) -> ModelChain:
        """Return the named model followed by the fallbacks.

        Raises `ConfigurationError` for a name that nothing here can serve.
        """
        names = dict.fromkeys((name, *self._options.models.fallbacks))
        return tuple(self._route(one) for one in names)

    @property
    def names(self) -> tuple[str, ...]:
        """The models of all chains."""
        return tuple(self._routes)

    async def unready(self) -> dict[str, Cause]:
        """Return model name → why it would not answer now, for those that would not."""
        found = await asyncio.gather(*(self._unready(route) for route in self._routes.values()))
        return {cause.model: cause for cause in found if cause is not None}

    async def probe(self, name: str) -> ModelProbe:
        """Try a model step by step.

        Raises `ConfigurationError` for a name that nothing here can serve.
        """
        route = self._route(name)
        backend = self._backend_of(route)
        return (
            local_probe(route) if backend is None else await probe(self._client(), backend, route)
        )

    def causes(self, assessment: Assessment) -> tuple[Cause, ...]:
        """Return why an assessment is not whole and what to do about it, each cause once."""
        return causes(assessment, {name: route.address for name, route in self._routes.items()})

    async def aclose(self) -> None:
        """Close all connections."""
        if self._http is not None:
            await self._http.aclose()

    async def _unready(self, route: ModelRoute) -> Cause | None:
        backend = self._backend_of(route)
        if backend is None:
            return None
        failure = await unserved(self._client(), backend, route.name.partition(":")[2])
        if failure is None:
            return None
        return cause_of(
            failure.code,
            model=route.name,
            http_status=failure.http_status,
            address=route.address,
        )

    def _backend_of(self, route: ModelRoute) -> Backend | None:
        provider = provider_of(route.name)
        return None if provider is None else self._backends.get(provider.name)

    def _route(self, name: str) -> ModelRoute:
        if name not in self._routes:
            self._routes[name] = self._options.local.get(name) or self._remote(name)
        return self._routes[name]

    def _remote(self, name: str) -> ModelRoute:
        provider, model = provider_of(name), name.partition(":")[2]
        if provider is not None and not model:
            msg = f"model {name!r} names no model of {provider.name}; write {provider.name}:NAME"
            raise ConfigurationError(msg)
        if provider is None:
            known = ", ".join(f"{one}:" for one in providers.PROVIDERS)
            msg = (
                f"model {name!r} names no provider; write ollama:{name} if Ollama serves it "
                f"(providers: {known} for other servers of OpenAI's protocol openai-chat:)"
            )
            raise ConfigurationError(msg)
        if provider.name not in self._backends:
            self._backends[provider.name] = self._backend(provider, name)
        return self._connected(name, model, self._backends[provider.name])

    def _connected(self, name: str, model: str, backend: Backend) -> ModelRoute:
        options = self._options
        settings = RequestSettings(max_tokens=options.models.max_output_tokens)
        num_ctx = options.ollama.num_ctx if backend.provider is providers.OLLAMA else None
        agent_model = WindowedModel(backend.build(model, settings), PromptWindow(num_ctx))
        limiter = asyncio.Semaphore(options.models.max_concurrency)
        return ModelRoute(
            name=name,
            address=shown_address(backend.address),
            agent_model=agent_model,
            chat=DirectChatClient(agent_model, temperature=options.models.temperature),
            timeout_seconds=self._timeout_seconds(backend.provider),
            max_reply_bytes=options.models.max_reply_bytes,
            limiter=self._limiters.setdefault(backend.address, limiter),
            retries=replace(BUSY_RETRIES, waits_seconds=options.models.busy_waits_seconds),
        )

    def _backend(self, provider: Provider, name: str) -> Backend:
        options = self._options
        if provider is providers.OLLAMA:
            access = self._access(provider, options.ollama.base_url, "")
            return ollama_backend(access, options.ollama)
        given = self._given(provider)
        address, key = given.base_url or provider.default_url, given.api_key.get_secret_value()
        if address is None:
            msg = (
                f"model {name!r} needs {provider.url_variable}; transcripts are sent to no server "
                "that is not named there (https://api.openai.com/v1 for OpenAI itself)"
            )
            raise ConfigurationError(msg)
        if not key and provider.default_url is not None:
            msg = f"model {name!r} needs its key in {provider.key_variable}"
            raise ConfigurationError(msg)
        access = self._access(provider, address, key)
        if provider is providers.ANTHROPIC:
            return anthropic_backend(access)
        if provider is providers.GOOGLE:
            return google_backend(access)
        return openai_backend(access, provider)

    def _given(self, provider: Provider) -> OpenAISettings | AnthropicSettings | GoogleSettings:
        if provider is providers.ANTHROPIC:
            return self._options.anthropic
        return self._options.google if provider is providers.GOOGLE else self._options.openai

    def _access(self, provider: Provider, address: str, key: str) -> Access:
        return Access(
            address=address.rstrip("/"),
            key=key,
            http=self._client(),
            timeout_seconds=self._timeout_seconds(provider),
        )

    def _timeout_seconds(self, provider: Provider) -> float:
        is_ollama = provider is providers.OLLAMA
        own = self._options.ollama.timeout_seconds if is_ollama else DEFAULT_TIMEOUT_SECONDS
        return self._options.pydantic_ai.timeout_seconds or own

    def _client(self) -> httpx2.AsyncClient:
        if self._http is None:
            # The libraries of its transport take half a second, and only servers are asked by it.
            from ai_psychiatrist.llm.http_client import http_client  # noqa: PLC0415

            models = self._options.models
            self._http = http_client(
                timeout_seconds=self._options.pydantic_ai.timeout_seconds
                or DEFAULT_TIMEOUT_SECONDS,
                max_reply_bytes=models.max_reply_bytes,
                proxy=models.http_proxy,
            )
        return self._http
