"""What is done again and again beside everything else."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final, TypeAlias

Wait: TypeAlias = Callable[[float], Awaitable[None]]
"""Takes seconds."""

_HOUR_SECONDS: Final = 3_600.0


async def repeat_hourly(work: Callable[[], Awaitable[None]], wait: Wait = asyncio.sleep) -> None:
    """Do the work at once, and each hour until this is cancelled."""
    while True:
        await work()
        await wait(_HOUR_SECONDS)


@asynccontextmanager
async def hourly(work: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
    """Do the work at once, and each hour while the block runs."""
    repeating = asyncio.create_task(repeat_hourly(work))
    try:
        yield
    finally:
        repeating.cancel()
        await asyncio.gather(repeating, return_exceptions=True)
