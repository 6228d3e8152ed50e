"""Somebody who wants webhooks, on a port of the loopback interface, well or badly behaved."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from tests.fakes.http_connection import HttpCall, listening, response_head
from tests.patience import PATIENCE_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaction:
    """What a receiver does with one call."""

    status: int = 204
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    length: int | None = None
    """What the head says of the body; `None`: the truth."""
    waits_for: asyncio.Event | None = None
    closes: bool = False


React: TypeAlias = Callable[[int], Reaction]
"""Takes how many calls came before."""


@dataclass(slots=True)
class Receiver:
    """Keeps what came; each call is reacted to by its number."""

    react: React
    calls: list[HttpCall] = field(default_factory=list)
    most_at_once: int = 0
    address: str = ""
    _now: int = 0
    _arrived: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def place(self) -> str:
        """Host and port, as the setting names them."""
        return self.address.removeprefix("http://")

    @property
    def url(self) -> str:
        """Where webhooks are to go."""
        return f"{self.address}/ended?token=word"

    async def came(self, count: int) -> None:
        """Return once so many calls have come."""
        async with asyncio.timeout(PATIENCE_SECONDS), self._arrived:
            await self._arrived.wait_for(lambda: len(self.calls) >= count)

    async def handle(self, call: HttpCall, transport: asyncio.Transport) -> None:
        """React to one call."""
        reaction = self.react(len(self.calls))
        async with self._arrived:
            self.calls.append(call)
            self._arrived.notify_all()
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        try:
            if reaction.waits_for is not None:
                await reaction.waits_for.wait()
        finally:
            self._now -= 1
        if reaction.closes:
            transport.abort()
            return
        length = len(reaction.body) if reaction.length is None else reaction.length
        head = response_head(reaction.status, "text/plain", length, reaction.headers)
        transport.write(head + reaction.body)


@asynccontextmanager
async def receiving(react: React = lambda _: Reaction()) -> AsyncIterator[Receiver]:
    """Yield a receiver that listens while the block runs."""
    receiver = Receiver(react)
    async with listening(receiver.handle) as receiver.address:
        yield receiver
