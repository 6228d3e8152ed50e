"""A model server that sends anything, over every wire; in a process of its own."""

import asyncio
import gzip
import json
import multiprocessing
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from functools import cache
from itertools import cycle
from multiprocessing.connection import Connection
from multiprocessing.sharedctypes import Synchronized
from types import TracebackType
from typing import Final, Self

from tests.attack.costly_replies import COSTLIEST, COSTLY_REPLIES
from tests.attack.hostile_texts import HOSTILE_TEXTS

WIRES: Final = ("openai-chat", "ollama", "anthropic", "google")
_BOMB_BYTES: Final = 1_000_000_000
_BLOCK: Final = b" " * 1_048_576
_ENOUGH_BYTES: Final = 4_000_000_000
_LONG_CHARACTERS: Final = 1_000_000
_SPAWNING: Final = multiprocessing.get_context("spawn")

Sent = Callable[[str], AsyncIterator[bytes]]
"""From the wire to the bytes of a whole response."""


def model_settings(wire: str, url: str) -> dict[str, str]:
    """Return the settings that name this server as every agent's model."""
    of_wire = {
        "openai-chat": {"OPENAI_BASE_URL": f"{url}/v1"},
        "ollama": {"OLLAMA_HOST": url},
        "anthropic": {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none"},
        "google": {"GOOGLE_BASE_URL": url, "GOOGLE_API_KEY": "none"},
    }
    return {"MODEL_DEFAULT": f"{wire}:hostile"} | of_wire[wire]


def reply(wire: str, text: str) -> bytes:
    """Return a reply with this text as the wire has it."""
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    of_wire: dict[str, dict[str, object]] = {
        "openai-chat": {
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": "hostile",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "stop",
                    "message": {"role": "assistant", "content": text},
                }
            ],
            "usage": usage,
        },
        "ollama": {
            "model": "hostile",
            "created_at": "2025-01-01T00:00:00Z",
            "message": {"role": "assistant", "content": text},
            "done": True,
            "done_reason": "stop",
        },
        "anthropic": {
            "id": "x",
            "type": "message",
            "role": "assistant",
            "model": "hostile",
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        },
        "google": {
            "candidates": [
                {
                    "index": 0,
                    "content": {"role": "model", "parts": [{"text": text}]},
                    "finishReason": "STOP",
                }
            ],
            "usageMetadata": {
                "promptTokenCount": 1,
                "candidatesTokenCount": 1,
                "totalTokenCount": 2,
            },
        },
    }
    return json.dumps(of_wire[wire], ensure_ascii=False).encode("utf-8", "replace")


def _head(*headers: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode()


def _whole(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    return _head(f"Content-Length: {len(body)}", *headers, status=status) + body


@cache
def _bomb(encoding: str) -> bytes:
    packer = zlib.compressobj(1, zlib.DEFLATED, 31 if encoding == "gzip" else 15)
    blocks = [packer.compress(_BLOCK) for _ in range(_BOMB_BYTES // len(_BLOCK))]
    return b"".join([*blocks, packer.flush()])


def _encoded(encoding: str, made: Callable[[], bytes]) -> Sent:
    async def sent(_wire: str) -> AsyncIterator[bytes]:
        yield _whole(made(), f"Content-Encoding: {encoding}")

    return sent


# Nothing that is installed writes brotli or zstd: what claims to be so has to be refused unread.
_BOMBS: Final[Mapping[str, Sent]] = {
    "a gzip bomb of 1 GB": _encoded("gzip", lambda: _bomb("gzip")),
    "a deflate bomb of 1 GB": _encoded("deflate", lambda: _bomb("deflate")),
    "a gzip bomb in gzip": _encoded("gzip, gzip", lambda: gzip.compress(_bomb("gzip"))),
    "brotli": _encoded("br", lambda: b"\x8b" * 1_048_576),
    "zstd": _encoded("zstd", lambda: b"\x28\xb5\x2f\xfd" * 262_144),
}


async def _without_length(_wire: str) -> AsyncIterator[bytes]:
    yield _head()
    for _ in range(_ENOUGH_BYTES // len(_BLOCK)):
        yield _BLOCK


async def _chunked(_wire: str) -> AsyncIterator[bytes]:
    yield _head("Transfer-Encoding: chunked")
    for _ in range(_ENOUGH_BYTES // len(_BLOCK)):
        yield b"%x\r\n%b\r\n" % (len(_BLOCK), _BLOCK)


async def _tiny_chunks(_wire: str) -> AsyncIterator[bytes]:
    yield _head("Transfer-Encoding: chunked")
    for _ in range(2_000):
        yield b"1\r\n \r\n" * 10_000


async def _dripped(wire: str) -> AsyncIterator[bytes]:
    yield _head(f"Content-Length: {len(reply(wire, 'a' * 10_000))}")
    while True:
        await asyncio.sleep(0.05)
        yield b" "


async def _dripped_head(_wire: str) -> AsyncIterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\nX: "
    while True:
        await asyncio.sleep(0.05)
        yield b"x"


async def _many_headers(wire: str) -> AsyncIterator[bytes]:
    yield _whole(reply(wire, "{}"), *(f"X-{number}: {'x' * 100}" for number in range(500)))


async def _long_header(wire: str) -> AsyncIterator[bytes]:
    yield _whole(reply(wire, "{}"), f"X-Long: {'x' * 10_000_000}")


async def _endless_headers(_wire: str) -> AsyncIterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\n"
    for _ in range(4_000):
        yield b"".join(b"X-%d: %b\r\n" % (number, b"x" * 1_000) for number in range(1_000))


async def _long_status(_wire: str) -> AsyncIterator[bytes]:
    yield b"HTTP/1.1 200 "
    for _ in range(4_000):
        yield _BLOCK


async def _continued(_wire: str) -> AsyncIterator[bytes]:
    for _ in range(2_000):
        yield b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000


async def _endless_error(_wire: str) -> AsyncIterator[bytes]:
    yield _head(status="500 Internal Server Error")
    for _ in range(_ENOUGH_BYTES // len(_BLOCK)):
        yield _BLOCK


async def _many_choices(_wire: str) -> AsyncIterator[bytes]:
    yield _whole(b'{"choices":[' + b"{}," * 2_000_000 + b"{}]}")


async def _many_brackets(_wire: str) -> AsyncIterator[bytes]:
    yield _whole(b"[" * 6_000_000)


def _text(text: str) -> Sent:
    async def sent(wire: str) -> AsyncIterator[bytes]:
        yield _whole(reply(wire, text))

    return sent


def _in_turn(texts: Iterable[str]) -> Sent:
    turns = cycle(texts)

    async def sent(wire: str) -> AsyncIterator[bytes]:
        yield _whole(reply(wire, next(turns)))

    return sent


def _shape(name: str) -> Sent:
    async def sent(wire: str) -> AsyncIterator[bytes]:
        yield _whole(reply(wire, HOSTILE_TEXTS[name](_LONG_CHARACTERS // 3)))

    return sent


_ANSWER: Final = "<answer>~</answer>"
_TEXTS: Final[Mapping[str, str]] = {
    "brackets": "[" * _LONG_CHARACTERS,
    "braces": "{" * _LONG_CHARACTERS,
    "objects in objects": '{"a":' * (_LONG_CHARACTERS // 5),
    "objects": "{}" * (_LONG_CHARACTERS // 2),
    "quotation marks": '"' * _LONG_CHARACTERS,
    "backslashes": '{"a": "' + "\\" * _LONG_CHARACTERS,
    "thinking": "<think>" * (_LONG_CHARACTERS // 7),
    "thinking closed": "</think>" * (_LONG_CHARACTERS // 8),
    "fences": "```\n" * (_LONG_CHARACTERS // 4),
    "answers": "<answer>" * (_LONG_CHARACTERS // 8),
    "answers in pairs": "<answer></answer>" * (_LONG_CHARACTERS // 17),
    "tags": "<assessment>" * (_LONG_CHARACTERS // 12),
    "commas": _ANSWER.replace("~", '{"a":1' + "," * _LONG_CHARACTERS + "}"),
    "digits": _ANSWER.replace("~", '{"a":' + "9" * _LONG_CHARACTERS + "}"),
    "keys": _ANSWER.replace("~", "{" + '"a":1,' * (_LONG_CHARACTERS // 6) + '"b":1}'),
    "single quotes": _ANSWER.replace("~", "{" + "'a':1," * (_LONG_CHARACTERS // 6) + "}"),
    "line breaks": "\n" * _LONG_CHARACTERS,
    "score": "Score: " * (_LONG_CHARACTERS // 7),
    "quotes of evidence": '{"PHQ8_Sleep": ["' + '", "'.join(["tired"] * 150_000) + '"]}',
}
_OF_TRANSPORT: Final[Mapping[str, Sent]] = {
    **_BOMBS,
    "endless without length": _without_length,
    "endless chunks": _chunked,
    "20,000,000 chunks of a byte": _tiny_chunks,
    "a body that drips": _dripped,
    "a head that drips": _dripped_head,
    "500 headers": _many_headers,
    "a header of 10 MB": _long_header,
    "4,000,000 headers": _endless_headers,
    "an endless status line": _long_status,
    "2,000,000 interim responses": _continued,
    "an endless error": _endless_error,
    "2,000,000 choices": _many_choices,
    "6,000,000 brackets": _many_brackets,
}
_WORDS: Final = (
    "marks out of order",
    "ligature of eighteen letters",
    "zero width in words",
    "one word",
    "open tags",
    "newlines",
    "apostrophes",
)
EVERY_COSTLY: Final = "every costly reply in turn"
TRANSPORTED: Final = tuple(_OF_TRANSPORT)
"""Replies whose bytes are wrong, not what they say."""
HOSTILE_REPLIES: Final[Mapping[str, Sent]] = {
    **_OF_TRANSPORT,
    **{f"text: {name}": _text(text) for name, text in _TEXTS.items()},
    **{f"text: {name}": _shape(name) for name in _WORDS},
    **{name: _text(COSTLY_REPLIES[name]) for name in COSTLIEST},
    EVERY_COSTLY: _in_turn(COSTLY_REPLIES.values()),
}


class HostileServer:
    """Serves one kind of reply at a time over one wire, while the `with` block runs.

    What it sends is counted; making the bombs takes some seconds.
    """

    def __init__(self, wire: str, *, has_bombs: bool = True) -> None:
        ours, theirs = _SPAWNING.Pipe()
        self._chosen = _SPAWNING.Value("i", 0)
        self._sent_bytes = _SPAWNING.Value("q", 0)
        self._process = _SPAWNING.Process(
            target=_serve,
            args=(wire, theirs, self._chosen, self._sent_bytes, has_bombs),
            daemon=True,
        )
        self._told = ours
        self.url = ""

    def __enter__(self) -> Self:
        """Start it."""
        self._process.start()
        self.url = f"http://127.0.0.1:{self._told.recv()}"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it at once."""
        self._process.kill()
        self._process.join()

    @property
    def sent_bytes(self) -> int:
        """How much was sent since a reply was chosen."""
        return int(self._sent_bytes.value)

    def choose(self, name: str) -> None:
        """Send this reply from now on."""
        self._sent_bytes.value = 0
        self._chosen.value = list(HOSTILE_REPLIES).index(name)


def _serve(
    wire: str,
    told: Connection,
    chosen: "Synchronized[int]",
    sent_bytes: "Synchronized[int]",
    has_bombs: bool,
) -> None:
    for encoding in ("gzip", "deflate") if has_bombs else ():
        _bomb(encoding)
    replies = list(HOSTILE_REPLIES.values())

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await _read_request(reader)
            async for part in replies[chosen.value](wire):
                writer.write(part)
                await writer.drain()
                sent_bytes.value += len(part)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def serve() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        told.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(serve())


async def _read_request(reader: asyncio.StreamReader) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = head.partition(b"content-length:")[2].split(b"\r\n", 1)[0]
    await reader.readexactly(int(length or 0))
