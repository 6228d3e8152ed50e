"""The engine: each process takes from the queue of the store what it has a place for.

The queue says whose turn it is, and who has taken what; what a job is about, what was asked and
what came of it are kept by whoever gives the engine its work.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.tasks import wait_until_set
from ai_psychiatrist.store.jobs import JobEnd

logger = get_logger(__name__)


class Unit(Protocol):
    """What an engine does: a job, or a webhook that is due."""

    @property
    def id(self) -> str:
        """The same each time it is taken."""


UnitT = TypeVar("UnitT", bound=Unit)

Work: TypeAlias = Callable[[UnitT], Coroutine[Any, Any, None]]
"""Does one unit to its end and stores what comes of it.

Given a job that was broken off it goes on, and pays for no finished call again. It raises nothing
but the end of its task, and errors of the store; then, too, the unit waits to be gone on with.
"""
OnEnd: TypeAlias = Callable[[JobEnd], Awaitable[None]]
"""Is told once the end of a job is stored; raises nothing."""
Claim: TypeAlias = Callable[[], Awaitable[UnitT | None]]
"""Returns the unit whose turn it is, which then is this process's; raises where none can be had."""


class JobEvents:
    """Wakes the tasks of this process that wait for a change of a job.

    An event says that something may have changed; the state itself is read from the store.
    """

    def __init__(self) -> None:
        self._changed = asyncio.Event()

    def publish(self) -> None:
        """Wake all tasks that wait."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def wait(self, seconds: float) -> None:
        """Return after the next event, or after so many seconds.

        What another process does publishes no event here.
        """
        await wait_until_set(self._changed, seconds)


@dataclass(slots=True, kw_only=True)
class Engine(Generic[UnitT]):
    """Does jobs, or other units, so many at once; to be made and used in one event loop.

    They run in the context that the engine was made in.
    """

    claim: Claim[UnitT]
    work: Work[UnitT]
    concurrency: int
    """Most units at once; with 0 all are left to other processes."""
    look_seconds: float = 0.5
    """How often a process with a free place looks for what others were asked to do."""
    under_way: set[str] = field(default_factory=set)
    """The ids of the jobs that this process does, at any moment."""
    _tasks: dict[UnitT, asyncio.Task[None]] = field(default_factory=dict)
    _beside: set[UnitT] = field(default_factory=set)
    """Those that callers wait for."""
    _context: Context = field(default_factory=copy_context)
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _away_since: float | None = None

    @asynccontextmanager
    async def running(self, *, patience_seconds: float = 0.0) -> AsyncIterator[None]:
        """Take units while the block runs; then let them end for so long, and break them off."""
        taking = asyncio.create_task(self._take_on())
        try:
            yield
        finally:
            taking.cancel()
            await asyncio.gather(taking, return_exceptions=True)
            tasks = tuple(self._tasks.values())
            if tasks:
                await asyncio.wait(tasks, timeout=patience_seconds)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def wake(self) -> None:
        """Look into the queue at once."""
        self._news.set()

    def has_room_beside(self, most: int) -> bool:
        """Return whether fewer than so many jobs are under way that callers wait for."""
        return len(self._beside) < most

    def start(self, unit: UnitT) -> None:
        """Do a job at once that is this process's already, beside those of the queue."""
        self._beside.add(unit)
        self._begin(unit)

    def cancel(self, unit: UnitT) -> None:
        """Stop the calls of a job, if it is this process that does it."""
        task = self._tasks.get(unit)
        if task is not None:
            task.cancel()

    @property
    def away_seconds(self) -> float:
        """For how long the queue could not be asked; 0 while it can be."""
        return 0.0 if self._away_since is None else time.monotonic() - self._away_since

    async def _take_on(self) -> None:
        while self.concurrency:
            self._news.clear()
            if not await self._has_taken():
                await wait_until_set(self._news, self.look_seconds)

    async def _has_taken(self) -> bool:
        """Begin a job where there is a place for it, and one to be done."""
        if len(self._tasks) - len(self._beside) >= self.concurrency:
            return False
        try:
            unit = await self.claim()
        except Exception as error:  # noqa: BLE001  whatever it is, it may pass
            if self._away_since is None:
                self._away_since = time.monotonic()
                logger.error("queue_away", error_type=type(error).__name__)
            return False
        if self._away_since is not None:
            self._away_since = None
            logger.warning("queue_back")
        if unit is None or unit in self._tasks:
            # One that others had taken for dead, and whose end here is near, is taken later.
            return False
        self._begin(unit)
        return True

    def _begin(self, unit: UnitT) -> None:
        self.under_way.add(unit.id)
        task = self._context.copy().run(asyncio.create_task, self.work(unit))
        self._tasks[unit] = task
        task.add_done_callback(partial(self._done, unit))

    def _done(self, unit: UnitT, task: asyncio.Task[None]) -> None:
        del self._tasks[unit]
        self._beside.discard(unit)
        self.under_way.discard(unit.id)
        if not task.cancelled() and (error := task.exception()) is not None:
            # The job is still this process's, and is taken back with what nobody does.
            logger.error("job_broken_off", error_type=type(error).__name__)
        self.wake()
