"""What doing one job is: take it, make its assessment while it is wanted, store the end, tell."""

import asyncio
from dataclasses import dataclass, field
from typing import Final

from structlog.contextvars import bound_contextvars

from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.jobs.engine import JobEnd, JobRef, OnEnd
from ai_psychiatrist.jobs.news import News
from ai_psychiatrist.results.full_result import FullResult
from ai_psychiatrist.reviews.archive.archive import Archive
from ai_psychiatrist.reviews.archive.columns import figures_of
from ai_psychiatrist.reviews.archive.errors import (
    ArchiveUnusable,
    RecordNotFound,
    RecordUnreadable,
)
from ai_psychiatrist.reviews.archive.jobs import EndedJob, LeftByFailure, TakenJob
from ai_psychiatrist.reviews.archives import Records
from ai_psychiatrist.wiring.job_assessment import JobAssessment, NothingFinished, reason_of
from ai_psychiatrist.wiring.services import Services

logger = get_logger(__name__)

_WATCH_SECONDS: Final = 1.0
"""How often a job looks whether it is still wanted."""


async def tell_nobody(_end: JobEnd) -> None:
    """Let the end of a job go untold."""


def end_of(tenant: str, ended: EndedJob, state: RecordState, reason: str | None = None) -> JobEnd:
    """Return what is told of a job that has just ended."""
    return JobEnd(
        job=JobRef(tenant=tenant, id=ended.id),
        state=state,
        reason=reason,
        created_at=ended.created_at,
        ended_at=ended.ended_at,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class JobWork:
    """Does jobs of any tenant: the `jobs.engine.Work` of an engine, many at once.

    It is to be called where the services are active, as `Services.active` makes them.
    """

    services: Services
    on_end: OnEnd = tell_nobody
    news: News = field(default_factory=News)
    """Told of each step."""
    under_way: set[str] = field(default_factory=set)
    """Ids of the jobs that this process does just now, for whoever tends the archives."""

    async def __call__(self, job: JobRef) -> RecordState:
        """Do a job to its end."""
        if job.id in self.under_way:
            return RecordState.RUNNING
        # Before it is taken: what a process has taken and does not do is taken from it again.
        self.under_way.add(job.id)
        try:
            with bound_contextvars(assessment_id=job.id):
                return await self._do(job)
        finally:
            self.under_way.discard(job.id)
            self.news.tell()

    async def _do(self, job: JobRef) -> RecordState:
        archives = self.services.archives
        records, runner = archives.records(job.tenant), archives.runner
        try:
            taken = await records.ask(lambda archive: archive.jobs.take(job.id, runner))
            if isinstance(taken, RecordState):
                return taken
            self.news.tell()
            return await _Run(work=self, records=records, taken=taken, runner=runner).watched()
        except RecordNotFound:
            # Erased, whether it was begun or not.
            return RecordState.CANCELLED
        except RecordUnreadable as error:
            return await self._fail_unread(job, records, reason_of(error))
        except asyncio.CancelledError:
            # Of a job that has its end, or is no longer this process's, it changes nothing.
            await records.ask(lambda archive: archive.jobs.put_back(job.id, runner))
            raise

    async def _fail_unread(self, job: JobRef, records: Records, reason: str) -> RecordState:
        """Say of a job that was taken why it cannot even be begun."""
        runner = records.archives.runner
        ended = await records.ask(lambda archive: archive.jobs.fail(job.id, runner, reason))
        if ended is None:
            return await _state_of_left(job, records)
        await self.on_end(end_of(job.tenant, ended, RecordState.FAILED, reason))
        return RecordState.FAILED


async def _state_of_left(job: JobRef, records: Records) -> RecordState:
    """Return how far a job is that is this process's no more.

    `RUNNING` for one without an end: somebody else has it, or will. `CANCELLED` once it is erased.
    """
    try:
        state = (await records.ask(lambda archive: archive.summary(job.id))).state
    except RecordNotFound:
        return RecordState.CANCELLED
    return state if state.is_last else RecordState.RUNNING


def _left_by(error: Exception) -> LeftByFailure | None:
    if not isinstance(error, NothingFinished):
        return None
    result = error.result
    return LeftByFailure(account=result.model_dump_json().encode(), danger=result.risk.level)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    work: JobWork
    records: Records
    taken: TakenJob
    runner: str

    async def watched(self) -> RecordState:
        """Do the job; its calls stop once it is cancelled or erased."""
        making = asyncio.create_task(self._assessment().result())
        watching = asyncio.create_task(self._until_unwanted())
        try:
            await asyncio.wait((making, watching), return_when=asyncio.FIRST_COMPLETED)
            if making.done():
                return await self._ended(making)
        finally:
            for task in (making, watching):
                task.cancel()
            await asyncio.gather(making, watching, return_exceptions=True)
        return await self._left()

    def _assessment(self) -> JobAssessment:
        work = self.work
        return JobAssessment(
            services=work.services, records=self.records, taken=self.taken, news=work.news
        )

    async def _until_unwanted(self) -> None:
        is_wanted = True
        while is_wanted:
            await asyncio.sleep(_WATCH_SECONDS)
            try:
                is_wanted = await self.records.ask(
                    lambda archive: archive.jobs.is_run_by(self.taken.id, self.runner)
                )
            except ArchiveUnusable as error:
                # Whatever is written next says so, too.
                logger.warning("job_not_watched", error_type=type(error).__name__)

    async def _ended(self, making: "asyncio.Task[FullResult]") -> RecordState:
        """Store what came of it; raises `ArchiveUnusable`, and then the job is gone on with."""
        try:
            result = making.result()
        except (ArchiveUnusable, RecordNotFound):
            raise
        except Exception as error:  # noqa: BLE001  whatever it is, the job says so
            reason = reason_of(error)
            logger.error("assessment_not_finished", reason=reason, error_type=type(error).__name__)
            return await self._fail(reason, _left_by(error))
        return await self._finish(result)

    async def _fail(self, reason: str, left: LeftByFailure | None) -> RecordState:
        ended = await self.records.ask(
            lambda archive: archive.jobs.fail(self.taken.id, self.runner, reason, left)
        )
        return await self._told(ended, RecordState.FAILED, reason)

    async def _finish(self, result: FullResult) -> RecordState:
        content, figures = result.model_dump_json().encode(), figures_of(result)

        def store(archive: Archive) -> EndedJob | None:
            return archive.jobs.finish(self.taken.id, self.runner, content, figures)

        return await self._told(await self.records.ask(store), RecordState.FINISHED)

    async def _told(
        self, ended: EndedJob | None, state: RecordState, reason: str | None = None
    ) -> RecordState:
        if ended is None:
            # Cancelled while its last words were written, or taken by somebody else.
            return await self._left()
        await self.work.on_end(end_of(self.records.tenant, ended, state, reason))
        return state

    async def _left(self) -> RecordState:
        job = JobRef(tenant=self.records.tenant, id=self.taken.id)
        return await _state_of_left(job, self.records)
