"""The real application in the loop of its test: opened services, and no sockets."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from ai_psychiatrist.api.app import create_app
from ai_psychiatrist.config import Settings
from tests.integration.running_app import NO_CERTIFICATES


@asynccontextmanager
async def asgi_client(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client of the application made with these settings; nothing of it is patched."""
    app = create_app(settings)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(
            transport=httpx.ASGITransport(app, raise_app_exceptions=False),
            base_url="http://127.0.0.1",
            verify=NO_CERTIFICATES,
        ) as client,
    ):
        yield client
