"""The one kind of HTTP client that models are asked through, whoever speaks over it."""

import json
import socket
import ssl
from collections.abc import AsyncIterator, Iterable, Iterator
from functools import cache
from itertools import islice
from typing import Any, Final

import httpx2
from aiohttp import ClientSession, TCPConnector
from openai import DefaultAioHttpClient

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.infrastructure.json_structure import (
    SMALL_BYTES,
    TooManyValues,
    refuse_costly,
)
from ai_psychiatrist.infrastructure.worker_threads import WorkerThreads, WorkTimedOut
from ai_psychiatrist.llm.call_failures import http_failure

_ESCAPED_BYTES_PER_BYTE: Final = 6
_ENVELOPE_BYTES: Final = 65_536
_MOST_READ_BYTES: Final = 32_768
_MOST_OBJECTS: Final = 500
"""In the answer to a call; the clients make a model of each, on the event loop."""
_LOOKERS: Final = WorkerThreads(count=1, seconds=30.0)


def http_client(
    *,
    timeout_seconds: float,
    max_reply_bytes: int,
    proxy: str | None = None,
    reads_batches: bool = False,
) -> httpx2.AsyncClient:
    """Return a client that sends nothing to a server that no setting names, and reads no flood.

    `reads_batches`: an answer may be the replies of a whole batch, which only their bytes bound.
    """
    most_bytes = max_reply_bytes * _ESCAPED_BYTES_PER_BYTE + _ENVELOPE_BYTES

    async def guard(response: httpx2.Response) -> None:
        is_encoded = response.headers.get("Content-Encoding", "identity") != "identity"
        if response.status_code // 100 == 3 or is_encoded:
            await response.aclose()
            code = FailureCode.MALFORMED_RESPONSE if is_encoded else FailureCode.REQUEST_REFUSED
            raise ModelCallFailed(code, http_status=response.status_code)
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _BoundedStream(response.stream, most_bytes, _failure(response))
        await response.aread()
        if not reads_batches:
            await _refuse_costly(response)

    # A third of the CPU time per call less than the default transport, measured with 32
    # assessments under way: that one looks at every pooled connection on each call.
    return _ModelClient(
        timeout=timeout_seconds,
        verify=trusted_certificates(),
        proxy=proxy,
        trust_env=False,
        follow_redirects=False,
        headers={"Accept-Encoding": "identity"},
        event_hooks={"request": [_strip_userinfo], "response": [guard]},
    )


@cache
def trusted_certificates() -> ssl.SSLContext:
    """Return what servers are known by, read once: for each client it would take 20 ms anew."""
    return httpx2.create_ssl_context(trust_env=False)


class _ModelClient(DefaultAioHttpClient):
    """Takes in little at a time: all that came is parsed in one step on the event loop."""

    def _init_transport(self, *args: Any, **kwargs: Any) -> httpx2.AsyncBaseTransport:  # noqa: ANN401
        return _reading_little(super()._init_transport(*args, **kwargs))

    def _init_proxy_transport(self, *args: Any, **kwargs: Any) -> httpx2.AsyncBaseTransport:  # noqa: ANN401
        return _reading_little(super()._init_proxy_transport(*args, **kwargs))


def _reading_little(transport: Any) -> httpx2.AsyncBaseTransport:  # noqa: ANN401
    """Let an aiohttp transport make its session as it would, but for the size of its sockets."""

    def session() -> ClientSession:
        connector = TCPConnector(
            limit=transport.limits.max_connections or 0,
            keepalive_timeout=transport.limits.keepalive_expiry,
            ssl=transport.ssl_context,
            socket_factory=_small_socket,
        )
        return ClientSession(connector=connector)

    transport.client = session
    made: httpx2.AsyncBaseTransport = transport
    return made


def _small_socket(address: tuple[Any, ...]) -> socket.socket:
    family, kind, protocol, _, _ = address
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _MOST_READ_BYTES)
    return made


async def _refuse_costly(response: httpx2.Response) -> None:
    """Refuse a response of millions of parts before anybody makes an object of each."""
    body, is_call = response.content, response.request.method == "POST"
    try:
        if len(body) > SMALL_BYTES:
            await _LOOKERS.run(lambda: _look(body, is_call=is_call))
        else:
            _look(body, is_call=is_call)
    except (ValueError, RecursionError):
        raise _failure(response) from None
    except WorkTimedOut:
        raise ModelCallFailed(FailureCode.TIMED_OUT) from None


def _failure(response: httpx2.Response) -> ModelCallFailed:
    """Return what a call has met whose answer is too large or too much to be read."""
    if response.is_error:
        return http_failure(response.status_code, None, response.headers)
    return ModelCallFailed(FailureCode.MALFORMED_RESPONSE)


def _look(body: bytes, *, is_call: bool) -> None:
    if len(body) > SMALL_BYTES:
        refuse_costly(body)
    if is_call and body.count(b"{") > _MOST_OBJECTS:
        objects = islice(_objects(json.loads(body)), _MOST_OBJECTS + 1)
        if sum(1 for _ in objects) > _MOST_OBJECTS:
            raise TooManyValues


def _objects(value: object) -> Iterator[object]:
    """Yield the objects of a JSON value, at any depth."""
    held: Iterable[object] = ()
    if isinstance(value, dict):
        yield value
        held = value.values()
    elif isinstance(value, list):
        held = value
    for one in held:
        yield from _objects(one)


async def _strip_userinfo(request: httpx2.Request) -> None:
    """Leave name and password to the header that has them by now: the transport takes one alone."""
    request.url = request.url.copy_with(userinfo=b"")


class _BoundedStream(httpx2.AsyncByteStream):
    """The bytes of a response, up to a limit."""

    def __init__(
        self, stream: httpx2.AsyncByteStream, most_bytes: int, failure: ModelCallFailed
    ) -> None:
        self._stream = stream
        self._left = most_bytes
        self._failure = failure

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._left -= len(chunk)
            if self._left < 0:
                raise self._failure
            yield chunk

    async def aclose(self) -> None:
        """Give the connection back."""
        await self._stream.aclose()
