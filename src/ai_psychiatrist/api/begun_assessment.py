"""One assessment in the background: begun before its caller is answered, stored when it is done."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.api.admission import place_of
from ai_psychiatrist.api.begun import Begun
from ai_psychiatrist.api.kept_assessment import Asked, whole_result
from ai_psychiatrist.api.problems import Refusal
from ai_psychiatrist.api.wanted_assessment import WantedAssessment, assess_wanted, reading_to_score
from ai_psychiatrist.assessment.part import FULL, Part
from ai_psychiatrist.domain.assessment import WantedScoring
from ai_psychiatrist.domain.errors import AssessmentServiceError
from ai_psychiatrist.infrastructure.log_ids import begin_assessment
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.results.full_result import FullResult
from ai_psychiatrist.reviews.archive.archive import Archive
from ai_psychiatrist.reviews.archive.columns import figures_of
from ai_psychiatrist.reviews.archive.errors import RecordNotFound
from ai_psychiatrist.reviews.archive.records import WHOLE, Figures, NewRecord

logger = get_logger(__name__)

DANGER: Final = "danger"
STOPPED: Final = "stopping"
_DEFECT: Final = "internal_error"


async def begin(asked: Asked, begun: Begun) -> str:
    """Return the id of an assessment that is stored as running, and goes on by itself.

    What is wrong with the request is raised here, before anything is stored.
    """
    await asked.records.ask(Archive.refuse_full)
    work = _Work(asked=asked, begun=begun, id=asyncio.get_running_loop().create_future())
    task = begun.begin(work.run())
    try:
        return await asyncio.shield(work.id)
    except asyncio.CancelledError:
        task.cancel()
        raise


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    asked: Asked
    begun: Begun
    id: asyncio.Future[str]
    told: asyncio.Queue[tuple[str, str] | None] = field(default_factory=asyncio.Queue)

    async def run(self) -> None:
        """Do all of it; raises nothing but the end of its task."""
        with place_of(self.asked.request).held():
            try:
                result = await self._made()
            except BaseException as error:
                if not self.id.done():
                    self._refuse(error)
                else:
                    await self._fail(error)
                if isinstance(error, asyncio.CancelledError):
                    raise
            else:
                await self._finish(result)

    def _refuse(self, error: BaseException) -> None:
        """Let the caller, who still waits, have the error."""
        if isinstance(error, asyncio.CancelledError):
            self.id.cancel()
            return
        self.id.set_exception(error)
        # A caller who left does not ask for it.
        self.id.exception()

    async def _made(self) -> FullResult:
        asked = self.asked
        async with reading_to_score(
            asked.body, asked.query, asked.request, asked.services
        ) as found:
            await self._begin(found.wanted)
            return await self._assessed(found.wanted, found.scoring)

    async def _begin(self, wanted: WantedAssessment) -> None:
        record_id, danger = begin_assessment(), wanted.risk.level
        new = NewRecord(
            id=record_id,
            transcript=wanted.transcript,
            subject=self.asked.body.subject,
            figures=Figures(danger=danger),
        )
        records = self.asked.records

        def add(archive: Archive) -> None:
            archive.add(new, runner=records.archives.runner)
            archive.running.tell(record_id, WHOLE, "begun")
            archive.running.tell(record_id, DANGER, danger.value)

        await records.ask(add)
        self.id.set_result(record_id)

    async def _assessed(self, wanted: WantedAssessment, scoring: WantedScoring) -> FullResult:
        asked = self.asked
        telling = asyncio.create_task(self._tell_of_stages())
        try:
            assessed = await assess_wanted(
                wanted,
                asked.request,
                asked.services,
                FULL,
                scoring,
                begun_as=self.id.result(),
                on_finished=self._on_finished,
            )
        finally:
            self.told.put_nowait(None)
            await telling
        return await whole_result(assessed, asked.services, is_certified=asked.query.certificate)

    def _on_finished(self, part: Part) -> None:
        self.told.put_nowait((part.value, "finished"))

    async def _tell_of_stages(self) -> None:
        while (told := await self.told.get()) is not None:
            await self._tell(*told)

    async def _tell(self, stage: str, outcome: str) -> None:
        try:
            await self.asked.records.ask(
                lambda archive: archive.running.tell(self.id.result(), stage, outcome)
            )
        except AssessmentServiceError as error:
            # News are a help; what is told of is kept by itself.
            logger.warning("stage_not_told", error_type=type(error).__name__)
        self.begun.tell()

    async def _finish(self, result: FullResult) -> None:
        record_id, content, figures = self.id.result(), _json_of(result), figures_of(result)

        try:
            await self.asked.records.ask(
                lambda archive: archive.running.finish(record_id, content, figures)
            )
        except RecordNotFound:
            logger.info("assessment_deleted_while_running", assessment_id=record_id)
        except AssessmentServiceError as error:
            await self._fail(error)
        self.begun.tell()

    async def _fail(self, error: BaseException) -> None:
        record_id, reason = self.id.result(), _reason(error)
        logger.error("assessment_not_finished", reason=reason, error_type=type(error).__name__)

        try:
            await self.asked.records.ask(lambda archive: archive.running.fail(record_id, reason))
        except AssessmentServiceError as failure:
            # It is said to be interrupted when the files can be used again.
            logger.error("failure_not_stored", error_type=type(failure).__name__)
        self.begun.tell()


def _json_of(result: FullResult) -> bytes:
    return result.model_dump_json().encode()


def _reason(error: BaseException) -> str:
    """Return the code of what ended an assessment: that of the problem, where it is one."""
    match error:
        case Refusal():
            code: object = json.loads(bytes(error.response.body)).get("code")
            return str(code)
        case asyncio.CancelledError():
            return STOPPED
        case _:
            return _DEFECT
