"""A server on the loopback interface that keeps every call, whatever protocol it belongs to."""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeAlias

from tests.fakes.http_connection import HttpCall, HttpConnection, response_head
from tests.fakes.wires import encode_json

Answer: TypeAlias = Callable[[HttpCall], tuple[int, object]]


class RecordingServer:
    """Answer calls with a status and a JSON body while the `async with` block runs."""

    def __init__(self, answer: Answer = lambda _: (500, {})) -> None:
        self.calls: list[HttpCall] = []
        self.url = ""
        self._answer = answer
        self._connections: set[HttpConnection] = set()
        self._failures: list[BaseException] = []
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        """Listen on a free port."""
        self._server = await asyncio.get_running_loop().create_server(
            lambda: HttpConnection(self._handle, self._connections, self._failures), "127.0.0.1", 0
        )
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Drop what is left of the connections."""
        assert self._server is not None
        self._server.close()
        for connection in tuple(self._connections):
            connection.abort()
        await self._server.wait_closed()
        if self._failures and error is None:
            raise self._failures[0]

    async def _handle(self, call: HttpCall, transport: asyncio.Transport) -> None:
        self.calls.append(call)
        status, payload = self._answer(call)
        body = encode_json(payload)
        transport.write(response_head(status, "application/json", len(body)) + body)
