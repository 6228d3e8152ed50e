"""The route that gives a stored assessment as one file to keep or send."""

from contextlib import suppress
from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from ai_psychiatrist.api.doors_of import PrincipalOf
from ai_psychiatrist.api.record_routes import OF_SCORES, PREFIX, PROBLEMS, SEEING, TAGS
from ai_psychiatrist.api.records_of import RecordId, RecordsOf
from ai_psychiatrist.api.scored_record import scored
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.infrastructure.worker_processes import work_on_text
from ai_psychiatrist.infrastructure.worker_threads import WorkerThreads
from ai_psychiatrist.results.assessment import risk_result_of
from ai_psychiatrist.results.full_result import FullResult
from ai_psychiatrist.results.page.sheet import sheet_html
from ai_psychiatrist.results.page.views import DangerView, SheetView, danger_view, sheet_view
from ai_psychiatrist.results.reading import result_of
from ai_psychiatrist.results.risk_result import RiskResult
from ai_psychiatrist.reviews.archive.records import Record
from ai_psychiatrist.services.risk.detector import detect_risk
from ai_psychiatrist.wiring import Services

_WRITERS = WorkerThreads(count=2, seconds=30.0)

router = APIRouter(prefix=PREFIX, tags=TAGS, responses=PROBLEMS, dependencies=SEEING)


@router.get("/{assessment_id}/html", response_class=HTMLResponse, responses=OF_SCORES)
async def read_assessment_page(
    assessment_id: RecordId, records: RecordsOf, principal: PrincipalOf
) -> HTMLResponse:
    """Return the assessment as one HTML file that needs nothing else, transcript included."""
    record = await scored(assessment_id, records, principal)
    html = await _WRITERS.run(lambda: sheet_html(view_of(record)))
    # Shown here it would be under this server's policy, which allows no style inside a file.
    name = f'attachment; filename="assessment-{assessment_id[:8]}.html"'
    return HTMLResponse(html, headers={"Content-Disposition": name})


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldDanger:
    """The signs of danger of a record in any state, and what it says beyond them."""

    risk: RiskResult
    result: FullResult | None
    """Of an assessment without any finished part its calls and failures; `None` while there is
    nothing."""

    def view(self, transcript: Transcript) -> DangerView:
        """Return what a page shows of them."""
        seconds = tuple(turn.start_seconds for turn in transcript.turns)
        return danger_view(self.risk, transcript, seconds=seconds)


async def danger_of(record: Record, services: Services) -> ToldDanger:
    """Return the signs of danger that a result has, or those that rules find where there is none.

    A person is to read them whatever becomes of the models.
    """
    transcript = record.transcript
    if record.result:
        with suppress(InputError):
            result = result_of(record.result, field="assessment_id")
            return ToldDanger(risk=result.risk, result=result)
    rules = await work_on_text(transcript.text, detect_risk, transcript)
    voiced = await services.pipeline.second_voice.voiced(transcript, rules)
    risk = risk_result_of(transcript, voiced.report, crisis_resources=services.crisis_resources)
    return ToldDanger(risk=risk, result=None)


def view_of(record: Record) -> SheetView:
    """Return what the page of a finished assessment shows."""
    return sheet_view(result_of(record.result, field="assessment_id"), record.transcript)
