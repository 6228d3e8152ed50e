"""What the log says, again and again, of a server that lets anybody in."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

from ai_psychiatrist.infrastructure.logging import get_logger

logger = get_logger(__name__)

EVERY_SECONDS: Final = 3600.0


async def tell_it_is_open(wait: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
    """Log at once, and each hour until it is cancelled; `wait` takes seconds."""
    while True:
        logger.warning("open_without_authentication", name="API_ALLOW_UNAUTHENTICATED")
        await wait(EVERY_SECONDS)


@asynccontextmanager
async def telling_it_is_open() -> AsyncIterator[None]:
    """Log it in the background of the block."""
    telling = asyncio.create_task(tell_it_is_open())
    try:
        yield
    finally:
        telling.cancel()
        with suppress(asyncio.CancelledError):
            await telling
