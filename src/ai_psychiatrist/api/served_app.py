"""The application in a process of its own, and what of that process it takes over."""

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from ai_psychiatrist.api.accept_errors import few_accept_errors
from ai_psychiatrist.api.app import create_app
from ai_psychiatrist.api.described import DescribedApp
from ai_psychiatrist.api.stop_signals import stop_on_signals
from ai_psychiatrist.config import Settings, load_settings
from ai_psychiatrist.infrastructure.logging import setup_logging


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

    @asynccontextmanager
    async def lifespan(outer: FastAPI) -> AsyncIterator[None]:
        async with opened(outer):
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
