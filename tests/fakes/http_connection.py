"""The little of HTTP/1.1 that a fake model server needs, on an asyncio protocol.

Benchmarks run the server beside the system under test on the same cores; this costs a fraction of a
web framework's CPU.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import TypeAlias, TypeVar

from anyio.from_thread import start_blocking_portal

_Entered = TypeVar("_Entered")

_HEAD_END = b"\r\n\r\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpCall:
    """One complete HTTP request."""

    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes


Handler: TypeAlias = Callable[[HttpCall, asyncio.Transport], Coroutine[None, None, None]]


class HttpConnection(asyncio.Protocol):
    """Keep one client's connection alive and hand over its calls one after another."""

    def __init__(
        self,
        handle: Handler,
        connections: set["HttpConnection"],
        failures: list[BaseException],
    ) -> None:
        self._handle = handle
        self._connections = connections
        self._failures = failures
        self._received = bytearray()
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the connection, so that the server can close it."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._connections.add(self)

    def data_received(self, data: bytes) -> None:
        """Collect bytes until a call is complete."""
        self._received += data
        self._start_next()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - fixed by asyncio
        """Give up the answer in progress."""
        self._connections.discard(self)
        self._transport = None
        if self._task is not None:
            self._task.cancel()

    def abort(self) -> None:
        """Close without sending what is left."""
        if self._transport is not None:
            self._transport.abort()

    def _start_next(self) -> None:
        if self._task is not None or self._transport is None:
            return
        call = take_call(self._received)
        if call is None:
            return
        self._task = asyncio.create_task(self._handle(call, self._transport))
        self._task.add_done_callback(self._finish)

    def _finish(self, task: asyncio.Task[None]) -> None:
        self._task = None
        if task.cancelled():
            return
        failure = task.exception()
        if failure is not None:
            self._failures.append(failure)
            self.abort()
        self._start_next()


@asynccontextmanager
async def listening(handle: Handler, *, port: int = 0) -> AsyncIterator[str]:
    """Serve on the loopback interface while the block runs; yields the address.

    `port`: 0 picks a free one. What a call raised drops its connection, and is raised at the end.
    """
    connections: set[HttpConnection] = set()
    failures: list[BaseException] = []
    server = await asyncio.get_running_loop().create_server(
        lambda: HttpConnection(handle, connections, failures), "127.0.0.1", port, backlog=1024
    )
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        # Hung answers included.
        while connections:
            for connection in tuple(connections):
                connection.abort()
            await asyncio.sleep(0)
        await server.wait_closed()
    if failures:
        raise failures[0]


@contextmanager
def in_thread(server: AbstractAsyncContextManager[_Entered]) -> Iterator[_Entered]:
    """Let a server run in a thread of its own while the block runs, for clients that block."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(server) as entered:
        yield entered


def take_call(received: bytearray) -> HttpCall | None:
    """Remove one complete call from the bytes received; none when more must come.

    A body needs a `Content-Length`: chunked ones are not read.
    """
    head_end = received.find(_HEAD_END)
    if head_end < 0:
        return None
    request_line, *lines = received[:head_end].decode("latin-1").split("\r\n")
    headers = {
        name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    body_start = head_end + len(_HEAD_END)
    body_end = body_start + int(headers.get("content-length", "0"))
    if len(received) < body_end:
        return None
    body = bytes(received[body_start:body_end])
    del received[:body_end]
    method, target, _ = request_line.split(" ", 2)
    return HttpCall(method=method, path=target.partition("?")[0], headers=headers, body=body)


def response_head(
    status: int, content_type: str, length: int, headers: Mapping[str, str] | None = None
) -> bytes:
    """Write status line and headers of a response that keeps the connection alive."""
    extra = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
    # Networks between a server and its clients answer with numbers of their own.
    known = HTTPStatus.__members__.values()
    phrase = next((one.phrase for one in known if one == status), "Unknown")
    return (
        f"HTTP/1.1 {status} {phrase}\r\n"
        f"Content-Type: {content_type}\r\nContent-Length: {length}\r\n{extra}\r\n"
    ).encode("latin-1")
