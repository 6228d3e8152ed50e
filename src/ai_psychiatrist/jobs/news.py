"""Wakes whoever waits in this process for news of jobs."""

import asyncio


class News:
    """Says that there may be something new; what it is, is asked for where it is stored."""

    def __init__(self) -> None:
        self._news = asyncio.Event()

    def tell(self) -> None:
        """Wake all who wait."""
        self._news.set()
        self._news = asyncio.Event()

    async def wait(self, seconds: float) -> None:
        """Return when there may be something new, and after so many seconds in any case.

        Of what another process does nobody tells here.
        """
        try:
            async with asyncio.timeout(seconds):
                await self._news.wait()
        except TimeoutError:
            return
