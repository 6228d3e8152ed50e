"""The engine: each process takes from the queue of the store what it has a place for.

The queue says whose turn it is, and who has taken what; what a job is about, what was asked and
what came of it are kept by whoever gives the engine its work.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeAlias

from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.tasks import wait_until_set
from ai_psychiatrist.store.jobs import JobEnd, JobRef

logger = get_logger(__name__)

_LOOK_SECONDS: Final = 0.5
"""How often a process with a free place looks for what others were asked to do."""


Work: TypeAlias = Callable[[JobRef], Awaitable[RecordState]]
"""Does one job to its end, stores what comes of it, and returns how it ended.

Given a job that was broken off it goes on, and pays for no finished call again; given one that has
its end it returns that. It raises nothing but the end of its task, and errors of the store; then,
too, the job waits to be gone on with.
"""
OnEnd: TypeAlias = Callable[[JobEnd], Awaitable[None]]
"""Is told once the end of a job is stored; raises nothing."""
Claim: TypeAlias = Callable[[], Awaitable[JobRef | None]]
"""Returns the job whose turn it is, which then is this process's; raises where none can be had."""


class News:
    """Wakes whoever waits in this process for news of jobs.

    It says that there may be something new; what it is, is asked for where it is stored.
    """

    def __init__(self) -> None:
        self._news = asyncio.Event()

    def tell(self) -> None:
        """Wake all who wait."""
        self._news.set()
        self._news = asyncio.Event()

    async def wait(self, seconds: float) -> None:
        """Return when there may be something new, and after so many seconds in any case.

        Of what another process does nobody tells here.
        """
        await wait_until_set(self._news, seconds)


@dataclass(slots=True, kw_only=True)
class Engine:
    """Does jobs, so many at once; to be made and used in one event loop.

    Jobs run in the context that the engine was made in.
    """

    claim: Claim
    work: Work
    concurrency: int
    """Most jobs at once; with 0 all are left to other processes."""
    under_way: set[str] = field(default_factory=set)
    """The ids of the jobs that this process does, at any moment."""
    _tasks: dict[JobRef, asyncio.Task[RecordState]] = field(default_factory=dict)
    _beside: set[JobRef] = field(default_factory=set)
    """Those that callers wait for."""
    _context: Context = field(default_factory=copy_context)
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _away_since: float | None = None
    _taking: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Take jobs from now on, until `aclose`."""
        if self.concurrency:
            self._taking = asyncio.create_task(self._take_on())

    def wake(self) -> None:
        """Look into the queue at once."""
        self._news.set()

    def has_room_beside(self, most: int) -> bool:
        """Return whether fewer than so many jobs are under way that callers wait for."""
        return len(self._beside) < most

    def start(self, job: JobRef) -> None:
        """Do a job at once that is this process's already, beside those of the queue."""
        self._beside.add(job)
        self._begin(job)

    def cancel(self, job: JobRef) -> None:
        """Stop the calls of a job, if it is this process that does it."""
        task = self._tasks.get(job)
        if task is not None:
            task.cancel()

    @property
    def away_seconds(self) -> float:
        """For how long the queue could not be asked; 0 while it can be."""
        return 0.0 if self._away_since is None else time.monotonic() - self._away_since

    async def aclose(self, *, patience_seconds: float = 0.0) -> None:
        """Begin nothing more, let jobs end for so long, then break them off."""
        if self._taking is not None:
            self._taking.cancel()
            await asyncio.gather(self._taking, return_exceptions=True)
        tasks = tuple(self._tasks.values())
        if tasks:
            await asyncio.wait(tasks, timeout=patience_seconds)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _take_on(self) -> None:
        while True:
            self._news.clear()
            if not await self._has_taken():
                await wait_until_set(self._news, _LOOK_SECONDS)

    async def _has_taken(self) -> bool:
        """Begin a job where there is a place for it, and one to be done."""
        if len(self._tasks) - len(self._beside) >= self.concurrency:
            return False
        try:
            job = await self.claim()
        except Exception as error:  # noqa: BLE001  whatever it is, it may pass
            if self._away_since is None:
                self._away_since = time.monotonic()
                logger.error("queue_away", error_type=type(error).__name__)
            return False
        if self._away_since is not None:
            self._away_since = None
            logger.warning("queue_back")
        if job is None or job in self._tasks:
            # One that others had taken for dead, and whose end here is near, is taken later.
            return False
        self._begin(job)
        return True

    def _begin(self, job: JobRef) -> None:
        self.under_way.add(job.id)
        task = self._context.copy().run(asyncio.create_task, self._do(job))
        self._tasks[job] = task
        task.add_done_callback(partial(self._done, job))

    async def _do(self, job: JobRef) -> RecordState:
        return await self.work(job)

    def _done(self, job: JobRef, task: asyncio.Task[RecordState]) -> None:
        del self._tasks[job]
        self._beside.discard(job)
        self.under_way.discard(job.id)
        if not task.cancelled() and (error := task.exception()) is not None:
            # The job is still this process's, and is taken back with what nobody does.
            logger.error("job_broken_off", error_type=type(error).__name__)
        self.wake()
