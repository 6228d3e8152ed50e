"""The place that a worker takes when it begins, in the file's folder or in PostgreSQL."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.jobs.dbos.database import JobsDatabase
from ai_psychiatrist.jobs.dbos.file_slots import FileSlots
from ai_psychiatrist.jobs.dbos.names import MOST_SLOTS
from ai_psychiatrist.jobs.dbos.session_slots import SessionSlots
from ai_psychiatrist.jobs.dbos.slots import Slots


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
        return await SessionSlots.opened(database)
    return FileSlots(database.file)
