"""What each worker does beside its jobs: it looks after those of the dead, and tidies up."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from dbos import DBOS, DBOSClient

from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.jobs.dbos.database import JobsDatabase
from ai_psychiatrist.jobs.dbos.engine import client_of
from ai_psychiatrist.jobs.dbos.names import QUEUE, WORKFLOW, slot_number
from ai_psychiatrist.jobs.dbos.slots import Slots

logger = get_logger(__name__)

_LOST: Final = ("ERROR", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")
"""Jobs without an end of theirs, that nobody here begins again."""
_ENDED: Final = ("SUCCESS", "CANCELLED")
_MOST_AT_ONCE: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Tending:
    """Looks around again and again."""

    database: JobsDatabase
    slots: Slots
    period_seconds: float
    keep_seconds: float

    async def go_on(self, own_name: str) -> None:
        """Look around at once, and after each period, until this is cancelled."""
        while True:
            try:
                await self._reap(own_name)
                await asyncio.to_thread(self._tidy)
            except Exception as error:  # noqa: BLE001  the next look may find all well again
                logger.warning("tending_failed", error_type=type(error).__name__)
            await asyncio.sleep(self.period_seconds)

    async def _reap(self, own_name: str) -> None:
        """Put back into the queue what belongs to workers that are gone."""
        for owner in await asyncio.to_thread(self._owners):
            number = slot_number(owner)
            if number is None or owner == own_name:
                continue
            async with self.slots.tried(number) as is_free:
                if not is_free:
                    continue
                # As the library does for a worker that starts again: it counts how often.
                left = await asyncio.to_thread(DBOS._recover_pending_workflows, [owner])  # noqa: SLF001
                logger.warning("worker_found_dead", name=owner, count=len(left))

    def _owners(self) -> set[str]:
        with _client(self.database) as client:
            found = client.list_workflows(
                status="PENDING", queue_name=QUEUE, load_input=False, load_output=False
            )
        return {one.executor_id for one in found if one.executor_id}

    def _ids(self, *statuses: str, before: str | None = None) -> list[str]:
        with _client(self.database) as client:
            found = client.list_workflows(
                status=list(statuses),
                name=WORKFLOW,
                completed_before=before,
                limit=_MOST_AT_ONCE,
                load_input=False,
                load_output=False,
            )
        return [one.workflow_id for one in found]

    def _forget(self, workflows: list[str]) -> None:
        with _client(self.database) as client:
            client.delete_workflows(workflows)

    def _tidy(self) -> None:
        """Remove what ended long ago, and what was lost.

        How jobs ended is stored elsewhere. One that has no end there is handed in again, and
        whoever stores it counts how often.
        """
        while lost := self._ids(*_LOST):
            logger.warning("jobs_given_back", count=len(lost))
            self._forget(lost)
        before = datetime.fromtimestamp(time.time() - self.keep_seconds, UTC).isoformat()
        while ended := self._ids(*_ENDED, before=before):
            self._forget(ended)


def leave_to_others(database: JobsDatabase, name: str) -> int:
    """Put back what a worker has begun that does nothing any more; return how much it was."""
    with _client(database) as client:
        found = client.list_workflows(
            status="PENDING",
            queue_name=QUEUE,
            executor_id=name,
            load_input=False,
            load_output=False,
        )
        left = [one.workflow_id for one in found]
        if left:
            client.resume_workflows(left, queue_name=QUEUE)
    return len(left)


@contextmanager
def _client(database: JobsDatabase) -> Iterator[DBOSClient]:
    client = client_of(database)
    try:
        yield client
    finally:
        client.destroy()
