"""Turn model names into chains of models, sharing one set of connections per backend."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from openai import AsyncOpenAI, DefaultAioHttpClient
from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, infer_model
from pydantic_ai.models.ollama import OllamaModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.ollama import OllamaProvider
from pydantic_ai.providers.openai import OpenAIProvider

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.llm.chat import SimpleChatClient
from ai_psychiatrist.llm.http_json import JsonBackend
from ai_psychiatrist.llm.ollama import OllamaChatClient
from ai_psychiatrist.llm.openai_chat import OpenAIChatClient
from ai_psychiatrist.llm.retries import BUSY_RETRIES
from ai_psychiatrist.llm.routes import (
    DEFAULT_TIMEOUT_SECONDS,
    ModelChain,
    ModelRoute,
)
from ai_psychiatrist.llm.settings import (
    ModelSettings,
    OllamaSettings,
    OpenAISettings,
    PydanticAISettings,
)

_ESCAPED_BYTES_PER_BYTE: Final = 6
_ENVELOPE_BYTES: Final = 65_536
_NO_KEY: Final = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendOptions:
    """Everything that says where models are and how they are called."""

    models: ModelSettings
    openai: OpenAISettings
    ollama: OllamaSettings
    pydantic_ai: PydanticAISettings
    local: Mapping[str, ModelRoute] = field(default_factory=dict)
    """Models that run in this process, by name."""


class ModelConnections:
    """Builds each named model once and closes all of them together."""

    def __init__(self, options: BackendOptions) -> None:
        self._options = options
        self._routes: dict[str, ModelRoute] = {}
        self._limiters: dict[str, asyncio.Semaphore] = {}
        self._clients: dict[str, AsyncOpenAI] = {}
        self._backends: dict[str, JsonBackend] = {}
        self._hosted_models: list[Model] = []

    def chain(self, name: str) -> ModelChain:
        """Return the named model followed by the fallbacks.

        Raises `ConfigurationError` for a name that nothing here can serve.
        """
        names = dict.fromkeys((name, *self._options.models.fallbacks))
        return tuple(self._route(one) for one in names)

    async def reachable(self) -> dict[str, bool]:
        """Return model name → whether its backend answers; hosted ones are taken to."""
        names, answers = list(self._routes), [_answers(one) for one in self._routes.values()]
        return dict(zip(names, await asyncio.gather(*answers), strict=True))

    async def aclose(self) -> None:
        """Close all connections."""
        for client in self._clients.values():
            await client.close()
        for backend in self._backends.values():
            await backend.aclose()
        for model in self._hosted_models:
            # A provider closes the client that it made when the last one who entered it leaves.
            async with model:
                pass

    def _route(self, name: str) -> ModelRoute:
        if name not in self._routes:
            self._routes[name] = self._options.local.get(name) or self._remote(name)
        return self._routes[name]

    def _remote(self, name: str) -> ModelRoute:
        provider, _, model = name.partition(":")
        build = self._builders().get(provider, self._hosted)
        return build(name, model)

    def _builders(self) -> dict[str, Callable[[str, str], ModelRoute]]:
        return {"ollama": self._ollama, "openai-chat": self._openai}

    def _ollama(self, name: str, model: str) -> ModelRoute:
        ollama, pydantic_ai = self._options.ollama, self._options.pydantic_ai
        timeout = pydantic_ai.timeout_seconds or ollama.timeout_seconds
        client = self._client(f"{ollama.base_url}/v1", _NO_KEY, timeout)
        backend = self._backend(ollama.base_url, timeout, None)
        temperature = self._options.models.temperature
        return self._bounded(
            name,
            ollama.base_url,
            OllamaModel(model, provider=OllamaProvider(openai_client=client)),
            chat=OllamaChatClient(backend, model, temperature=temperature, num_ctx=ollama.num_ctx),
            timeout_seconds=timeout,
            num_ctx=ollama.num_ctx,
        )

    def _openai(self, name: str, model: str) -> ModelRoute:
        base_url = self._options.openai.base_url
        if base_url is None:
            msg = (
                f"model {name!r} needs OPENAI_BASE_URL; transcripts are sent to no server that is "
                "not named there (https://api.openai.com/v1 for OpenAI itself)"
            )
            raise ConfigurationError(msg)
        timeout = self._options.pydantic_ai.timeout_seconds or DEFAULT_TIMEOUT_SECONDS
        key = self._options.openai.api_key.get_secret_value()
        headers = {"Authorization": f"Bearer {key}"} if key else None
        client = self._client(base_url, key or _NO_KEY, timeout)
        backend = self._backend(base_url, timeout, headers)
        return self._bounded(
            name,
            base_url,
            OpenAIChatModel(model, provider=OpenAIProvider(openai_client=client)),
            chat=OpenAIChatClient(backend, model, temperature=self._options.models.temperature),
            timeout_seconds=timeout,
        )

    def _hosted(self, name: str, model: str) -> ModelRoute:
        if not model:
            msg = f"model {name!r} names no provider; write for example ollama:{name}"
            raise ConfigurationError(msg)
        try:
            agent_model = infer_model(name)
        except ImportError:
            provider = name.partition(":")[0]
            msg = f"model {name!r} needs an extra: pip install 'pydantic-ai-slim[{provider}]'"
            raise ConfigurationError(msg) from None
        except UserError as error:
            msg = f"model {name!r} cannot be used: {error}"
            raise ConfigurationError(msg) from None
        self._hosted_models.append(agent_model)
        timeout = self._options.pydantic_ai.timeout_seconds or DEFAULT_TIMEOUT_SECONDS
        return self._bounded(
            name, name.partition(":")[0], agent_model, chat=None, timeout_seconds=timeout
        )

    def _bounded(
        self,
        name: str,
        backend: str,
        agent_model: Model,
        *,
        chat: SimpleChatClient | None,
        timeout_seconds: float,
        num_ctx: int | None = None,
    ) -> ModelRoute:
        models = self._options.models
        limiter = self._limiters.setdefault(backend, asyncio.Semaphore(models.max_concurrency))
        return ModelRoute(
            name=name,
            agent_model=agent_model,
            chat=chat,
            timeout_seconds=timeout_seconds,
            max_reply_bytes=models.max_reply_bytes,
            num_ctx=num_ctx,
            limiter=limiter,
            retries=replace(BUSY_RETRIES, waits_seconds=models.busy_waits_seconds),
        )

    def _client(self, base_url: str, api_key: str, timeout: float) -> AsyncOpenAI:
        if base_url not in self._clients:
            # The runner decides what is asked again; retries here would multiply the wait.
            self._clients[base_url] = AsyncOpenAI(
                base_url=base_url,
                api_key=api_key,
                timeout=timeout,
                max_retries=0,
                # A third of the CPU time per call less than the default transport, measured with
                # 32 assessments under way: that one looks at every pooled connection on each call.
                # A redirect would send the transcript to a server that no setting names.
                http_client=DefaultAioHttpClient(follow_redirects=False),
            )
        return self._clients[base_url]

    def _backend(
        self, base_url: str, timeout: float, headers: dict[str, str] | None
    ) -> JsonBackend:
        if base_url not in self._backends:
            reply_bytes = self._options.models.max_reply_bytes
            self._backends[base_url] = JsonBackend(
                base_url,
                timeout_seconds=timeout,
                max_response_bytes=reply_bytes * _ESCAPED_BYTES_PER_BYTE + _ENVELOPE_BYTES,
                headers=headers,
            )
        return self._backends[base_url]


async def _answers(route: ModelRoute) -> bool:
    return route.chat is None or await route.chat.is_reachable()
