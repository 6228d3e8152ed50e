"""Jobs by the settings: the engine, the worker, and who learns how each ended."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import (
    AbstractAsyncContextManager,
    aclosing,
    asynccontextmanager,
    closing,
    nullcontext,
)
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Final

from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.errors import ConfigurationError, NotFound
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.tasks import repeating
from ai_psychiatrist.infrastructure.telemetry.watching import publish
from ai_psychiatrist.infrastructure.telemetry.work import JobEnded, QueueSeen
from ai_psychiatrist.jobs.engine import EngineAway, JobEnd, JobEngine, JobRef
from ai_psychiatrist.jobs.in_process import InProcessEngine
from ai_psychiatrist.jobs.submissions import Submissions
from ai_psychiatrist.jobs.webhooks.webhooks import Webhooks
from ai_psychiatrist.wiring.job_work import JobWork, end_of
from ai_psychiatrist.wiring.services import Services

if TYPE_CHECKING:
    from ai_psychiatrist.jobs.dbos.database import JobsDatabase

logger = get_logger(__name__)

_TEND_SECONDS: Final = 2.0
"""How soon somebody goes on with what a dead process left."""
_PATIENCE_SECONDS: Final = 1.0
"""For jobs that are nearly done when the service stops."""
_NO_LIBRARY: Final = "JOBS_ENGINE=dbos needs the extra: pip install 'ai-psychiatrist[jobs]'"
_NO_WORKERS: Final = (
    "JOBS_ENGINE is `process`: the server does the jobs itself; "
    "set JOBS_ENGINE=dbos for the server and for each worker"
)


async def note_end(webhooks: Webhooks, end: JobEnd) -> None:
    """Count the end of a job once it is stored, and send its webhook.

    To be called where the services are active.
    """
    seconds = (end.ended_at - end.created_at).total_seconds()
    publish(JobEnded(state=end.state, reason=end.reason, seconds=seconds))
    webhooks.wake()


async def queue_of(
    engine: JobEngine, age_of: Callable[[JobRef], Awaitable[float | None]]
) -> QueueSeen:
    """Return what an engine has still to do. `age_of`: seconds since a job was asked for.

    States that no job is in are there with a 0.
    """
    listed = await engine.list()
    states = [state for _, state in listed]
    oldest = next((job for job, state in listed if state is RecordState.WAITING), None)
    return QueueSeen(
        by_state={str(one): states.count(one) for one in RecordState if not one.is_last},
        oldest_waiting_seconds=None if oldest is None else await age_of(oldest),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Jobs:
    """The jobs of all tenants, as a server asks for them."""

    work: JobWork
    engine: JobEngine
    submissions: Submissions
    webhooks: Webhooks

    async def cancel(self, job: JobRef) -> None:
        """End a job; raises `NotFound` and `RequestConflict`. One that was cancelled stays so."""
        records = self.work.services.stores.records(job.tenant)
        ended = await records.ask(lambda store: store.jobs.cancel(job.id))
        if ended is None:
            return
        self.work.news.tell()
        await self.work.on_end(end_of(job.tenant, ended))
        try:
            await self.engine.cancel(job)
        except EngineAway:
            return
        except Exception as error:  # noqa: BLE001  whoever does the job looks by itself, too
            logger.error("job_not_cancelled", error_type=type(error).__name__)

    async def seen(self) -> QueueSeen | None:
        """Return what is still to be done, `None` where the engine is away."""
        try:
            return await queue_of(self.engine, self._age)
        except EngineAway:
            return None
        except Exception as error:  # noqa: BLE001  an engine may fail in any way
            logger.error("jobs_not_seen", error_type=type(error).__name__)
            return None

    async def _age(self, job: JobRef) -> float | None:
        records = self.work.services.stores.records(job.tenant)
        try:
            found = await records.ask(lambda store: store.job_lists.one(job.id))
        except NotFound:
            return None
        return (datetime.now(UTC) - found.created_at).total_seconds()


async def _tend_jobs(work: JobWork, engine: JobEngine) -> None:
    """Take back what dead processes left, and hand in what waits and the engine does not know."""
    stores = work.services.stores
    for tenant in await stores.known():
        try:
            given_up = await stores.ask(tenant, partial(stores.take_back, under_way=work.under_way))
            for ended in given_up:
                await work.on_end(end_of(tenant, ended))
            waiting = await stores.ask(tenant, lambda store: store.jobs.waiting())
            if waiting:
                known = {job.id for job, _ in await engine.list(tenant=tenant)}
                for job_id, asked_by in waiting.items():
                    if job_id not in known:
                        # The engine may remember an end of it, as where an store was restored.
                        await engine.resume(JobRef(tenant=tenant, id=job_id, asked_by=asked_by))
        except EngineAway:
            continue
        except Exception as error:  # noqa: BLE001  an engine may fail in any way; the next time
            logger.error("jobs_not_tended", error_type=type(error).__name__)


@asynccontextmanager
async def open_jobs(services: Services) -> AsyncIterator[Jobs]:
    """Open the engine that the settings name, deliver webhooks and tend the jobs.

    At the end of the block jobs have a moment; then they are broken off, to be gone on with by
    another process or at the next start. To be entered where the services are active.
    """
    settings = services.settings
    webhooks = Webhooks(settings=settings.jobs_webhook)
    work = JobWork(services=services, on_end=partial(note_end, webhooks))
    async with (
        webhooks.running(services.stores),
        _engine_of(settings, work) as engine,
        repeating(partial(_tend_jobs, work, engine), _TEND_SECONDS),
        aclosing(Submissions(engine)) as submissions,
    ):
        yield Jobs(work=work, engine=engine, submissions=submissions, webhooks=webhooks)


@asynccontextmanager
async def _engine_of(settings: Settings, work: JobWork) -> AsyncIterator[JobEngine]:
    jobs = settings.jobs
    if jobs.engine == "dbos":
        database = _queue_database(settings)
        from ai_psychiatrist.jobs.dbos.engine import DbosEngine  # noqa: PLC0415  the library

        with closing(DbosEngine(database)) as submitting:
            yield submitting
        return
    engine = InProcessEngine(work, concurrency=jobs.concurrency, per_tenant=jobs.per_tenant)
    try:
        yield engine
    finally:
        await engine.aclose(patience_seconds=_PATIENCE_SECONDS)


def _queue_database(settings: Settings) -> "JobsDatabase":
    """Return where the queue is kept; raises `ConfigurationError`, also without the extra."""
    try:
        from ai_psychiatrist.jobs.dbos.database import jobs_database  # noqa: PLC0415  the library
    except ModuleNotFoundError:
        raise ConfigurationError(_NO_LIBRARY) from None
    return jobs_database(
        url=settings.jobs.database_url,
        state_dir=settings.data.state_folder,
        password_file=settings.jobs.database_password_file,
    )


async def run_worker(
    services: Services,
    stop: asyncio.Event,
    *,
    on_ready: Callable[[str], None],
    on_alive: Callable[[], None],
) -> None:
    """Do jobs until the event is set; to be called where the services are active.

    Raises `ConfigurationError`, `EngineAway` and `SlotLost`, as `Worker.run` does.
    """
    jobs = services.settings.jobs
    if jobs.engine != "dbos":
        raise ConfigurationError(_NO_WORKERS)
    database = _queue_database(services.settings)
    from ai_psychiatrist.jobs.dbos.worker import Worker, WorkerOptions  # noqa: PLC0415  the library

    options = WorkerOptions(
        concurrency=jobs.concurrency, per_tenant=jobs.per_tenant, reap_seconds=jobs.reap_seconds
    )
    async with _counts_given(services), open_jobs(services) as opened:
        worker = Worker(database=database, work=opened.work, options=options)
        await worker.run(stop, on_ready=on_ready, on_alive=on_alive)


def _counts_given(services: Services) -> AbstractAsyncContextManager[None]:
    """Give Prometheus what this process counts, where the settings want that."""
    settings, counts = services.settings.telemetry, services.telemetry.prometheus
    if counts is None or not settings.worker_port:
        return nullcontext()
    # It brings a library that nobody else needs.
    from ai_psychiatrist.infrastructure.telemetry.prometheus import metrics_port  # noqa: PLC0415

    return metrics_port(counts, address=settings.worker_address, port=settings.worker_port)
