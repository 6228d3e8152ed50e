"""A worker: takes jobs from the queue, does them, and looks after what dead workers left."""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

from dbos import DBOS, DBOSConfig
from sqlalchemy.exc import SQLAlchemyError

from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.off_loop import WorkerThreads, WorkTimedOut
from ai_psychiatrist.jobs.dbos.database import JobsDatabase
from ai_psychiatrist.jobs.dbos.held_slot import held_slot
from ai_psychiatrist.jobs.dbos.job_workflow import JobWorkflow
from ai_psychiatrist.jobs.dbos.names import APPLICATION, QUEUE, VERSION, slot_name
from ai_psychiatrist.jobs.dbos.reports import reported_by_name
from ai_psychiatrist.jobs.dbos.serializer import PlainSerializer
from ai_psychiatrist.jobs.dbos.slots import Slots
from ai_psychiatrist.jobs.dbos.tending import Tending, leave_to_others
from ai_psychiatrist.jobs.engine import EngineAway, Work

logger = get_logger(__name__)

_CONNECTIONS: Final = 6
_THREADS_BESIDE_JOBS: Final = 8
_CHECK_SECONDS: Final = 1.0
_THREADS: Final = WorkerThreads(count=1, seconds=30.0)
"""The library closes the event loop's own threads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions:
    """How much a worker does, and how often it looks around."""

    concurrency: int = 4
    """Jobs of one tenant at once in each worker; one further is begun where others wait."""
    per_tenant: int = 0
    """Jobs of one tenant at once in all workers together; 0: any.

    On a file the library counts and takes in two steps, so that only each worker's own is certain.
    """
    reap_seconds: float = 15.0
    """Between two looks for what dead workers left."""
    poll_seconds: float = 0.05
    """Between two looks into the queue."""
    keep_seconds: float = 86_400.0
    """How long the engine knows how a job ended."""


def _ignore(_: str) -> None:
    """Be told nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """Does jobs until it is told to stop; a process has one at a time."""

    database: JobsDatabase
    work: Work
    options: WorkerOptions = WorkerOptions()

    async def run(
        self,
        stop: asyncio.Event,
        *,
        on_ready: Callable[[str], None] = _ignore,
        on_alive: Callable[[], None] = lambda: None,
    ) -> None:
        """Work until the event is set, then leave what is under way to others.

        `on_ready` is told the worker's name once it takes jobs, `on_alive` each second that it may
        go on. Raises `SlotLost` where the database lost sight of this worker, after it has stopped;
        `ConfigurationError` where it cannot begin, and `EngineAway` where the database went away
        while it began or ended.
        """
        self.database.prepare()
        async with held_slot(self.database) as (slots, number):
            with reported_by_name():
                name = slot_name(number)
                try:
                    async with self._working(name):
                        on_ready(name)
                        await self._stay(slots, name, stop, on_alive)
                except (SQLAlchemyError, WorkTimedOut) as error:
                    msg = f"the database of the queue cannot be asked ({type(error).__name__})"
                    raise EngineAway(msg) from None

    @asynccontextmanager
    async def _working(self, name: str) -> AsyncIterator[None]:
        workflow = JobWorkflow(self.work)
        try:
            DBOS(config=self._config(name))
            workflow.register()
            DBOS.launch()
            await self._open_queue()
            logger.info("worker_began", name=name)
            yield
        finally:
            await workflow.stop()
            await _closed()
        left = await _THREADS.run(lambda: leave_to_others(self.database, name))
        logger.info("worker_ended", name=name, count=left)

    async def _stay(
        self, slots: Slots, name: str, stop: asyncio.Event, on_alive: Callable[[], None]
    ) -> None:
        tending = Tending(
            database=self.database,
            slots=slots,
            period_seconds=self.options.reap_seconds,
            keep_seconds=self.options.keep_seconds,
        )
        looking = asyncio.create_task(tending.go_on(name))
        try:
            while not stop.is_set():
                await slots.check()
                on_alive()
                await _wait(stop, _CHECK_SECONDS)
        finally:
            looking.cancel()
            await asyncio.gather(looking, return_exceptions=True)

    async def _open_queue(self) -> None:
        options = self.options
        await DBOS.register_queue_async(
            QUEUE,
            # Whoever has a thousand jobs leaves one place free for somebody who has one.
            worker_concurrency=options.concurrency + 1,
            partition_worker_concurrency=min(
                options.concurrency, options.per_tenant or options.concurrency
            ),
            partition_concurrency=options.per_tenant or None,
            polling_interval_sec=options.poll_seconds,
            on_conflict="always_update",
        )

    def _config(self, name: str) -> DBOSConfig:
        return {
            "name": APPLICATION,
            "system_database_url": self.database.address,
            "executor_id": name,
            "application_version": VERSION,
            "serializer": PlainSerializer(),
            "sys_db_pool_size": _CONNECTIONS,
            "max_executor_threads": self.options.concurrency + _THREADS_BESIDE_JOBS,
            "use_listen_notify": False,
            "log_level": "WARNING",
            "enable_otlp": False,
        }


async def _closed() -> None:
    """Close the library; without its database it may hang, and is left to the end of the process.

    The event loop gets threads of its own again.
    """
    with suppress(WorkTimedOut):
        await _THREADS.run(partial(DBOS.destroy, destroy_registry=True))
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor())


async def _wait(event: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
