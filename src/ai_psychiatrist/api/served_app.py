"""The application in a process of its own, and what of that process it takes over."""

import gc
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from fastapi import FastAPI
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ai_psychiatrist.api.app import create_app
from ai_psychiatrist.api.connections import few_accept_errors
from ai_psychiatrist.api.openapi import DocumentedApp
from ai_psychiatrist.api.stop_signals import stop_on_signals
from ai_psychiatrist.config import Settings, load_settings
from ai_psychiatrist.domain.errors import ArtifactMismatch, ConfigurationError
from ai_psychiatrist.infrastructure.logging import get_logger, setup_logging

logger = get_logger(__name__)


def plain_refusal(app: ASGIApp, refusals: list[str]) -> ASGIApp:
    """Tell a server in a sentence why the application cannot start, in place of a traceback.

    `refusals`: filled when the application is opened.
    """

    async def told(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_plainly(message: Message) -> None:
            if message["type"] == "lifespan.startup.failed" and refusals:
                message = {**message, "message": refusals[-1]}
            await send(message)

        await app(scope, receive, send_plainly if scope["type"] == "lifespan" else send)

    return told


def create_served_app(settings: Settings | None = None) -> DocumentedApp:
    """Return the application for a process of its own; reads the environment without settings.

    Log handlers, the garbage collector, signals and the errors of the event loop are set up for it:
    in a process of somebody else, use `create_app`. Raises `ConfigurationError` for settings that
    cannot be used.
    """
    setup_logging()
    resolved = settings or load_settings()
    setup_logging(resolved.log.level, resolved.log.format)
    if resolved.log.format == "json":
        _log_server_as_events()
    app = create_app(resolved)
    opened = app.router.lifespan_context
    refusals: list[str] = []
    app.add_middleware(plain_refusal, refusals)

    @asynccontextmanager
    async def lifespan(outer: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(opened(outer))
            except (ArtifactMismatch, ConfigurationError) as error:
                refusals.append(str(error))
                raise
            # What is loaded now, and read ahead, stays loaded: looking for garbage in it costs a
            # tenth of the CPU time of an assessment.
            gc.freeze()
            app.state.reading.add_done_callback(lambda _: gc.freeze())
            with (
                few_accept_errors(),
                stop_on_signals(app.state.stopping, resolved.api.shutdown_seconds),
            ):
                yield

    app.router.lifespan_context = lifespan
    return app


class _ServerEvents(logging.Handler):
    """Writes what the server says of itself, such as where it listens, as events of our log."""

    def emit(self, record: logging.LogRecord) -> None:
        # What it says above this level can hold a traceback, and with it what was asked for.
        if record.levelno <= logging.INFO:
            logger.info("server_message", reason=record.getMessage())
        else:
            logger.warning("library_log", library_logger=record.name)


def _log_server_as_events() -> None:
    """Take the place of the handlers that uvicorn gave its own log; requests are in ours."""
    logging.getLogger("uvicorn.access").handlers = []
    logging.getLogger("uvicorn.access").propagate = False
    logging.getLogger("uvicorn").handlers = [_ServerEvents()]
    logging.getLogger("uvicorn").propagate = False
