"""The assessment of one job, from what was kept of it to its result or the code of why not."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from ai_psychiatrist.access.limits.spending import SpendingAccount
from ai_psychiatrist.assessment.parts import Part, end_code
from ai_psychiatrist.domain.access import Principal
from ai_psychiatrist.domain.assessment import AssessmentStatus
from ai_psychiatrist.domain.errors import (
    ArtifactMismatch,
    AssessmentServiceError,
    ConfigurationError,
    RequestConflict,
)
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.jobs.news import News
from ai_psychiatrist.llm.calls import metered
from ai_psychiatrist.results.full_result import FullResult
from ai_psychiatrist.reviews.archive.errors import RecordUnreadable
from ai_psychiatrist.reviews.archive.jobs import TakenJob
from ai_psychiatrist.reviews.archives import Records
from ai_psychiatrist.wiring.job_calls import open_calls
from ai_psychiatrist.wiring.job_request import read_job_request
from ai_psychiatrist.wiring.services import Services

logger = get_logger(__name__)


class NothingFinished(AssessmentServiceError):
    """An assessment has nothing of what is wanted; its code says why."""

    def __init__(self, code: str, result: FullResult) -> None:
        """`result`: without parts; it says which calls failed, and what was found of danger."""
        super().__init__(code)
        self.result = result


def reason_of(error: Exception) -> str:
    """Return the code of what ended a job: that of the problem that a caller would be told."""
    match error:
        case NothingFinished():
            return str(error)
        case RecordUnreadable():
            return "assessment_unreadable"
        case RequestConflict() | ConfigurationError() | ArtifactMismatch():
            return "not_available"
        case _:
            return "internal_error"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobAssessment:
    """One job that this process has taken."""

    services: Services
    records: Records
    taken: TakenJob
    news: News

    async def result(self) -> FullResult:
        """Return what was made, with calls of an earlier try where there was one.

        Raises `NothingFinished`, and what the store raises where a call could not be kept.
        """
        wanted = read_job_request(self.taken.request)
        services = self.services
        scoring = await services.scoring(wanted.mode, ablates=wanted.ablates)
        calls = await open_calls(self.taken.id, self.records)
        async with self._telling() as told, self._charged():
            assessment = await services.pipeline.assess(
                self.taken.transcript,
                participant_id=wanted.participant_id,
                scoring=scoring,
                deadline_seconds=services.settings.jobs.timeout_seconds,
                on_finished=told.put_nowait,
                store=calls,
            )
        if calls.error is not None:
            raise calls.error
        if assessment.status is AssessmentStatus.FAILED:
            result = await services.result_of(assessment, self.taken.id)
            raise NothingFinished(end_code(assessment), result)
        return await services.result_of(assessment, self.taken.id, is_certified=wanted.is_certified)

    @asynccontextmanager
    async def _charged(self) -> AsyncIterator[None]:
        """Count the calls for whoever asked, on the day on which they are made."""
        counts = self.services.day_counts
        if counts is None:
            yield
            return
        asked_by = Principal(
            id=self.taken.asked_by, name="", tenant=self.records.tenant, scopes=frozenset()
        )
        account = SpendingAccount(counts=counts, principal=asked_by)
        try:
            with metered(account):
                yield
        finally:
            await account.written()

    @asynccontextmanager
    async def _telling(self) -> AsyncIterator["asyncio.Queue[Part | None]"]:
        """Tell of each part that is put in, in its order."""
        told: asyncio.Queue[Part | None] = asyncio.Queue()
        telling = asyncio.create_task(self._tell_all(told))
        try:
            yield told
        finally:
            told.put_nowait(None)
            await telling

    async def _tell_all(self, told: "asyncio.Queue[Part | None]") -> None:
        while (part := await told.get()) is not None:
            await self._tell(part)

    async def _tell(self, part: Part) -> None:
        try:
            await self.records.ask(
                lambda archive: archive.jobs.tell(self.taken.id, part.value, "finished")
            )
        except AssessmentServiceError as error:
            # News are a help; what is told of is kept by itself.
            logger.warning("stage_not_told", error_type=type(error).__name__)
        self.news.tell()
