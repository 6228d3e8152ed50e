"""The one kind of HTTP client that models are asked through, whichever library speaks over it."""

import json
import socket
import ssl
from dataclasses import dataclass, field
from functools import cache
from math import inf
from typing import Final

import aiohttp
import httpx2
from yarl import URL

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.infrastructure.json_structure import (
    SMALL_BYTES,
    TooManyValues,
    refuse_costly,
)
from ai_psychiatrist.infrastructure.off_loop import WorkerThreads, WorkTimedOut
from ai_psychiatrist.llm.failures import http_failure
from ai_psychiatrist.llm.providers import Provider

_ESCAPED_BYTES_PER_BYTE: Final = 6
_ENVELOPE_BYTES: Final = 65_536
_MOST_READ_BYTES: Final = 32_768
_MOST_OBJECTS: Final = 500
"""In the answer to a call; the clients make a model of each, on the event loop."""
_MOST_CONNECTIONS: Final = 1_000
_CONNECT_SECONDS: Final = 30.0
_KEPT_ALIVE_SECONDS: Final = 5.0
_LOOKERS: Final = WorkerThreads(count=1, seconds=30.0)


NO_KEY: Final = "none"
"""What goes out where a client insists on a key and the server has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How a server is reached, under one key."""

    provider: Provider
    address: str
    key: str = field(repr=False)
    http: httpx2.AsyncClient = field(repr=False)
    timeout_seconds: float


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
    return httpx2.AsyncClient(
        timeout=timeout_seconds,
        transport=_Transport(
            most_bytes=max_reply_bytes * _ESCAPED_BYTES_PER_BYTE + _ENVELOPE_BYTES,
            proxy=proxy,
            reads_batches=reads_batches,
        ),
        trust_env=False,
        follow_redirects=False,
        headers={"Accept-Encoding": "identity"},
    )


def hosts_of(address: str, proxy: str | None) -> tuple[str, ...]:
    """Return who reads what is sent to an address, as `host:port`: of TLS a proxy reads nothing."""
    ways = [address, proxy] if proxy and not address.startswith("https:") else [address]
    try:
        return tuple(httpx2.URL(way).netloc.decode() for way in ways)
    except httpx2.InvalidURL:
        # Nothing can be sent there.
        return ()


@cache
def trusted_certificates() -> ssl.SSLContext:
    """Return the trusted certificates, loaded once: each load takes 20 ms."""
    return httpx2.create_ssl_context(trust_env=False)


class _Transport(httpx2.AsyncBaseTransport):
    """Sends requests by aiohttp, and gives whole responses that are cheap to read, or a failure.

    A third of the CPU time per call less than httpx2's own, measured with 32 assessments under way:
    that one looks at every pooled connection on each call.
    """

    def __init__(self, *, most_bytes: int, proxy: str | None, reads_batches: bool) -> None:
        self._most_bytes = most_bytes
        self._proxy = proxy
        self._reads_batches = reads_batches
        self._session: aiohttp.ClientSession | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; raises `ModelCallFailed` for what gives no response that can be read."""
        try:
            response = await self._sent(request)
        except aiohttp.ConnectionTimeoutError:
            raise ModelCallFailed(FailureCode.CONNECTION_FAILED) from None
        except TimeoutError:
            raise ModelCallFailed(FailureCode.TIMED_OUT) from None
        except aiohttp.ClientPayloadError:
            raise ModelCallFailed(FailureCode.BROKEN_OFF) from None
        except (aiohttp.ClientError, ssl.SSLError, OSError):
            raise ModelCallFailed(FailureCode.CONNECTION_FAILED) from None
        if not self._reads_batches:
            await _refuse_costly(response)
        return response

    async def aclose(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()

    async def _sent(self, request: httpx2.Request) -> httpx2.Response:
        waits = request.extensions.get("timeout", {})
        # Well within the time of the call, which would end as that of a slow model.
        connect = min((waits.get("connect") or inf) / 2, _CONNECT_SECONDS)
        async with self._open_session().request(
            request.method,
            # Name and password are in a header by now: the URL may hold them no second time.
            URL(str(request.url.copy_with(userinfo=b"")), encoded=True),
            headers=request.headers.multi_items(),
            data=await request.aread() or None,
            allow_redirects=False,
            proxy=self._proxy,
            timeout=aiohttp.ClientTimeout(
                total=None, sock_connect=connect, sock_read=waits.get("read")
            ),
        ) as response:
            headers = httpx2.Headers(response.raw_headers)
            status = response.status
            if status // 100 == 3:
                raise ModelCallFailed(FailureCode.REQUEST_REFUSED, http_status=status)
            if headers.get("Content-Encoding", "identity") != "identity":
                raise ModelCallFailed(FailureCode.MALFORMED_RESPONSE, http_status=status)
            body = bytearray()
            async for chunk in response.content.iter_any():
                body += chunk
                if len(body) > self._most_bytes:
                    raise _failure(status, headers)
            return httpx2.Response(status, headers=headers, content=bytes(body), request=request)

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = aiohttp.TCPConnector(
                limit=_MOST_CONNECTIONS,
                keepalive_timeout=_KEPT_ALIVE_SECONDS,
                ssl=trusted_certificates(),
                socket_factory=_small_socket,
            )
            self._session = aiohttp.ClientSession(
                connector=connector, auto_decompress=False, cookie_jar=aiohttp.DummyCookieJar()
            )
        return self._session


def _small_socket(address: aiohttp.AddrInfoType) -> socket.socket:
    """Make a socket that takes in little at a time: all that came is parsed in one step."""
    family, kind, protocol, _, _ = address
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _MOST_READ_BYTES)
    return made


def _failure(status: int, headers: httpx2.Headers) -> ModelCallFailed:
    """Return what a call has met whose answer is too large or too much to be read."""
    if status >= 400:
        return http_failure(status, None, headers)
    return ModelCallFailed(FailureCode.MALFORMED_RESPONSE)


async def _refuse_costly(response: httpx2.Response) -> None:
    """Refuse a response of millions of parts before a library makes an object of each."""
    body, is_call = response.content, response.request.method == "POST"
    try:
        if len(body) > SMALL_BYTES:
            await _LOOKERS.run(lambda: _look(body, is_call=is_call))
        else:
            _look(body, is_call=is_call)
    except (ValueError, RecursionError):
        raise _failure(response.status_code, response.headers) from None
    except WorkTimedOut:
        raise ModelCallFailed(FailureCode.TIMED_OUT) from None


def _look(body: bytes, *, is_call: bool) -> None:
    if len(body) > SMALL_BYTES:
        refuse_costly(body)
    if is_call and body.count(b"{") > _MOST_OBJECTS:
        objects: list[object] = []
        json.loads(body, object_hook=objects.append)
        if len(objects) > _MOST_OBJECTS:
            raise TooManyValues
