"""Places for workers: each holds one, alone, for as long as it lives.

A worker is known to the engine by the number of its place. Who gets hold of somebody's place knows
that its worker is gone, and that what it left belongs to others.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from ai_psychiatrist.domain.errors import AssessmentServiceError, ConfigurationError
from ai_psychiatrist.jobs.dbos.database import JobsDatabase
from ai_psychiatrist.jobs.dbos.names import MOST_SLOTS


class SlotLost(AssessmentServiceError):
    """The database no longer knows that this worker is there: others may do its jobs by now."""


class Slots(Protocol):
    """The places, as one worker sees them."""

    async def take(self, number: int) -> bool:
        """Take a free place for as long as this is open; return whether it was free."""
        ...

    def tried(self, number: int) -> AbstractAsyncContextManager[bool]:
        """Hold a place inside the block; yields whether it is free."""
        ...

    async def check(self) -> None:
        """Make sure that the place is still held; raises `SlotLost`."""
        ...

    async def close(self) -> None:
        """Leave the place."""
        ...


@asynccontextmanager
async def held_slot(database: JobsDatabase) -> AsyncIterator[tuple[Slots, int]]:
    """Take the lowest free place inside the block; yields all places, and its number.

    Raises `ConfigurationError` where there is none, or the file is another machine's, and
    `EngineAway` where the database cannot be asked.
    """
    slots = await _opened(database)
    try:
        for number in range(MOST_SLOTS):
            if await slots.take(number):
                yield slots, number
                return
        msg = f"{MOST_SLOTS} workers are at work already"
        raise ConfigurationError(msg)
    finally:
        await slots.close()


async def _opened(database: JobsDatabase) -> Slots:
    if database.file is None:
        from ai_psychiatrist.jobs.dbos.session_slots import SessionSlots  # noqa: PLC0415

        return await SessionSlots.opened(database)
    from ai_psychiatrist.jobs.dbos.file_slots import FileSlots  # noqa: PLC0415

    return FileSlots(database.file)
