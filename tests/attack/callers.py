"""Callers that cost little themselves: one connection, one request, one answer."""

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

_GIVEN_UP_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a caller got."""

    status: int
    """0 when the connection ended without an answer."""
    body: bytes
    seconds: float

    def json(self) -> Any:
        """Return the value of the body."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request to be sent."""

    path: str
    body: bytes = b""
    method: str = "POST"
    content_type: str = "application/json"

    def written(self, host: str) -> bytes:
        """Return its bytes on the wire."""
        head = (
            f"{self.method} {self.path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n"
            f"Content-Type: {self.content_type}\r\nContent-Length: {len(self.body)}\r\n\r\n"
        )
        return head.encode("ascii") + self.body


def posted(path: str, value: Mapping[str, object]) -> Call:
    """Return a request with a JSON body, its letters not escaped."""
    return Call(path=path, body=json.dumps(value, ensure_ascii=False).encode())


async def ask(url: str, call: Call, *, seconds: float = _GIVEN_UP_SECONDS) -> Answer:
    """Send one request over a connection of its own, and return the answer, if it comes in time."""
    parts = urlsplit(url)
    started = time.monotonic()
    answer = b""
    try:
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        try:
            writer.write(call.written(parts.netloc))
            async with asyncio.timeout(seconds):
                answer = await reader.read(-1)
        finally:
            writer.close()
    except OSError:
        pass
    head, _, body = answer.partition(b"\r\n\r\n")
    status = int(head.split(b" ", 2)[1]) if head else 0
    return Answer(status=status, body=body, seconds=time.monotonic() - started)


async def leave(url: str, call: Call, seconds: float) -> None:
    """Send one request and hang up after so many seconds."""
    parts = urlsplit(url)
    _, writer = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        writer.write(call.written(parts.netloc))
        await asyncio.sleep(seconds)
    finally:
        writer.transport.abort()
