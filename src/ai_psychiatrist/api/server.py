"""The HTTP server of `serve`: uvicorn with deadlines for callers and a bound on connections."""

import asyncio
import socket
import struct
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any, Final

from uvicorn import Config, Server
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from ai_psychiatrist.api.connections import RareEvent
from ai_psychiatrist.api.limits import FREE_PIECES, SMALL_PIECE
from ai_psychiatrist.api.openapi import DocumentedApp
from ai_psychiatrist.api.tls import require_usable_tls
from ai_psychiatrist.config import ApiSettings

try:
    import resource
except ImportError:  # Windows has no such limit.
    resource = None  # type: ignore[assignment]

_BACKLOG: Final = 2048
_ACCEPTED_AT_ONCE: Final = 32
"""asyncio takes as many connections before any of them is heard or closed."""
_LAG: Final = 4 * _ACCEPTED_AT_ONCE
"""Connections that are accepted or closed, and not yet known as such."""
_OTHER_DESCRIPTORS: Final = 192
"""Files, databases, worker processes, and connections to models."""
_MOST_HEADER_BYTES: Final = 65_536
_RESET: Final = struct.pack("ii", 1, 0)
_READ_AT_ONCE: Final = bytearray(16_384)
"""Where all connections receive: the loop takes turns between them after so many bytes of each."""
_PIECE_SECONDS: Final = 0.0002
"""A piece costs the loop a tenth of it, so that one connection never takes more than a tenth."""
_FEWEST: Final = 16
_TICKS_BETWEEN_LOOKS: Final = 2
"""A tick is a tenth of a second."""


class WaitingConnections:
    """All of a server's, those that have waited longest first."""

    def __init__(self, *, most: int) -> None:
        self.most: Final = most
        self._since: dict[_Connection, float] = {}
        self._dropped = RareEvent("connections_dropped", reason="too_many_open")

    def add(self, connection: "_Connection", now: float) -> None:
        """Count from now, unless the connection waits already."""
        self._since.setdefault(connection, now)

    def discard(self, connection: "_Connection") -> None:
        """Stop counting."""
        self._since.pop(connection, None)

    def make_room(self, open_connections: int) -> None:
        """Drop the one that has waited longest when more are open than may be."""
        if open_connections > self.most and self._since:
            longest = next(iter(self._since))
            self.discard(longest)
            longest.drop()
            self._dropped.happened()

    def drop_overdue(self, now: float) -> None:
        """Drop all that have waited too long."""
        waited = [(connection, now - since) for connection, since in self._since.items()]
        for connection, seconds in waited:
            if connection.is_overdue(seconds):
                self.discard(connection)
                connection.drop()


class BoundedConfig(Config):
    """How an application is served within the limits of the settings."""

    def __init__(self, app: DocumentedApp, settings: ApiSettings, *, root_path: str = "") -> None:
        """`root_path`: what a proxy in front serves it under.

        Raises `ConfigurationError` for a certificate or key that cannot be used.
        """
        require_usable_tls(settings)
        most = min(settings.max_connections, _affordable_connections())
        self.opened_app = app
        self.settings = settings
        self.waiting = WaitingConnections(most=most)
        super().__init__(
            app,
            http=_Connection,
            ws="none",
            # The server opens the application: the framework would hide why it cannot be.
            lifespan="off",
            log_config=None,
            access_log=False,
            root_path=root_path,
            limit_concurrency=most + _LAG,
            timeout_keep_alive=settings.idle_timeout_seconds,
            timeout_graceful_shutdown=2,
            # By itself the framework would believe every program of this machine.
            proxy_headers=False,
            ssl_certfile=settings.tls_cert_file,
            ssl_keyfile=settings.tls_key_file,
        )


class BoundedServer(Server):
    """Opens the application, and looks after the connections while it serves."""

    def __init__(self, config: BoundedConfig, *, on_opened: Callable[[], None]) -> None:
        """`on_opened` is called before the first request is accepted."""
        super().__init__(config)
        self._config = config
        self._on_opened = on_opened
        self._opened = AsyncExitStack()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start on these sockets; more callers queue than are taken in at once.

        Raises `ConfigurationError` for an application that cannot be opened.
        """
        await self._opened.enter_async_context(self._config.opened_app.running())
        self._on_opened()
        loop = asyncio.get_running_loop()
        # The framework leaves a caller a minute for a TLS hello.
        hello_seconds = self._config.settings.header_timeout_seconds if self._config.ssl else None
        self.servers = [
            await loop.create_server(
                lambda: _Connection(self._config, self.server_state, {}),
                sock=one,
                ssl=self._config.ssl,
                ssl_handshake_timeout=hello_seconds,
                backlog=_ACCEPTED_AT_ONCE,
            )
            for one in sockets or []
        ]
        for one in sockets or []:
            one.listen(_BACKLOG)
        self.started = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop, and close the application."""
        await super().shutdown(sockets)
        if not self.force_exit:
            await self._opened.aclose()

    async def on_tick(self, counter: int) -> bool:
        """Drop the connections whose callers are too late."""
        if counter % _TICKS_BETWEEN_LOOKS == 0:
            self._config.waiting.drop_overdue(asyncio.get_running_loop().time())
        return await super().on_tick(counter)


class _Connection(HttpToolsProtocol, asyncio.BufferedProtocol):
    """One connection. It waits for its caller except while a whole request is worked on."""

    def __init__(
        self,
        config: BoundedConfig,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._settings = config.settings
        self._waiting = config.waiting
        self._header_bytes: int | None = None
        """Received of a header that is not whole; `None` where there is none."""
        self._small_pieces = 0
        """Of bodies, since reading was last paused for them."""
        self._answered_now: RequestResponseCycle | None = None
        """The request that is worked on; `cycle` is the one that came last, perhaps behind it."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._waiting.make_room(len(self.connections))
        self._look()

    def get_buffer(self, sizehint: int) -> bytearray:  # noqa: ARG002  as asyncio calls it
        return _READ_AT_ONCE

    def buffer_updated(self, nbytes: int) -> None:
        self.data_received(bytes(_READ_AT_ONCE[:nbytes]))
        if self._small_pieces > FREE_PIECES:
            self.transport.pause_reading()
            self.loop.call_later(self._small_pieces * _PIECE_SECONDS, self._read_on)
            self._small_pieces = 0

    def _read_on(self) -> None:
        if not self.flow.read_paused and not self.transport.is_closing():
            self.transport.resume_reading()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._header_bytes is not None:
            self._header_bytes += len(data)
            if self._header_bytes > _MOST_HEADER_BYTES:
                self.send_400_response("The header is too large.")
        self._look()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._header_bytes = 0

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        if not self.pipeline:
            self._answered_now = self.cycle
        self._header_bytes = None
        if not self.url.startswith(b"/"):
            # In absolute form it names a host of its own, which the parser would leave out.
            self.scope["path"] = self.url.decode("latin-1")

    def on_body(self, body: bytes) -> None:
        self._small_pieces += len(body) < SMALL_PIECE
        super().on_body(body)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._look()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._look()

    def on_response_complete(self) -> None:
        if not self.transport.get_write_buffer_size():
            self._waiting.discard(self)
        if self.pipeline:
            self._answered_now = self.pipeline[-1][0]
        super().on_response_complete()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answered_now is not None:
            # Else it would go on writing, where further requests wait behind it.
            self._answered_now.disconnected = True
            self._answered_now.message_event.set()
        super().connection_lost(exc)
        self._waiting.discard(self)

    def is_overdue(self, seconds: float) -> bool:
        if self.transport.get_write_buffer_size():
            return seconds > self._settings.answer_timeout_seconds
        if self._is_answered:
            return seconds > self._settings.header_timeout_seconds
        # The application reads the body, and has a time for it.
        return False

    def drop(self) -> None:
        # Closed plainly, the system would go on holding what the caller does not read.
        opened = self.transport.get_extra_info("socket")
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self.transport.abort()

    @property
    def _is_answered(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _look(self) -> None:
        is_worked_on = not self._is_answered and not self.cycle.more_body
        if is_worked_on and not self.flow.write_paused:
            self._waiting.discard(self)
        elif not self.transport.is_closing() or self.transport.get_write_buffer_size():
            self._waiting.add(self, self.loop.time())


def _affordable_connections() -> int:
    if resource is None:
        return _BACKLOG
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if descriptors == resource.RLIM_INFINITY:
        return _BACKLOG
    return max(_FEWEST, descriptors - _LAG - _OTHER_DESCRIPTORS)
