"""A connection that is encrypted: while its caller says hello, it waits like any other."""

import asyncio
import ssl
from asyncio.sslproto import SSLProtocol
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.api.waiting_connections import WaitingConnections

_GOODBYE_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsEntrance:
    """What the encrypted connections of a server share."""

    context: ssl.SSLContext
    waiting: WaitingConnections
    hello_seconds: float
    greeting: set["TlsConnection"] = field(default_factory=set)
    """Those that are not through with it, and that nobody else counts yet."""


class TlsConnection(SSLProtocol):
    """Between the network and a connection that reads requests.

    The framework's server would wait a minute for a hello, and count nobody who has not said it.
    """

    def __init__(self, inner: asyncio.Protocol, entrance: TlsEntrance) -> None:
        super().__init__(
            asyncio.get_running_loop(),
            inner,
            entrance.context,
            None,  # type: ignore[arg-type]  # as asyncio's own server gives it
            server_side=True,
            ssl_handshake_timeout=entrance.hello_seconds,  # type: ignore[arg-type]  # it is a time
            ssl_shutdown_timeout=_GOODBYE_SECONDS,
        )
        self._entrance = entrance
        self._network: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._network = transport
        self._entrance.greeting.add(self)
        self._entrance.waiting.add(self, asyncio.get_running_loop().time())
        super().connection_made(transport)

    def connection_lost(self, exc: BaseException | None) -> None:
        self.leave()
        super().connection_lost(exc)

    def leave(self) -> None:
        """Be counted by others from now on."""
        self._entrance.greeting.discard(self)
        self._entrance.waiting.discard(self)

    def is_overdue(self, seconds: float) -> bool:
        return seconds > self._entrance.hello_seconds

    def drop(self) -> None:
        self.leave()
        if self._network is not None:
            self._network.abort()
