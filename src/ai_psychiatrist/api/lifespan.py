"""What the application opens before it serves, and closes after."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from anyio import to_thread
from fastapi import FastAPI

from ai_psychiatrist.api.built_routes import build_routes
from ai_psychiatrist.api.open_notice import is_open_to_anybody, tell_it_is_open
from ai_psychiatrist.config import CRISIS_LINE_CURE, Settings
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.repeating import HOUR_SECONDS, repeating
from ai_psychiatrist.wiring import Services, open_services_apart
from ai_psychiatrist.wiring.jobs import open_jobs

logger = get_logger(__name__)


@asynccontextmanager
async def lifespan(
    app: FastAPI, *, settings: Settings, opened: Services | None
) -> AsyncIterator[None]:
    """Serve inside the block. `opened`: by somebody else, who closes it as well."""
    build_routes(app)
    async with AsyncExitStack() as stack:
        services = (
            await stack.enter_async_context(open_services_apart(settings))
            if opened is None
            else opened
        )
        stack.enter_context(services.active())
        await services.open_references()
        await stack.enter_async_context(services.tenant_interviews.tended())
        await stack.enter_async_context(services.archives.tended())
        _warn(settings)
        if is_open_to_anybody(settings):
            await stack.enter_async_context(repeating(tell_it_is_open, HOUR_SECONDS))
        stack.callback(setattr, app.state, "services", opened)
        app.state.services = services
        reading = to_thread.run_sync(_read_ahead, services)
        app.state.reading = asyncio.create_task(reading)
        stack.push_async_callback(asyncio.wait, (app.state.reading,))
        app.state.jobs = await stack.enter_async_context(open_jobs(services))
        yield


def _warn(settings: Settings) -> None:
    if not settings.risk.is_crisis_line_set:
        logger.warning("crisis_line_not_set", reason=CRISIS_LINE_CURE)


def _read_ahead(services: Services) -> None:
    # Imported here: nobody who waits for the server to be ready needs it yet.
    from ai_psychiatrist.api.read_ahead import read_ahead  # noqa: PLC0415

    read_ahead(services.connections.names)
    services.pipeline.second_voice.state()
