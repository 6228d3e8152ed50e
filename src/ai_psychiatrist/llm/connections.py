"""Turn model names into chains of models, sharing one set of connections per backend."""

import asyncio
from functools import cached_property
from typing import TYPE_CHECKING

from ai_psychiatrist.llm.backend_options import BackendOptions
from ai_psychiatrist.llm.cures import Accounted, Cause, cause_of, causes
from ai_psychiatrist.llm.routes import ModelChain, ModelRoute

if TYPE_CHECKING:
    from ai_psychiatrist.llm.embedders import ServerEmbedder
    from ai_psychiatrist.llm.probe import ModelProbe
    from ai_psychiatrist.llm.servers import ModelServers


class ModelConnections:
    """Builds each named model once and closes all of them together."""

    def __init__(self, options: BackendOptions) -> None:
        self._options = options
        self._routes: dict[str, ModelRoute] = {}

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

    @property
    def addresses(self) -> dict[str, str | None]:
        """Where each model of all chains is served; `None` for one of this process."""
        return {name: route.address for name, route in self._routes.items()}

    async def unready(self) -> dict[str, Cause]:
        """Return model name → why it would not answer now, for those that would not."""
        found = await asyncio.gather(*(self._unready(route) for route in self._routes.values()))
        return {cause.model: cause for cause in found if cause is not None}

    async def probe(self, name: str) -> "ModelProbe":
        """Try a model step by step.

        Raises `ConfigurationError` for a name that nothing here can serve.
        """
        route = self._route(name)
        if name not in self._options.local:
            return await self._servers.probe(route)
        from ai_psychiatrist.llm.probe import local_probe  # noqa: PLC0415

        return local_probe(route)

    def embedder(self, name: str) -> "ServerEmbedder":
        """Return an embedding model of a server, `ollama:NAME` or `openai:NAME`.

        Raises `ConfigurationError` where nothing can serve it.
        """
        return self._servers.embedder(name)

    def decision_route(self, model: str, url: str, key: str) -> ModelRoute:
        """Return the way to a decision model; raises `ConfigurationError` for no address."""
        return self._servers.decision_route(model, url, key)

    def causes(self, assessment: Accounted) -> tuple[Cause, ...]:
        """Return why an assessment is not whole and what to do about it, each cause once."""
        return causes(assessment, self.addresses)

    async def aclose(self) -> None:
        """Close all connections."""
        if "_servers" in self.__dict__:
            await self._servers.aclose()

    async def _unready(self, route: ModelRoute) -> Cause | None:
        if route.name in self._options.local:
            return None
        failure = await self._servers.unserved(route)
        if failure is None:
            return None
        return cause_of(
            failure.code,
            model=route.name,
            http_status=failure.http_status,
            address=route.address,
        )

    def _route(self, name: str) -> ModelRoute:
        if name not in self._routes:
            self._routes[name] = self._options.local.get(name) or self._servers.route(name)
        return self._routes[name]

    @cached_property
    def _servers(self) -> "ModelServers":
        # A second of libraries, which models of this process do without.
        from ai_psychiatrist.llm.servers import ModelServers  # noqa: PLC0415

        return ModelServers(self._options)
