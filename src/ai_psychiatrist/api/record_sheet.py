"""The route that gives a stored assessment as one file to keep or send."""

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from ai_psychiatrist.api.doors_of import PrincipalOf
from ai_psychiatrist.api.record_routes import OF_SCORES, PREFIX, PROBLEMS, SEEING, TAGS
from ai_psychiatrist.api.records_of import RecordId, RecordsOf
from ai_psychiatrist.api.scored_record import scored
from ai_psychiatrist.infrastructure.worker_threads import WorkerThreads
from ai_psychiatrist.results.page.sheet import sheet_html
from ai_psychiatrist.results.page.views import SheetView, sheet_view
from ai_psychiatrist.results.reading import result_of
from ai_psychiatrist.reviews.archive.records import Record

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


def view_of(record: Record) -> SheetView:
    """Return what the page of a finished assessment shows."""
    return sheet_view(result_of(record.result, field="assessment_id"), record.transcript)
