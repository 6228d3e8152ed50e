"""Turn model names into endpoints and chains of them, sharing one set of connections."""

import asyncio
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.llm.endpoints import (
    DEFAULT_TIMEOUT_SECONDS,
    EndpointOptions,
    FallbackChain,
    ModelEndpoint,
)
from ai_psychiatrist.llm.providers import OLLAMA, provider_of
from ai_psychiatrist.llm.reasons import Reason, reason_of, reasons_of
from ai_psychiatrist.llm.replies import SimpleChatClient
from ai_psychiatrist.llm.settings import PydanticAISettings

logger = get_logger(__name__)

if TYPE_CHECKING:
    from ai_psychiatrist.llm.doctor import ModelProbe
    from ai_psychiatrist.llm.servers import ModelServers


class ModelConnections:
    """Builds each named model once, over one set of connections, and closes all together."""

    def __init__(self, options: EndpointOptions) -> None:
        self._options = options
        self._endpoints: dict[str, ModelEndpoint] = {}

    def chain(self, name: str) -> FallbackChain:
        """Return the named model followed by the fallbacks.

        Raises `ConfigurationError` for a name that nothing here can serve.
        """
        names = dict.fromkeys((name, *self._options.models.fallbacks))
        return tuple(self.endpoint(one) for one in names)

    def endpoint(self, name: str) -> ModelEndpoint:
        """Return one model; raises `ConfigurationError` where nothing here can serve it."""
        if name not in self._endpoints:
            local = self._options.local.get(name)
            self._endpoints[name] = local or self.servers.endpoint(name)
        return self._endpoints[name]

    @property
    def names(self) -> tuple[str, ...]:
        """The models of all chains."""
        return tuple(self._endpoints)

    @property
    def addresses(self) -> dict[str, str | None]:
        """Where each model of all chains is served; `None` for one of this process."""
        return {name: endpoint.address for name, endpoint in self._endpoints.items()}

    def embedder_hosts(self, name: str) -> tuple[str, ...]:
        """Return where an embedder sends words; nowhere for one of this process."""
        # Only few-shot scoring has one, and a second of libraries with it.
        from ai_psychiatrist.llm.http_client import hosts_of  # noqa: PLC0415
        from ai_psychiatrist.llm.local_only import embedder_address  # noqa: PLC0415

        options = self._options
        address = embedder_address(name, ollama=options.ollama, openai=options.openai)
        return () if address is None else hosts_of(address, options.models.http_proxy)

    async def unready(self) -> dict[str, Reason]:
        """Return model name → why it would not answer now, for those that would not."""
        asked = [one for one in self._endpoints.values() if one.name not in self._options.local]
        failures = await asyncio.gather(*map(self._unserved, asked))
        return {
            one.name: reason_of(
                failure.code,
                model=one.name,
                http_status=failure.http_status,
                address=one.address,
            )
            for one, failure in zip(asked, failures, strict=True)
            if failure is not None
        }

    async def weights(self, names: Iterable[str]) -> dict[str, list[str]]:
        """Return the weights that Ollama reports for models, as `doctor.told_weights` does."""
        asked = [name for name in names if provider_of(name) is OLLAMA]
        if not asked:
            return {}
        from ai_psychiatrist.llm.doctor import told_weights  # noqa: PLC0415  a second

        return await told_weights(self.servers.http, self._options.ollama.base_url, asked)

    async def probe(self, name: str) -> "ModelProbe":
        """Try a model step by step.

        Raises `ConfigurationError` for a name that nothing here can serve.
        """
        from ai_psychiatrist.llm.doctor import ModelProbe, probe  # noqa: PLC0415  a second

        endpoint = self.endpoint(name)
        if name in self._options.local:
            return ModelProbe(model=name, address=None)
        return await probe(self.servers.server_of(endpoint), endpoint, self._options.models)

    async def _unserved(self, endpoint: ModelEndpoint) -> ModelCallFailed | None:
        from ai_psychiatrist.llm.doctor import unserved  # noqa: PLC0415  a second

        server = self.servers.server_of(endpoint)
        return await unserved(server, endpoint.name.partition(":")[2])

    def reasons(self, assessment: Assessment) -> tuple[Reason, ...]:
        """Return why an assessment is not whole and what to do about it, each reason once."""
        return reasons_of(assessment, self.addresses)

    @cached_property
    def servers(self) -> "ModelServers":
        """The servers that models are asked at; a second of libraries, loaded when first used."""
        from ai_psychiatrist.llm.servers import ModelServers  # noqa: PLC0415

        return ModelServers(self._options)

    async def aclose(self) -> None:
        """Close all connections."""
        if "servers" in self.__dict__:
            await self.servers.aclose()


def as_chain(
    models: SimpleChatClient | FallbackChain,
    *,
    pydantic_ai_settings: PydanticAISettings,
    ollama_base_url: str | None,
) -> FallbackChain:
    """Return a chain as it is, or make one of a single plain client for an Ollama model.

    Without a base URL the single model is asked by plain chat alone, and a warning says so. The
    single model's connections live as long as the process; those of `ModelConnections` are closed
    with it.
    """
    if isinstance(models, tuple):
        return models
    timeout = pydantic_ai_settings.timeout_seconds or DEFAULT_TIMEOUT_SECONDS
    agent_model = None
    hosts: tuple[str, ...] = ()
    if pydantic_ai_settings.enabled and ollama_base_url is not None:
        from ai_psychiatrist.llm.http_client import hosts_of  # noqa: PLC0415  takes a second
        from ai_psychiatrist.llm.servers import lone_ollama_model  # noqa: PLC0415

        hosts = hosts_of(ollama_base_url, None)
        agent_model = lone_ollama_model(models.model, ollama_base_url, timeout_seconds=timeout)
    elif pydantic_ai_settings.enabled:
        logger.warning("agent_path_unavailable", model=models.model, reason="no_base_url")
    endpoint = ModelEndpoint(
        name=models.model,
        agent_model=agent_model,
        chat=models,
        timeout_seconds=timeout,
        hosts=hosts,
    )
    return (endpoint,)
