"""Stored jobs on their way to the engine, for which nobody who asked for them has to wait."""

import asyncio
from collections import deque
from collections.abc import Iterable
from contextvars import copy_context
from typing import Final

from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.jobs.engine import EngineAway, JobEngine, JobRef, Work

logger = get_logger(__name__)

_PATIENCE_SECONDS: Final = 1.0
"""For a job that is just being handed in."""


class Submissions:
    """Hands jobs to an engine: those of a tenant in their order, tenants beside one another.

    To be made and used in one event loop. It does so in the context that it was made in.
    """

    def __init__(self, engine: JobEngine) -> None:
        self._engine = engine
        self._context = copy_context()
        self._waiting: dict[str, deque[JobRef]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, tenant: str, job_ids: Iterable[str], *, asked_by: str) -> None:
        """Have stored jobs of a tenant done; what cannot be handed in is left to who tends jobs."""
        is_under_way = tenant in self._waiting
        waiting = self._waiting.setdefault(tenant, deque())
        waiting.extend(JobRef(tenant=tenant, id=one, asked_by=asked_by) for one in job_ids)
        if not is_under_way:
            handing_in = self._hand_in(tenant, waiting)
            task = asyncio.create_task(handing_in, context=self._context.copy())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def begin(self, job: JobRef, work: Work, *, most: int) -> None:
        """Have a stored job done at once, apart from those of the engine: its caller waits for it.

        `most`: where so many are under way it waits its turn in the engine.
        """
        if len(self._tasks) >= most:
            self.add(job.tenant, [job.id], asked_by=job.asked_by)
            return
        task = asyncio.create_task(self._do(job, work), context=self._context.copy())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def aclose(self) -> None:
        """Hand in nothing more; what is left is for the next process."""
        for waiting in self._waiting.values():
            waiting.clear()
        tasks = tuple(self._tasks)
        if tasks:
            await asyncio.wait(tasks, timeout=_PATIENCE_SECONDS)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _do(self, job: JobRef, work: Work) -> None:
        try:
            await work(job)
        except Exception as error:  # noqa: BLE001  whoever tends the jobs goes on with it
            logger.error("job_broken_off", error_type=type(error).__name__)

    async def _hand_in(self, tenant: str, waiting: deque[JobRef]) -> None:
        try:
            while waiting:
                await self._engine.submit(waiting.popleft())
        except EngineAway:
            return
        except Exception as error:  # noqa: BLE001  an engine may fail in any way, the jobs are stored
            logger.error("jobs_not_submitted", error_type=type(error).__name__)
        finally:
            del self._waiting[tenant]
