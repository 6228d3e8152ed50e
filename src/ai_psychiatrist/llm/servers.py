"""The servers that models are asked at: one connection each, and what they say about themselves."""

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import httpx2
from pydantic_ai.settings import ModelSettings as RequestSettings

from ai_psychiatrist.domain.errors import ConfigurationError, ModelCallFailed
from ai_psychiatrist.llm import (
    agent_run,  # noqa: F401  loaded with the first server, so that no call waits for it
    providers,
)
from ai_psychiatrist.llm.backend_options import BackendOptions
from ai_psychiatrist.llm.backends import (
    NO_KEY,
    Access,
    Backend,
    anthropic_backend,
    google_backend,
    ollama_backend,
    openai_backend,
)
from ai_psychiatrist.llm.batches.batched_model import BatchedModel
from ai_psychiatrist.llm.cures import shown_address
from ai_psychiatrist.llm.direct_chat import DirectChatClient
from ai_psychiatrist.llm.http_client import http_client
from ai_psychiatrist.llm.local_only import require_local, require_local_embedder
from ai_psychiatrist.llm.model_list import unserved
from ai_psychiatrist.llm.probe import ModelProbe, probe
from ai_psychiatrist.llm.providers import Provider, provider_of
from ai_psychiatrist.llm.retries import BUSY_RETRIES
from ai_psychiatrist.llm.routes import DEFAULT_TIMEOUT_SECONDS, ModelRoute
from ai_psychiatrist.llm.settings import AnthropicSettings, GoogleSettings, OpenAISettings
from ai_psychiatrist.llm.windowed_model import PromptWindow, WindowedModel

if TYPE_CHECKING:
    from ai_psychiatrist.llm.embedders import ServerEmbedder

_MOST_BATCH_BYTES: Final = 1 << 28
"""Of the replies of one batch; the longest each may be is looked at when it is read."""


class ModelServers:
    """Connects each server once and closes all of them together."""

    def __init__(self, options: BackendOptions) -> None:
        self._options = options
        self._backends: dict[str, Backend] = {}
        self._limiters: dict[str, asyncio.Semaphore] = {}
        self._http: httpx2.AsyncClient | None = None

    def route(self, name: str) -> ModelRoute:
        """Return the way to a model; raises `ConfigurationError` where nothing can serve it."""
        provider, model = provider_of(name), name.partition(":")[2]
        if provider is not None and not model:
            msg = f"model {name!r} names no model of {provider.name}; write {provider.name}:NAME"
            raise ConfigurationError(msg)
        if provider is None:
            known = ", ".join(f"{one}:" for one in providers.PROVIDERS)
            msg = (
                f"model {name!r} names no provider; write ollama:{name} if Ollama serves it "
                f"(providers: {known}; openai-chat: is for any server of OpenAI's protocol)"
            )
            raise ConfigurationError(msg)
        if provider.name not in self._backends:
            self._backends[provider.name] = self._backend(provider, name)
        return self._connected(name, model, self._backends[provider.name])

    def embedder(self, name: str) -> "ServerEmbedder":
        """Return an embedding model of Ollama or of a server of OpenAI's protocol.

        Raises `ConfigurationError` where nothing can serve it.
        """
        options = self._options
        require_local_embedder(name, options.models, ollama=options.ollama, openai=options.openai)
        # Its arrays need an extra, which only few-shot scoring has to have.
        from ai_psychiatrist.llm.embedders import server_embedder  # noqa: PLC0415

        if provider_of(name) is providers.OLLAMA:
            address, key = f"{self._options.ollama.base_url}/v1", ""
            access = self._access(providers.OLLAMA, address, key)
        else:
            given, known = options.openai, providers.OPENAI
            key = given.api_key.get_secret_value()
            if given.base_url is None and not key:
                msg = (
                    f"REFERENCES_EMBEDDER={name} needs {known.url_variable}, or for OpenAI itself "
                    f"its key in {known.key_variable}"
                )
                raise ConfigurationError(msg)
            address = given.base_url or known.default_url or ""
            access = self._access(known, address, key)
        limiter = asyncio.Semaphore(self._options.models.max_concurrency)
        return server_embedder(
            name,
            access,
            limiter=self._limiters.setdefault(access.address, limiter),
            retries=replace(BUSY_RETRIES, waits_seconds=self._options.models.busy_waits_seconds),
        )

    def decision_route(self, model: str, url: str, key: str) -> ModelRoute:
        """Return the way to a decision model; raises `ConfigurationError` for no address."""
        from pydantic_ai.models.system_one import SystemOneModel  # noqa: PLC0415  for few
        from pydantic_ai.providers.system_one import SystemOneProvider  # noqa: PLC0415

        models, address = self._options.models, url.rstrip("/")
        require_local(models, f"model {model!r}", address, setting="BELIEF_DECISION_URL")
        provider = SystemOneProvider(
            base_url=address, api_key=key or NO_KEY, http_client=self._client()
        )
        return ModelRoute(
            name=f"system-one:{model}",
            address=shown_address(address),
            agent_model=SystemOneModel(model, provider=provider),
            chat=None,
            timeout_seconds=self._options.pydantic_ai.timeout_seconds or DEFAULT_TIMEOUT_SECONDS,
            max_reply_bytes=models.max_reply_bytes,
            limiter=self._limiters.setdefault(address, asyncio.Semaphore(models.max_concurrency)),
            retries=replace(BUSY_RETRIES, waits_seconds=models.busy_waits_seconds),
        )

    async def unserved(self, route: ModelRoute) -> ModelCallFailed | None:
        """Return why a model would not answer now, or `None` where it would."""
        return await unserved(self._client(), self._backend_of(route), route.name.partition(":")[2])

    async def probe(self, route: ModelRoute) -> ModelProbe:
        """Try a model step by step."""
        return await probe(self._client(), self._backend_of(route), route)

    async def aclose(self) -> None:
        """Close all connections."""
        if self._http is not None:
            await self._http.aclose()

    def _backend_of(self, route: ModelRoute) -> Backend:
        return self._backends[route.name.partition(":")[0]]

    def _connected(self, name: str, model: str, backend: Backend) -> ModelRoute:
        options = self._options
        settings = RequestSettings(max_tokens=options.models.max_output_tokens)
        num_ctx = options.ollama.num_ctx if backend.provider is providers.OLLAMA else None
        served, is_batched = backend.build(model, settings), False
        if options.batches is not None and options.batches.add(name, served):
            served, is_batched = BatchedModel(name, served), True
        agent_model = WindowedModel(served, PromptWindow(num_ctx))
        waits = options.models.busy_waits_seconds
        limiter = asyncio.Semaphore(options.models.max_concurrency)
        return ModelRoute(
            name=name,
            address=shown_address(backend.address),
            agent_model=agent_model,
            chat=DirectChatClient(agent_model, temperature=options.models.temperature or 0.0),
            timeout_seconds=self._timeout_seconds(backend.provider),
            max_reply_bytes=options.models.max_reply_bytes,
            caches_prefixes=backend.provider in providers.CACHING_PROVIDERS,
            # Those that wait for a batch hold no place at a server, and the next batch is the wait.
            limiter=(None if is_batched else self._limiters.setdefault(backend.address, limiter)),
            retries=replace(
                BUSY_RETRIES, waits_seconds=tuple(0.0 for _ in waits) if is_batched else waits
            ),
            is_batched=is_batched,
        )

    def _backend(self, provider: Provider, name: str) -> Backend:
        options = self._options
        if provider is providers.OLLAMA:
            server = options.ollama.base_url
            require_local(options.models, f"model {name!r}", server, setting=provider.url_variable)
            access = self._access(provider, server, "")
            return ollama_backend(access, options.ollama)
        given = self._given(provider)
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
            models, is_batched = self._options.models, self._options.batches is not None
            self._http = http_client(
                timeout_seconds=self._options.pydantic_ai.timeout_seconds
                or DEFAULT_TIMEOUT_SECONDS,
                max_reply_bytes=_MOST_BATCH_BYTES if is_batched else models.max_reply_bytes,
                proxy=models.http_proxy,
                reads_batches=is_batched,
            )
        return self._http
