"""One job: take it, assess its transcript while that is wanted, store the end."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError
from structlog.contextvars import bound_contextvars

from ai_psychiatrist.assessment.assessor import AssessmentOptions
from ai_psychiatrist.assessment.parts import Part, end_code
from ai_psychiatrist.domain.assessment import Assessment, AssessmentMode, AssessmentStatus
from ai_psychiatrist.domain.errors import (
    ArtifactMismatch,
    AssessmentServiceError,
    ConfigurationError,
    NotFound,
    RequestConflict,
    StoreUnusable,
)
from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.tasks import patiently
from ai_psychiatrist.jobs.engine import JobEvents, OnEnd
from ai_psychiatrist.llm.calls import CallStore, Judgement
from ai_psychiatrist.store.group_writer import GroupWriter
from ai_psychiatrist.store.job_rows import KeptJobCall
from ai_psychiatrist.store.jobs import JobEnd, JobRef, TakenJob
from ai_psychiatrist.store.keys import Seal
from ai_psychiatrist.store.records import Figures, danger_figures, figures_of
from ai_psychiatrist.store.store import Store
from ai_psychiatrist.store.stores import Records, Stores
from ai_psychiatrist.wiring import Services

logger = get_logger(__name__)

_WATCH_SECONDS: Final = 1.0
"""How often a job looks whether it is still wanted."""


class JobRequest(BaseModel):
    """Sealed where it is kept; a field more has a default, for those that were kept before."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    mode: AssessmentMode
    ablates: bool = False
    is_certified: bool = False
    participant_id: int | None = None


@dataclass(slots=True, kw_only=True)
class JobCalls(CallStore):
    """A call store over the store; what was sent is not kept, for the transcript is there."""

    job_id: str
    known: Mapping[tuple[str, int], ModelCall]
    """By digest and occurrence, those that were made before."""
    seal: Seal
    writer: GroupWriter[KeptJobCall]
    patience_seconds: float
    """How long a call waits for the database to come back."""
    error: AssessmentServiceError | None = None
    """Why a call could not be kept: the job is not to end without it."""

    async def recall(self, digest: str, occurrence: int) -> ModelCall | None:
        """Return a call that was made before."""
        return self.known.get((digest, occurrence))

    async def keep(self, call: ModelCall) -> None:
        """Keep a call; once this returns it outlives the process."""
        kept = KeptJobCall(record_id=self.job_id, call=replace(call, sent=()), seal=self.seal)
        try:
            # A call that is not kept would be paid for once more.
            await patiently(partial(self.writer.write, kept), self.patience_seconds)
        except AssessmentServiceError as error:
            self.error = error
            raise

    def judged(self, judgement: Judgement) -> None:
        """Note nothing: the result has an account of all calls."""


@dataclass(frozen=True, slots=True)
class CallWriters:
    """What keeps the calls of jobs: one writer for all jobs of a tenant."""

    _writers: dict[str, GroupWriter[KeptJobCall]] = field(default_factory=dict)

    def of(self, records: Records) -> GroupWriter[KeptJobCall]:
        """Return the writer of a tenant, made when it is first asked for."""

        async def write(kept: Sequence[KeptJobCall]) -> None:
            await records.ask(lambda store: store.jobs.keep(kept))

        return self._writers.setdefault(records.tenant, GroupWriter(write))


@dataclass(slots=True)
class Claimed:
    """Which jobs are still this process's, asked for all of them at once."""

    stores: Stores
    _jobs: frozenset[JobRef] = frozenset()
    _until: float = 0.0
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def has(self, job: JobRef) -> bool:
        """Return whether a job is neither cancelled nor erased, nor taken by another process.

        To be asked a second after the job was taken, and later. Raises `StoreUnusable`.
        """
        nothing = frozenset[JobRef]()
        async with self._asking:
            if time.monotonic() >= self._until:
                runner = self.stores.runner
                self._jobs = await self.stores.ask_all(lambda one: one.taken_by(runner), nothing)
                self._until = time.monotonic() + _WATCH_SECONDS / 2
        return job in self._jobs


@dataclass(frozen=True, slots=True, kw_only=True)
class JobWork:
    """Does jobs of any tenant: the `jobs.engine.Work` of an engine, many at once.

    It is to be called where the services are active, as `Services.active` makes them.
    """

    services: Services
    on_end: OnEnd
    claimed: Claimed
    events: JobEvents = field(default_factory=JobEvents)
    """Told of each step."""
    writers: CallWriters = field(default_factory=CallWriters)

    async def __call__(self, job: JobRef) -> None:
        """Do a job to its end."""
        try:
            stores = self.services.stores
            records, runner = stores.records(job.tenant), stores.runner
            with bound_contextvars(assessment_id=job.id):
                await _Run(work=self, job=job, records=records, runner=runner).run()
        finally:
            self.events.publish()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """One job in the hands of this process."""

    work: JobWork
    job: JobRef
    records: Records
    runner: str

    async def run(self) -> None:
        """Run the job and report its end; skip one that is erased or another process's."""
        try:
            ended = await self._ended()
            if ended is not None:
                await self.work.on_end(ended)
        except NotFound:
            return
        except asyncio.CancelledError:
            # Of a job that has its end, or is no longer this process's, it changes nothing.
            await self.records.ask(lambda store: store.jobs.put_back(self.job.id, self.runner))
            raise

    async def _ended(self) -> JobEnd | None:
        """Take the job and do it; `None` for one that is not, or no longer, this process's."""
        try:
            taken = await self.records.ask(lambda store: store.jobs.take(self.job.id, self.runner))
            if isinstance(taken, RecordState):
                return None
            self.work.events.publish()
            return await self._watched(taken)
        except ArtifactMismatch as error:
            return await self._failed(_reason_of(error))

    async def _watched(self, taken: TakenJob) -> JobEnd | None:
        """Do the job; its calls stop once it is cancelled or erased."""
        making = asyncio.create_task(self._assessed(taken))
        watching = asyncio.create_task(self._until_unwanted())
        try:
            await asyncio.wait((making, watching), return_when=asyncio.FIRST_COMPLETED)
            return await self._stored(making) if making.done() else None
        finally:
            for task in (making, watching):
                task.cancel()
            await asyncio.gather(making, watching, return_exceptions=True)

    async def _until_unwanted(self) -> None:
        is_wanted = True
        while is_wanted:
            await asyncio.sleep(_WATCH_SECONDS)
            try:
                is_wanted = await self.work.claimed.has(self.job)
            except StoreUnusable as error:
                # Whatever is written next says so, too.
                logger.warning("job_not_watched", error_type=type(error).__name__)

    async def _assessed(self, taken: TakenJob) -> Assessment:
        """Return what was made, with calls of an earlier try where there was one.

        Raises `ArtifactMismatch` for a request that cannot be read, and what the store raises
        where a call could not be kept.
        """
        try:
            wanted = JobRequest.model_validate_json(taken.request)
        except ValidationError:
            raise ArtifactMismatch(problem_code="assessment_unreadable") from None
        services = self.work.services
        scoring = await services.scoring(wanted.mode, ablates=wanted.ablates)
        calls = JobCalls(
            job_id=taken.id,
            known=taken.calls,
            seal=taken.seal,
            writer=self.work.writers.of(self.records),
            patience_seconds=services.stores.place.patience_seconds,
        )
        parts: asyncio.Queue[Part | None] = asyncio.Queue()
        telling = asyncio.create_task(self._tell_all(parts))
        options = AssessmentOptions(
            participant_id=wanted.participant_id,
            scoring=scoring,
            deadline_seconds=services.settings.jobs.timeout_seconds,
            on_finished=parts.put_nowait,
            store=calls,
            certify=services.certify if wanted.is_certified else None,
        )
        try:
            assessment = await services.assessor.assess(taken.transcript, options)
        finally:
            parts.put_nowait(None)
            await telling
        if calls.error is not None:
            raise calls.error
        return assessment

    async def _tell_all(self, parts: "asyncio.Queue[Part | None]") -> None:
        """Publish each part that is queued, in order, until the queue ends."""
        while part := await parts.get():
            try:
                await self.records.ask(partial(self._tell, part.value))
            except AssessmentServiceError as error:
                # An event only wakes tasks; the state itself is stored.
                logger.warning("stage_not_told", error_type=type(error).__name__)
            self.work.events.publish()

    def _tell(self, stage: str, store: Store) -> None:
        store.jobs.tell(self.job.id, stage, "finished")

    async def _stored(self, making: "asyncio.Task[Assessment]") -> JobEnd | None:
        """Store the outcome; raises `StoreUnusable`, and then the job is resumed later."""
        try:
            result = making.result()
        except (StoreUnusable, NotFound):
            raise
        except Exception as error:  # noqa: BLE001  whatever it is, the job says so
            reason = _reason_of(error)
            logger.error("assessment_not_finished", reason=reason, error_type=type(error).__name__)
            return await self._failed(reason)
        content = result.model_dump_json().encode()
        if result.status is AssessmentStatus.FAILED:
            reason = end_code(result)
            logger.error("assessment_not_finished", reason=reason)
            danger = danger_figures(result.risk)
            return await self._failed(reason, account=content, figures=danger)
        figures = figures_of(result)
        return await self.records.ask(
            lambda store: store.jobs.finish(self.job.id, self.runner, content, figures)
        )

    async def _failed(
        self, reason: str, *, account: bytes | None = None, figures: Figures | None = None
    ) -> JobEnd | None:
        return await self.records.ask(
            lambda store: store.jobs.fail(
                self.job.id, self.runner, reason, account=account, figures=figures
            )
        )


def _reason_of(error: Exception) -> str:
    """Return the code of a failed job: that of the problem that a caller would receive."""
    match error:
        case ArtifactMismatch(problem_code="assessment_unreadable"):
            return "assessment_unreadable"
        case RequestConflict() | ConfigurationError() | ArtifactMismatch():
            return "not_available"
        case _:
            return "internal_error"
