"""What is done again and again beside everything else."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final, TypeAlias

Wait: TypeAlias = Callable[[float], Awaitable[None]]
"""Takes seconds."""

HOUR_SECONDS: Final = 3_600.0


async def repeat(
    work: Callable[[], Awaitable[None]], seconds: float, wait: Wait = asyncio.sleep
) -> None:
    """Do the work at once, and again so many seconds after each end, until this is cancelled."""
    while True:
        await work()
        await wait(seconds)


@asynccontextmanager
async def repeating(work: Callable[[], Awaitable[None]], seconds: float) -> AsyncIterator[None]:
    """Do the work at once, and again so many seconds after each end, while the block runs."""
    task = asyncio.create_task(repeat(work, seconds))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
