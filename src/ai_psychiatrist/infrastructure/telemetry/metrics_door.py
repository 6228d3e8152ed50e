"""A door of its own for Prometheus, in a process that answers no other requests."""

import asyncio
import errno
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Final
from wsgiref.simple_server import WSGIRequestHandler

from prometheus_client import start_http_server

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.telemetry.prometheus_counts import PrometheusCounts

if TYPE_CHECKING:
    from wsgiref.simple_server import WSGIServer

PATIENCE_SECONDS: Final = 10
"""How long a caller may be silent before its thread is given up."""


@asynccontextmanager
async def metrics_door(counts: PrometheusCounts, *, address: str, port: int) -> AsyncIterator[None]:
    """Give the counts to whoever asks by GET while the block runs, in threads of the door's own.

    Nobody is asked for a key. Raises `ConfigurationError` for a port that cannot be had.
    """
    server = await asyncio.to_thread(_opened, counts, address, port)
    try:
        yield
    finally:
        await asyncio.to_thread(server.shutdown)
        server.server_close()


def _opened(counts: PrometheusCounts, address: str, port: int) -> "WSGIServer":
    try:
        server, _ = start_http_server(port, address, registry=counts.registry)
    except (OSError, UnicodeError) as error:
        raise ConfigurationError(_cure(error, address, port)) from None
    server.RequestHandlerClass = PatientHandler
    return server


class PatientHandler(WSGIRequestHandler):
    """Answers one caller, and gives up one who is silent; nothing of it is logged."""

    timeout = PATIENCE_SECONDS

    def handle(self) -> None:
        """Answer; who is silent, or goes, is no error of this program."""
        with suppress(OSError):
            super().handle()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the name of the base
        """Say nothing."""
        del format, args


def _cure(error: OSError | UnicodeError, address: str, port: int) -> str:
    if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
        return (
            f"TELEMETRY_WORKER_PORT={port} is in use at {address}: give each worker of a machine "
            "a port of its own, or 0 for none"
        )
    reason = getattr(error, "strerror", None) or type(error).__name__
    return (
        f"TELEMETRY_WORKER_ADDRESS={address} with TELEMETRY_WORKER_PORT={port} cannot be listened "
        f"at ({reason}): name an address of this machine and a port that may be had"
    )
