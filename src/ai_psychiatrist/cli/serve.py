"""The command that serves the HTTP API."""

import socket
import time
from contextlib import suppress
from functools import partial
from typing import Annotated, Final

import typer

from ai_psychiatrist.access.keys import KeyStore
from ai_psychiatrist.api.lifespan import is_open_to_anybody, refuse_open_address
from ai_psychiatrist.api.served_app import create_served_app
from ai_psychiatrist.api.server import BoundedConfig, BoundedServer
from ai_psychiatrist.cli.console import announce, fail
from ai_psychiatrist.cli.settings import ModelOption, overridden, read_settings
from ai_psychiatrist.cli.stores import opened_stores
from ai_psychiatrist.config import Settings

EXAMPLES: Final = """
Examples:

  ai-psychiatrist serve

  ai-psychiatrist serve --port 9000 --model ollama:gemma3

  AUTH_REQUIRED=true ai-psychiatrist serve --host 0.0.0.0
"""
_OPEN: Final = (
    "WARNING: this address lets other machines in, and there is no authentication: anyone who "
    "reaches it can read and start everything here. Put an authenticating proxy in front."
)
_NO_KEY: Final = (
    "Callers need a key, and no key works yet: ai-psychiatrist keys create --name ... --scope ..."
)


def serve(
    *,
    host: Annotated[
        str | None, typer.Option("--host", help="Address to listen on, instead of API_HOST.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            min=0,
            max=65535,
            help="Port to listen on, instead of API_PORT; 0 takes a free one.",
        ),
    ] = None,
    root_path: Annotated[
        str,
        typer.Option("--root-path", help="Path under which a proxy serves it, such as /phq8."),
    ] = "",
    model: ModelOption = None,
) -> None:
    """Serve the HTTP API."""
    settings = overridden(read_settings(model), "api", host=host, port=port)
    api = settings.api
    refuse_open_address(settings)
    with _listen(api.host, api.port) as listener, suppress(KeyboardInterrupt):
        BoundedServer(
            BoundedConfig(create_served_app(settings), api, root_path=root_path),
            on_opened=partial(_announce, settings, listener),
        ).run(sockets=[listener])


def _announce(settings: Settings, listener: socket.socket) -> None:
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    scheme = "http" if settings.api.tls_cert_file is None else "https"
    pages = ", documentation at /docs" if settings.api.docs else ""
    tell = partial(announce, log_format=settings.log.format)
    tell("serving", f"Serving on {scheme}://{shown}:{port} (open it in a browser){pages}")
    if settings.auth.required:
        with opened_stores(settings) as stores:
            keys = KeyStore(database=stores.database).all()
        if not any(key.is_live(time.time()) for key in keys):
            tell("no_key_works", _NO_KEY)
    if is_open_to_anybody(settings):
        tell("open_to_anybody", _OPEN)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends answers at once only where the protocol is named; else each takes 40 ms longer.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()
    except OSError as error:
        fail(f"cannot listen at {host}, port {port} (API_HOST, API_PORT): {error.strerror}")
    return listener
