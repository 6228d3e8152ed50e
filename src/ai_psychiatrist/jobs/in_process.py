"""An engine that does jobs in the process that it lives in, without any other service.

It keeps ids in memory alone: what is to be gone on with after its end is told to it anew.
"""

import asyncio
from collections import OrderedDict, deque
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.jobs.engine import JobRef, Work

logger = get_logger(__name__)

_MOST_ENDS: Final = 10_000
"""Of how many jobs the end is remembered."""


@dataclass(slots=True)
class _UnderWay:
    job: JobRef
    """As it was submitted, with who asked for it."""
    ended: asyncio.Future[RecordState]
    task: asyncio.Task[RecordState] | None = None
    """`None` while the job waits."""
    is_cancelled: bool = False


@dataclass(slots=True)
class _Tenant:
    waiting: OrderedDict[str, deque[JobRef]] = field(default_factory=OrderedDict)
    """Of each who asked; whose turn is next comes first."""
    running: int = 0


class InProcessEngine:
    """Does jobs of all tenants, and of all who ask in one, in turn.

    To be made and used in one event loop.

    Jobs run in the context that the engine was made in, not in that of whoever submits them.
    """

    def __init__(self, work: Work, *, concurrency: int, per_tenant: int = 0) -> None:
        """`concurrency`: most jobs at once. `per_tenant`: most of one tenant, 0 for any number."""
        self._work = work
        self._concurrency = concurrency
        self._per_tenant = per_tenant or concurrency
        self._context = copy_context()
        self._tenants: OrderedDict[str, _Tenant] = OrderedDict()
        """The one whose turn is next comes first."""
        self._jobs: dict[JobRef, _UnderWay] = {}
        self._ends: OrderedDict[JobRef, RecordState] = OrderedDict()
        self._running = 0
        self._is_open = True

    async def submit(self, job: JobRef) -> None:
        """Take a job; one that waits or runs is left as it is."""
        if job not in self._jobs:
            self._jobs[job] = _UnderWay(job, asyncio.get_running_loop().create_future())
            tenant = self._tenants.setdefault(job.tenant, _Tenant())
            tenant.waiting.setdefault(job.asked_by, deque()).append(job)
            self._begin_more()

    async def status(self, job: JobRef) -> RecordState | None:
        """Return how far a job is; the ends of the latest are remembered."""
        known = self._jobs.get(job)
        if known is None:
            return self._ends.get(job)
        return RecordState.WAITING if known.task is None else RecordState.RUNNING

    async def result(self, job: JobRef) -> RecordState:
        """Return how a job ended, once it has; raises `KeyError` for one that is not known."""
        known = self._jobs.get(job)
        return self._ends[job] if known is None else await asyncio.shield(known.ended)

    async def cancel(self, job: JobRef) -> None:
        """End a job; one that is not known is left as it is."""
        known = self._jobs.get(job)
        if known is None:
            return
        known.is_cancelled = True
        if known.task is None:
            waiting = self._tenants[job.tenant].waiting
            waiting[known.job.asked_by].remove(job)
            if not waiting[known.job.asked_by]:
                del waiting[known.job.asked_by]
            self._forget_idle(job.tenant)
            self._ended(job, RecordState.CANCELLED)
        else:
            known.task.cancel()

    async def resume(self, job: JobRef) -> None:
        """Do a job again that has ended."""
        await self.submit(job)

    async def list(self, *, tenant: str | None = None) -> tuple[tuple[JobRef, RecordState], ...]:
        """Return the jobs that have no end yet, the oldest first."""
        return tuple(
            (job, RecordState.WAITING if known.task is None else RecordState.RUNNING)
            for job, known in self._jobs.items()
            if tenant in {None, job.tenant}
        )

    async def aclose(self, *, patience_seconds: float = 0.0) -> None:
        """Begin nothing more, let jobs end for so long, then break them off.

        What is broken off, or waits, is for the next engine.
        """
        self._is_open = False
        tasks = [known.task for known in self._jobs.values() if known.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=patience_seconds)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for known in self._jobs.values():
            known.ended.cancel()

    def _begin_more(self) -> None:
        while self._is_open and self._running < self._concurrency:
            job = self._next()
            if job is None:
                return
            self._running += 1
            known = self._jobs[job]
            # A copy for each: what one job binds, such as ids of log lines, is its own.
            known.task = self._context.copy().run(asyncio.create_task, self._do(job))
            known.task.add_done_callback(partial(self._done, job, known), context=self._context)

    def _next(self) -> JobRef | None:
        """Take a job of the first tenant that may have one more; its next turn is the last."""
        for name, tenant in self._tenants.items():
            if tenant.waiting and tenant.running < self._per_tenant:
                tenant.running += 1
                self._tenants.move_to_end(name)
                asked_by, jobs = tenant.waiting.popitem(last=False)
                job = jobs.popleft()
                if jobs:
                    tenant.waiting[asked_by] = jobs
                return job
        return None

    async def _do(self, job: JobRef) -> RecordState:
        return await self._work(job)

    def _done(self, job: JobRef, known: _UnderWay, task: asyncio.Task[RecordState]) -> None:
        self._running -= 1
        self._tenants[job.tenant].running -= 1
        # Behind whoever came while its job ran, and has had no turn.
        self._tenants.move_to_end(job.tenant)
        self._forget_idle(job.tenant)
        end: RecordState | None = None
        if task.cancelled():
            end = RecordState.CANCELLED if known.is_cancelled else None
        elif (error := task.exception()) is not None:
            # Whoever tends the jobs tells of it again.
            logger.error("job_broken_off", error_type=type(error).__name__)
        else:
            end = task.result()
        self._ended(job, end)
        self._begin_more()

    def _ended(self, job: JobRef, end: RecordState | None) -> None:
        known = self._jobs.pop(job)
        if end is None or not end.is_last:
            known.ended.cancel()
            return
        known.ended.set_result(end)
        self._ends[job] = end
        self._ends.move_to_end(job)
        while len(self._ends) > _MOST_ENDS:
            self._ends.popitem(last=False)

    def _forget_idle(self, tenant: str) -> None:
        found = self._tenants[tenant]
        if not found.waiting and not found.running:
            del self._tenants[tenant]
