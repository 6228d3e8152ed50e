"""Places that PostgreSQL keeps: it frees each when the connection ends that took it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, Self

import psycopg
from psycopg.conninfo import make_conninfo

from ai_psychiatrist.jobs.dbos.database import JobsDatabase
from ai_psychiatrist.jobs.dbos.slots import SlotLost
from ai_psychiatrist.jobs.engine import EngineAway

_LOCKS_OF_OURS: Final = 0x41_50_4A_53
"""First half of the locks' key; other programs may keep locks in the same database."""
_SECONDS: Final = 15.0
_KEPT_ALIVE: Final = {
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
}
"""So that the server, too, learns within seconds of a worker whose machine is gone."""
_LOST: Final = "the connection that holds the place of this worker has ended"


class SessionSlots:
    """Advisory locks of one session."""

    def __init__(self, connection: psycopg.AsyncConnection) -> None:
        self._connection = connection
        self._asking = asyncio.Lock()
        self._taken: set[int] = set()

    @classmethod
    async def opened(cls, database: JobsDatabase) -> Self:
        """Connect; raises `EngineAway`."""
        try:
            address = make_conninfo(database.libpq_address, **_KEPT_ALIVE)
            connection = await psycopg.AsyncConnection.connect(address, autocommit=True)
        except (psycopg.Error, OSError) as error:
            msg = (
                f"the database of the queue cannot be reached ({type(error).__name__}): "
                "JOBS_DATABASE_URL has to name a PostgreSQL that runs, a database that is there, "
                "and a user who may use it"
            )
            raise EngineAway(msg) from None
        return cls(connection)

    async def take(self, number: int) -> bool:
        """Take a free place for as long as this is open; return whether it was free."""
        is_free = await self._ask("SELECT pg_try_advisory_lock(%s, %s)", number)
        if is_free:
            self._taken.add(number)
        return is_free

    @asynccontextmanager
    async def tried(self, number: int) -> AsyncIterator[bool]:
        """Hold a place inside the block; yields whether it is free."""
        if number in self._taken:
            yield False
            return
        is_free = await self.take(number)
        try:
            yield is_free
        finally:
            if is_free:
                self._taken.discard(number)
                await self._ask("SELECT pg_advisory_unlock(%s, %s)", number)

    async def check(self) -> None:
        """Make sure that the session lives; raises `SlotLost`."""
        await self._ask("SELECT %s::int4 IS NOT NULL AND %s::int4 IS NOT NULL", 0)

    async def close(self) -> None:
        """End the session, and with it the locks."""
        await self._connection.close()

    async def _ask(self, query: str, number: int) -> bool:
        try:
            async with asyncio.timeout(_SECONDS), self._asking:
                cursor = await self._connection.execute(query, (_LOCKS_OF_OURS, number))
                row = await cursor.fetchone()
        except (psycopg.Error, OSError, TimeoutError):
            raise SlotLost(_LOST) from None
        return bool(row and row[0])
