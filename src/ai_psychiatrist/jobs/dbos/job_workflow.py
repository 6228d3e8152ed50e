"""What the engine runs for a job: one workflow with one step, the whole job.

The work itself remembers each finished call, so that there is no order of steps to replay.
"""

import asyncio
from contextvars import Context, copy_context
from typing import Final

from dbos import DBOS

from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.jobs.dbos.names import STEP, WORKFLOW
from ai_psychiatrist.jobs.engine import JobRef, Work

logger = get_logger(__name__)

RECOVERIES: Final = 5
"""How often a job whose worker died is begun again: it may be what kills them."""
_WAITS_SECONDS: Final = (1.0, 5.0)
"""Before the work is tried again whose store could not be used."""
_LOOK_SECONDS: Final = 2.0


class JobNotDone(Exception):
    """The store of the work could not be used; the tables of the engine say so by this name."""


class JobWorkflow:
    """Jobs under way in this process."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._under_way: set[asyncio.Task[RecordState]] = set()
        self._is_stopping = False
        # The engine starts jobs from threads that know nothing of logs and keys.
        self._context: Context = copy_context()

    def register(self) -> None:
        """Tell the library what a job is; it must be there, and not launched yet."""

        @DBOS.step(name=STEP, retries_allowed=False, preemptible=True)
        async def work(tenant: str, job_id: str) -> str:
            return await self._done(JobRef(tenant=tenant, id=job_id))

        @DBOS.workflow(name=WORKFLOW, max_recovery_attempts=RECOVERIES)
        async def job(tenant: str, job_id: str) -> str:
            return await work(tenant, job_id)

    async def stop(self) -> None:
        """End what is under way where it is, and begin nothing more."""
        self._is_stopping = True
        for task in self._under_way:
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)

    async def _done(self, job: JobRef) -> str:
        """Do a job to its end; raises `JobNotDone` when its store cannot be used."""
        waits = iter(_WAITS_SECONDS)
        while True:
            try:
                state = await self._tried(job)
            except Exception as error:  # noqa: BLE001  whatever it is, it must not reach the tables
                logger.error("job_broke_off", assessment_id=job.id, error_type=type(error).__name__)
                wait = next(waits, None)
                if wait is None:
                    raise JobNotDone from None
                await asyncio.sleep(wait)
                continue
            if state.is_last:
                return state.value
            # Somebody who is alive does it, or is not yet known to be dead.
            await asyncio.sleep(_LOOK_SECONDS)

    async def _tried(self, job: JobRef) -> RecordState:
        if self._is_stopping:
            raise asyncio.CancelledError
        task = asyncio.create_task(_awaited(self._work, job), context=self._context.copy())
        self._under_way.add(task)
        try:
            return await task
        finally:
            self._under_way.discard(task)


async def _awaited(work: Work, job: JobRef) -> RecordState:
    return await work(job)
