"""How long the server's health is waited for, measured by processes of their own."""

import asyncio
import math
import multiprocessing
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Final
from urllib.parse import urlsplit

BAR_MILLISECONDS: Final = 100.0
BUSY_MILLISECONDS: Final = 50.0
"""When a server that does nothing else is as late, the machine is busy with other work."""
_EVERY_SECONDS: Final = 0.01
_GIVEN_UP_SECONDS: Final = 30.0
_NOTHING: Final = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
_SPAWNING: Final = multiprocessing.get_context("spawn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """One question after the health."""

    began: float
    """By the monotonic clock, which all processes of a machine share."""
    milliseconds: float
    """Infinite when it was not answered."""

    def is_within(self, began: float, ended: float) -> bool:
        """Whether any of the wait was in a stretch of time."""
        return self.began <= ended and self.began + min(self.milliseconds, 3e4) / 1000 >= began


@dataclass(slots=True)
class Waits:
    """All waits for a server and for one beside it that does nothing, once they are over."""

    server: list[Wait] = field(default_factory=list)
    control: list[Wait] = field(default_factory=list)

    def worst(self, began: float, ended: float) -> float:
        """Return the longest wait for the server in a stretch of time, in milliseconds."""
        return _worst(self.server, began, ended)

    def worst_control(self, began: float, ended: float) -> float:
        """Return the longest wait for the control, in milliseconds."""
        return _worst(self.control, began, ended)


def _worst(waits: Sequence[Wait], began: float, ended: float) -> float:
    within = (wait.milliseconds for wait in waits if wait.is_within(began, ended))
    return max(within, default=0.0)


@contextmanager
def watching(url: str) -> Iterator[Waits]:
    """Ask after the health every 10 ms; the waits are there after the block."""
    waits = Waits()
    with _control() as control, _asking(url, waits.server), _asking(control, waits.control):
        yield waits


@contextmanager
def _control() -> Iterator[str]:
    ours, theirs = _SPAWNING.Pipe()
    process = _SPAWNING.Process(target=_serve_nothing, args=(theirs,), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}"
    finally:
        process.kill()
        process.join()


def _serve_nothing(told: Connection) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(_NOTHING)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def serve() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        told.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(serve())


@contextmanager
def _asking(url: str, waits: list[Wait]) -> Iterator[None]:
    ours, theirs = _SPAWNING.Pipe()
    process = _SPAWNING.Process(target=_ask, args=(url, theirs), daemon=True)
    process.start()
    ours.recv()
    try:
        yield
    finally:
        ours.send("enough")
        waits += ours.recv()
        process.join()


def _ask(url: str, told: Connection) -> None:
    parts = urlsplit(url)
    place = str(parts.hostname), int(parts.port or 80)
    asked = f"GET /healthz HTTP/1.1\r\nHost: {parts.netloc}\r\n".encode()
    waits: list[Wait] = []
    kept: socket.socket | None = None
    told.send("ready")
    while not told.poll(_EVERY_SECONDS):
        for is_kept in (True, False):
            began = time.monotonic()
            try:
                used = kept if is_kept and kept else _connected(place)
                used.sendall(asked + (b"" if is_kept else b"Connection: close\r\n") + b"\r\n")
                _receive(used)
                waited = (time.monotonic() - began) * 1000
                kept = used if is_kept else kept
                if not is_kept:
                    used.close()
            except OSError:
                waited = math.inf
                kept = None if is_kept else kept
            waits.append(Wait(began=began, milliseconds=waited))
    told.send(waits)


def _connected(place: tuple[str, int]) -> socket.socket:
    opened = socket.create_connection(place, timeout=_GIVEN_UP_SECONDS)
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return opened


def _receive(used: socket.socket) -> None:
    """Read one whole answer; raises `OSError` unless it says that all is well."""
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += _some(used)
    head, _, body = answer.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise ConnectionError
    length = head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0]
    while len(body) < int(length):
        body += _some(used)


def _some(used: socket.socket) -> bytes:
    received = used.recv(4096)
    if not received:
        raise ConnectionError
    return received
