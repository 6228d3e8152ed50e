"""Jobs by the settings: the engine, the worker, and who learns how each ended."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Final

from ai_psychiatrist.domain.errors import ConfigurationError, StoreUnusable
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.tasks import repeating, wait_until_set
from ai_psychiatrist.infrastructure.telemetry.watching import publish
from ai_psychiatrist.infrastructure.telemetry.work import JobEnded, QueueSeen
from ai_psychiatrist.jobs.engine import Engine, OnEnd, Work
from ai_psychiatrist.jobs.webhooks import Webhooks
from ai_psychiatrist.store.errors import store_unusable
from ai_psychiatrist.store.jobs import JobEnd, JobRef
from ai_psychiatrist.store.queue import Queue, QueueState, Takes
from ai_psychiatrist.store.stores import Stores
from ai_psychiatrist.wiring import Services
from ai_psychiatrist.wiring.job_work import Claimed, JobWork

logger = get_logger(__name__)

_TEND_SECONDS: Final = 2.0
"""How soon somebody goes on with what a dead process left."""
_ALIVE_SECONDS: Final = 1.0
_NOTHING: Final = QueueState(waiting=0, running=0, oldest_waiting=None)
_PATIENCE_SECONDS: Final = 1.0
"""For jobs that are nearly done when the service stops."""
_NO_PLACE: Final = "JOBS_CONCURRENCY is 0, with which a worker does nothing: leave it out"


async def note_end(wake: Callable[[], None], end: JobEnd) -> None:
    """Count the end of a job once it is stored, and wake who sends its webhook.

    To be called where the services are active.
    """
    seconds = (end.ended_at - end.created_at).total_seconds()
    publish(JobEnded(state=end.state, reason=end.reason, seconds=seconds))
    wake()


@dataclass(frozen=True, slots=True, kw_only=True)
class Jobs:
    """The jobs of all tenants, as a server asks for them."""

    work: JobWork
    engine: Engine[JobRef]
    webhooks: Webhooks

    async def cancel(self, job: JobRef) -> None:
        """End a job; raises `NotFound` and `RequestConflict`. One that was cancelled stays so."""
        records = self.work.services.stores.records(job.tenant)
        ended = await records.ask(lambda store: store.jobs.cancel(job.id))
        if ended is None:
            return
        self.work.events.publish()
        await self.work.on_end(ended)
        # Another process that does it looks by itself whether it is still wanted.
        self.engine.cancel(job)

    async def seen(self) -> QueueSeen | None:
        """Return what is still to be done, `None` where the store cannot be asked."""
        try:
            found = await self.work.services.stores.ask_all(Queue.state, _NOTHING)
        except StoreUnusable:
            return None
        oldest = found.oldest_waiting
        return QueueSeen(
            by_state={
                str(RecordState.WAITING): found.waiting,
                str(RecordState.RUNNING): found.running,
            },
            oldest_waiting_seconds=None
            if oldest is None
            else (datetime.now(UTC) - datetime.fromisoformat(oldest)).total_seconds(),
        )


def tending(
    stores: Stores, engine: Engine[JobRef], on_end: OnEnd | None = None
) -> AbstractAsyncContextManager[None]:
    """Requeue stale work while the block runs.

    `on_end`: told of the jobs that were given up.
    """
    return repeating(partial(_tend, stores, engine, on_end), _TEND_SECONDS)


async def _tend(stores: Stores, engine: Engine[JobRef], on_end: OnEnd | None) -> None:
    try:
        given_up = await stores.take_back(engine.under_way)
    except StoreUnusable:
        # The engine says so.
        return
    except Exception as error:  # noqa: BLE001  the next time may find all well again
        logger.error("jobs_not_tended", error_type=type(error).__name__)
        return
    for ended in given_up:
        if on_end is not None:
            await on_end(ended)
    engine.wake()


@asynccontextmanager
async def open_jobs(
    services: Services, units: Work[JobRef] | None = None, left: Collection[str] = ()
) -> AsyncIterator[Jobs]:
    """Take jobs from the queue, deliver webhooks and tend the jobs.

    `units`: does units of runs, which without it are left to other processes; `left`: the runs
    whose units are left to others all the same, at any moment.

    At the end of the block jobs have a moment; then they are broken off, to be gone on with by
    another process or at the next start. To be entered where the services are active.
    """
    settings, stores = services.settings, services.stores
    webhooks = Webhooks(settings=settings.jobs_webhook, stores=stores)
    on_end = partial(note_end, webhooks.wake)
    work = JobWork(services=services, on_end=on_end, claimed=Claimed(stores))

    async def claim() -> JobRef | None:
        takes = Takes(other_runs=units is not None, but=left)
        return await stores.claim(per_tenant=settings.jobs.per_tenant, takes=takes)

    async def do(job: JobRef) -> None:
        await (work if job.run is None or units is None else units)(job)

    engine = Engine(claim=claim, work=do, concurrency=settings.jobs.concurrency)
    async with webhooks.running():
        async with (
            tending(stores, engine, work.on_end),
            engine.running(patience_seconds=_PATIENCE_SECONDS),
        ):
            yield Jobs(work=work, engine=engine, webhooks=webhooks)
        # What was claimed, and not begun.
        with suppress(StoreUnusable):
            await stores.take_back(())


async def run_worker(
    services: Services,
    stop: asyncio.Event,
    *,
    on_ready: Callable[[str], None],
    on_alive: Callable[[], None],
    units: Work[JobRef] | None = None,
    left: Collection[str] = (),
) -> None:
    """Do jobs until the event is set; to be called where the services are active.

    `units`, `left`: as `open_jobs` takes them.

    Raises `ConfigurationError` where it cannot begin, and `StoreUnusable` where the database is
    away at its beginning, or later for long.
    """
    if not services.settings.jobs.concurrency:
        raise ConfigurationError(_NO_PLACE)
    stores = services.stores
    name = await asyncio.to_thread(lambda: stores.runner)
    async with _counts_given(services), open_jobs(services, units, left) as jobs:
        on_ready(name)
        while not stop.is_set():
            if jobs.engine.away_seconds > stores.place.patience_seconds:
                raise store_unusable()
            on_alive()
            await wait_until_set(stop, _ALIVE_SECONDS)


def _counts_given(services: Services) -> AbstractAsyncContextManager[None]:
    """Give Prometheus what this process counts, where the settings want that."""
    settings, counts = services.settings.telemetry, services.telemetry.prometheus
    if counts is None or not settings.worker_port:
        return nullcontext()
    # It brings a library that nobody else needs.
    from ai_psychiatrist.infrastructure.telemetry.prometheus import metrics_port  # noqa: PLC0415

    return metrics_port(counts, address=settings.worker_address, port=settings.worker_port)
