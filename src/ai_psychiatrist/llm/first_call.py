"""The first call of an assessment goes ahead, so that the others find its prefix in a cache."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ai_psychiatrist.llm.routes import ModelRoute


class FirstCallAhead:
    """Holds the calls of one assessment back until the first one to their model has ended.

    Providers keep a prefix once a reply to it has begun. Calls that come before pay for all of it.
    """

    def __init__(self) -> None:
        self._ended: dict[str, asyncio.Event] = {}

    @asynccontextmanager
    async def turn(self, route: ModelRoute) -> AsyncIterator[None]:
        """Wait for the model's first call, or be it; however that ends, the others then go."""
        # Calls of one batch are made whenever the provider likes, and are handed in together.
        if not route.caches_prefixes or route.is_batched:
            yield
            return
        first = self._ended.get(route.name)
        if first is not None:
            await first.wait()
            yield
            return
        ended = self._ended[route.name] = asyncio.Event()
        try:
            yield
        finally:
            ended.set()
