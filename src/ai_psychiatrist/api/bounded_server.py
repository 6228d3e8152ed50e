"""The HTTP server of `serve`: it waits for no caller for ever, and has room for the next one."""

import asyncio
import socket
import ssl
import struct
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any, Final

import h11
from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from ai_psychiatrist.api.described import DescribedApp
from ai_psychiatrist.api.tls import tls_context
from ai_psychiatrist.api.tls_connection import TlsConnection, TlsEntrance
from ai_psychiatrist.api.waiting_connections import WaitingConnections
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
_RESET: Final = struct.pack("ii", 1, 0)
_FEWEST: Final = 16
_TICKS_BETWEEN_LOOKS: Final = 2
"""A tick is a tenth of a second."""


class BoundedConfig(Config):
    """How an application is served within the limits of the settings."""

    def __init__(self, app: DescribedApp, settings: ApiSettings) -> None:
        most = min(settings.max_connections, _affordable_connections())
        self.opened_app = app
        self.settings = settings
        self.waiting = WaitingConnections(most=most)
        context = tls_context(settings)
        self.tls = None if context is None else _entrance(self, context)
        super().__init__(
            app,
            http=_Connection if self.tls is None else _tls_connection,  # type: ignore[arg-type]
            ws="none",
            # The server opens the application: the framework would hide why it cannot be.
            lifespan="off",
            log_config=None,
            access_log=False,
            backlog=_ACCEPTED_AT_ONCE,
            limit_concurrency=most + _LAG,
            timeout_keep_alive=settings.idle_timeout_seconds,
            timeout_graceful_shutdown=2,
            # By itself the framework would believe every program of this machine.
            proxy_headers=False,
        )


class BoundedServer(Server):
    """Opens the application, and looks after the connections while it serves."""

    def __init__(self, config: BoundedConfig, *, on_opened: Callable[[], None]) -> None:
        """`on_opened` is called before the first caller is heard."""
        super().__init__(config)
        self._app = config.opened_app
        self._on_opened = on_opened
        self._opened = AsyncExitStack()
        self._waiting = config.waiting

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and let more callers queue than are taken in at once.

        Raises `ConfigurationError` for an application that cannot be opened.
        """
        await self._opened.enter_async_context(self._app.running())
        self._on_opened()
        await super().startup(sockets)
        for one in sockets or []:
            one.listen(_BACKLOG)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop, and close the application."""
        await super().shutdown(sockets)
        if not self.force_exit:
            await self._opened.aclose()

    async def on_tick(self, counter: int) -> bool:
        """Drop the connections whose callers are too late."""
        if counter % _TICKS_BETWEEN_LOOKS == 0:
            self._waiting.drop_overdue(asyncio.get_running_loop().time())
        return await super().on_tick(counter)


class _Connection(H11Protocol):
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
        self.tls: TlsConnection | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self.tls is not None:
            self.tls.leave()
        self._waiting.make_room(len(self.connections))
        self._look()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._look()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._look()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._look()

    def on_response_complete(self) -> None:
        if not self.transport.get_write_buffer_size():
            self._waiting.discard(self)
        super().on_response_complete()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
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
        is_whole = self.conn.their_state is not h11.SEND_BODY
        if is_whole and not self._is_answered and not self.flow.write_paused:
            self._waiting.discard(self)
        elif not self.transport.is_closing() or self.transport.get_write_buffer_size():
            self._waiting.add(self, self.loop.time())


def _entrance(config: BoundedConfig, context: ssl.SSLContext) -> TlsEntrance:
    return TlsEntrance(
        context=context,
        waiting=config.waiting,
        hello_seconds=config.settings.header_timeout_seconds,
    )


def _tls_connection(
    config: BoundedConfig,
    server_state: ServerState,
    app_state: dict[str, Any],
    _loop: asyncio.AbstractEventLoop | None = None,
) -> TlsConnection:
    """Return what takes the place of a connection where all is encrypted."""
    if config.tls is None:
        msg = "the server has no certificate"
        raise RuntimeError(msg)
    inner = _Connection(config, server_state, app_state, _loop)
    inner.tls = TlsConnection(inner, config.tls)
    config.waiting.make_room(len(server_state.connections) + len(config.tls.greeting))
    return inner.tls


def _affordable_connections() -> int:
    if resource is None:
        return _BACKLOG
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if descriptors == resource.RLIM_INFINITY:
        return _BACKLOG
    return max(_FEWEST, descriptors - _LAG - _OTHER_DESCRIPTORS)
