"""The application in a process of its own, and what of that process it takes over."""

import gc
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from fastapi import FastAPI
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ai_psychiatrist.api.accept_errors import few_accept_errors
from ai_psychiatrist.api.app import create_app
from ai_psychiatrist.api.described import DescribedApp
from ai_psychiatrist.api.stop_signals import stop_on_signals
from ai_psychiatrist.config import Settings, load_settings
from ai_psychiatrist.domain.errors import ArtifactMismatch, ConfigurationError
from ai_psychiatrist.infrastructure.logging import setup_logging


class PlainRefusal:
    """Tells a server in a sentence why the application cannot start, in place of a traceback."""

    def __init__(self, app: ASGIApp, refusals: list[str]) -> None:
        """`refusals`: filled when the application is opened."""
        self._app = app
        self._refusals = refusals

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on but the message of a failed start."""

        async def send_plainly(message: Message) -> None:
            if message["type"] == "lifespan.startup.failed" and self._refusals:
                message = {**message, "message": self._refusals[-1]}
            await send(message)

        await self._app(scope, receive, send_plainly if scope["type"] == "lifespan" else send)


def create_served_app(settings: Settings | None = None) -> DescribedApp:
    """Return the application for a process of its own; reads the environment without settings.

    Log handlers, the garbage collector, signals and the errors of the event loop are set up for it:
    in a process of somebody else, use `create_app`. Raises `ConfigurationError` for settings that
    cannot be used.
    """
    setup_logging()
    resolved = settings or load_settings()
    setup_logging(resolved.log.level, resolved.log.format)
    app = create_app(resolved)
    opened = app.router.lifespan_context
    refusals: list[str] = []
    app.add_middleware(PlainRefusal, refusals)

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
