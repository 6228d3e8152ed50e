"""Assessments that go on after their caller was answered, and who waits for news of them."""

import asyncio
from collections.abc import Coroutine

from fastapi import Request

_NEWS_SECONDS = 1.0
"""How long somebody waits who follows what another process makes."""


class Begun:
    """The assessments that this process makes in the background."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._news = asyncio.Event()

    def begin(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        """Have work done beside everything else; it ends by itself or with `end`."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def tell(self) -> None:
        """Wake those who wait for news."""
        self._news.set()
        self._news = asyncio.Event()

    async def news(self) -> None:
        """Return when there may be something new."""
        try:
            async with asyncio.timeout(_NEWS_SECONDS):
                await self._news.wait()
        except TimeoutError:
            return

    async def end(self, *, patience_seconds: float) -> None:
        """Let what is under way end by itself, for so long; then end it."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=patience_seconds)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def begun_of(request: Request) -> Begun:
    """Return what the app makes in the background."""
    begun: Begun = request.app.state.begun
    return begun
