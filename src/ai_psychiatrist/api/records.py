"""The routes of stored assessments: make, list, read and remove them."""

from enum import Enum
from typing import Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from ai_psychiatrist.api.admission import AdmittedRoute
from ai_psychiatrist.api.doors_of import PrincipalOf, requires, requires_one_of
from ai_psychiatrist.api.kept_assessment import Asked, make_and_keep
from ai_psychiatrist.api.query_options import ScoringOfQuery
from ai_psychiatrist.api.record_models import RecordPageResult, record_result
from ai_psychiatrist.api.record_query import ListOfQuery
from ai_psychiatrist.api.records_of import RecordId, RecordsOf
from ai_psychiatrist.api.requests import KeptAssessmentRequest
from ai_psychiatrist.api.sent_file import FILE_BODY
from ai_psychiatrist.api.served import ServicesOf, json_of
from ai_psychiatrist.domain.access import Scope
from ai_psychiatrist.results.full_result import FullResult
from ai_psychiatrist.reviews.archive.archive import Archive
from ai_psychiatrist.reviews.archive.errors import RecordFailed, RecordRunning
from ai_psychiatrist.reviews.archive.records import Record, RecordState
from ai_psychiatrist.reviews.blindness import give_scores, list_for

Problems = dict[int | str, dict[str, object]]

PREFIX: Final = "/v1/assessments"
TAGS: Final[list[str | Enum]] = ["stored assessments"]
PROBLEMS: Final[Problems] = {
    404: {"description": "There is no stored assessment with this id."},
    409: {"description": "The assessment has no result, or what is stored cannot be read."},
    503: {"description": "Stored assessments cannot be read or written now."},
}
OF_SCORES: Final[Problems] = {
    403: {"description": "You rate this assessment blind, and have not committed your ratings."}
}
_OF_MAKING: Final[Problems] = {
    400: {"description": "The body is no valid JSON."},
    404: {"description": "No transcript is stored for this participant."},
    409: {"description": "The mode needs references, and the service has none."},
    413: {"description": "The body or the transcript is too large."},
    422: {"description": "The request names no usable transcript; the body says which field."},
    502: {"description": "No part finished, because the model backend failed."},
    503: {"description": "Too many assessments are under way, or none can be stored."},
    504: {"description": "No part finished before the deadline."},
    507: {"description": "As many assessments are stored as may be."},
}

SEEING: Final = [requires_one_of(Scope.READ, Scope.REVIEW)]
"""A rater sees transcripts, and scores once own ones are committed."""
ERASING: Final = [requires(Scope.ADMIN)]

router = APIRouter(prefix=PREFIX, tags=TAGS)
making = APIRouter(
    prefix=PREFIX,
    tags=TAGS,
    responses=_OF_MAKING,
    route_class=AdmittedRoute,
    dependencies=[requires(Scope.ASSESS)],
)
"""Of the route behind which models are asked."""


@making.post(
    "",
    status_code=201,
    response_model=FullResult,
    openapi_extra={"requestBody": {"content": FILE_BODY}},
)
async def create_assessment(
    body: KeptAssessmentRequest,
    query: ScoringOfQuery,
    request: Request,
    services: ServicesOf,
    records: RecordsOf,
    principal: PrincipalOf,
) -> Response:
    """Assess one transcript and store the result."""
    asked = Asked(body=body, query=query, request=request, services=services, records=records)
    result = await make_and_keep(asked)
    record_id = result.assessment_id
    await records.ask(lambda archive: give_scores(archive, record_id, principal))
    response = json_of(result, 201)
    response.headers["Location"] = f"{PREFIX}/{record_id}"
    return response


@router.get("", response_model=RecordPageResult, dependencies=SEEING)
async def list_assessments(
    query: ListOfQuery, records: RecordsOf, principal: PrincipalOf
) -> Response:
    """List stored assessments, a page at a time."""
    wanted = query.wanted(principal)
    page = await records.ask(lambda archive: list_for(archive, wanted))
    result = RecordPageResult(
        assessments=tuple(map(record_result, page.records)), next=page.next, total=page.total
    )
    return json_of(result)


@router.get(
    "/{assessment_id}",
    response_model=FullResult,
    responses=PROBLEMS | OF_SCORES,
    dependencies=SEEING,
)
async def read_assessment(
    assessment_id: RecordId, records: RecordsOf, principal: PrincipalOf
) -> Response:
    """Return a stored result as it was made."""

    def read(archive: Archive) -> Record:
        give_scores(archive, assessment_id, principal)
        return archive.get(assessment_id)

    record = finished(await records.ask(read))
    return Response(record.result, media_type=JSONResponse.media_type)


@router.delete(
    "/{assessment_id}",
    status_code=204,
    responses=PROBLEMS,
    dependencies=ERASING,
)
async def delete_assessment(assessment_id: RecordId, records: RecordsOf) -> Response:
    """Remove all that is stored of an assessment, its reviews included."""
    await records.ask(lambda archive: archive.delete(assessment_id))
    return Response(status_code=204)


def finished(record: Record) -> Record:
    """Return a record that has a result; raises `RequestConflict` for any other."""
    match record.summary.state:
        case RecordState.RUNNING:
            raise RecordRunning
        case RecordState.FAILED:
            raise RecordFailed
        case RecordState.FINISHED:
            return record
