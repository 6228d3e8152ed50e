"""The references of a process: opened once, when the server starts or a mode first asks."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ai_psychiatrist.agents.references import Evidence
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.llm.connections import ModelConnections
from ai_psychiatrist.services.retrieval.found import ItemReferences
from ai_psychiatrist.services.retrieval.identity import Identity
from ai_psychiatrist.services.retrieval.settings import ReferenceSettings

if TYPE_CHECKING:
    from ai_psychiatrist.services.retrieval.references import References


class ConfiguredReferences:
    """Those that the settings name; what does not use them does not read them either."""

    def __init__(self, settings: ReferenceSettings, connections: ModelConnections) -> None:
        self._settings = settings
        self._connections = connections
        self._opening = asyncio.Lock()
        self._opened: References | None = None

    async def open(self) -> "References":
        """Return them, opened and checked once.

        Raises `ConfigurationError` and `ArtifactMismatch` for those that cannot be used.
        """
        async with self._opening:
            if self._opened is None:
                self._opened = await asyncio.to_thread(self._open)
            return self._opened

    def _open(self) -> "References":
        # Numbers and indexes are of no use to those who score without references.
        from ai_psychiatrist.wiring.references import references_of  # noqa: PLC0415

        return references_of(self._settings, self._connections)

    @property
    def digest(self) -> str:
        """Of their record, and so of all files."""
        if self._opened is None:
            msg = "the references are not open"
            raise RuntimeError(msg)
        return self._opened.digest

    @property
    def hosts(self) -> tuple[str, ...]:
        """Where a search sends words."""
        return self._connections.embedder_hosts(self._settings.embedder)

    async def references_for(
        self, evidence: Evidence, excluded: Identity
    ) -> Mapping[Item, ItemReferences]:
        """Return those that are like the evidence, and of nobody excluded."""
        return await (await self.open()).references_for(evidence, excluded)

    async def random_references(
        self, evidence: Evidence, excluded: Identity
    ) -> Mapping[Item, ItemReferences]:
        """Return such as are drawn with the seed of the settings for the same items."""
        found = await self.open()
        return await found.random_references(evidence, excluded, seed=self._settings.seed)
