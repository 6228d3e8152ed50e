"""A server on the loopback interface that keeps every call, whatever protocol it belongs to."""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeAlias

from tests.fakes.http_connection import HttpCall, listening, response_head
from tests.fakes.wires import encode_json

Answer: TypeAlias = Callable[[HttpCall], tuple[int, object]]


class RecordingServer:
    """Answer calls with a status and a JSON body while the `async with` block runs."""

    def __init__(self, answer: Answer = lambda _: (500, {})) -> None:
        self.calls: list[HttpCall] = []
        self.url = ""
        self._answer = answer
        self._listening = listening(self._handle)

    async def __aenter__(self) -> Self:
        """Listen on a free port."""
        self.url = await self._listening.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Drop what is left of the connections."""
        await self._listening.__aexit__(kind, error, trace)

    async def _handle(self, call: HttpCall, transport: asyncio.Transport) -> None:
        self.calls.append(call)
        status, payload = self._answer(call)
        body = encode_json(payload)
        transport.write(response_head(status, "application/json", len(body)) + body)
