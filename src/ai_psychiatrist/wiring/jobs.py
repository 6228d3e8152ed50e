"""Jobs by the settings: the engine, what it does, and who hands in again what was left."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Final

from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.repeating import repeating
from ai_psychiatrist.infrastructure.telemetry.work import QueueSeen
from ai_psychiatrist.jobs.engine import EngineAway, JobEngine, JobRef, OnEnd
from ai_psychiatrist.jobs.in_process import InProcessEngine
from ai_psychiatrist.jobs.submissions import Submissions
from ai_psychiatrist.jobs.webhooks.webhooks import Webhooks
from ai_psychiatrist.reviews.archive.errors import RecordNotFound
from ai_psychiatrist.reviews.archive.jobs import GIVEN_UP
from ai_psychiatrist.wiring.job_counts import queue_of
from ai_psychiatrist.wiring.job_ends import ends_told
from ai_psychiatrist.wiring.job_work import JobWork, end_of, tell_nobody
from ai_psychiatrist.wiring.services import Services

logger = get_logger(__name__)

_TEND_SECONDS: Final = 2.0
"""How soon somebody goes on with what a dead process left."""
_PATIENCE_SECONDS: Final = 1.0
"""For jobs that are nearly done when the service stops."""


def job_work(services: Services, on_end: OnEnd = tell_nobody) -> JobWork:
    """Return what an engine calls for each job; any process that opened the services may."""
    return JobWork(services=services, on_end=on_end)


@dataclass(frozen=True, slots=True, kw_only=True)
class Jobs:
    """The jobs of all tenants, as a server asks for them."""

    work: JobWork
    engine: JobEngine
    submissions: Submissions
    webhooks: Webhooks

    async def cancel(self, job: JobRef) -> None:
        """End a job; raises `RecordNotFound` and `JobOver`. One that was cancelled stays so."""
        records = self.work.services.archives.records(job.tenant)
        ended = await records.ask(lambda archive: archive.jobs.cancel(job.id))
        if ended is None:
            return
        self.work.news.tell()
        await self.work.on_end(end_of(job.tenant, ended, RecordState.CANCELLED))
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
        records = self.work.services.archives.records(job.tenant)
        try:
            found = await records.ask(lambda archive: archive.job_lists.one(job.id))
        except RecordNotFound:
            return None
        return (datetime.now(UTC) - found.created_at).total_seconds()


async def tend_jobs(work: JobWork, engine: JobEngine) -> None:
    """Take back what dead processes left, and hand in what waits and the engine does not know."""
    archives = work.services.archives
    for tenant in archives.tenants():
        try:
            given_up = await archives.ask(
                tenant, partial(archives.take_back, under_way=work.under_way)
            )
            for ended in given_up:
                await work.on_end(end_of(tenant, ended, RecordState.FAILED, GIVEN_UP))
            waiting = await archives.ask(tenant, lambda archive: archive.jobs.waiting())
            if waiting:
                known = {job.id for job, _ in await engine.list(tenant=tenant)}
                for job_id in waiting:
                    if job_id not in known:
                        # The engine may remember an end of it, as where an archive was restored.
                        await engine.resume(JobRef(tenant=tenant, id=job_id))
        except EngineAway:
            continue
        except Exception as error:  # noqa: BLE001  an engine may fail in any way; the next time
            logger.error("jobs_not_tended", error_type=type(error).__name__)


def jobs_tended(work: JobWork, engine: JobEngine) -> AbstractAsyncContextManager[None]:
    """Tend the jobs at once, and every few seconds while the block runs."""
    return repeating(partial(tend_jobs, work, engine), _TEND_SECONDS)


@asynccontextmanager
async def open_jobs(services: Services) -> AsyncIterator[Jobs]:
    """Open the engine that the settings name, and tend the jobs, while the block runs.

    At its end jobs have a moment; then they are broken off, to be gone on with by another process
    or at the next start. To be entered where the services are active.
    """
    async with ends_told(services) as ends:
        work = job_work(services, ends.tell)
        async with (
            _engine_of(services.settings, work) as engine,
            jobs_tended(work, engine),
            aclosing(Submissions(engine)) as submissions,
        ):
            yield Jobs(work=work, engine=engine, submissions=submissions, webhooks=ends.webhooks)


@asynccontextmanager
async def _engine_of(settings: Settings, work: JobWork) -> AsyncIterator[JobEngine]:
    if settings.jobs.engine == "dbos":
        # It brings a library that nobody else needs.
        from ai_psychiatrist.wiring.job_queue import submitting_engine  # noqa: PLC0415

        async with submitting_engine(settings) as submitting:
            yield submitting
        return
    jobs = settings.jobs
    engine = InProcessEngine(work, concurrency=jobs.concurrency, per_tenant=jobs.per_tenant)
    try:
        yield engine
    finally:
        await engine.aclose(patience_seconds=_PATIENCE_SECONDS)
