"""The routes of stored assessments: make, list, read and erase them."""

from fastapi import APIRouter, Request, Response

from ai_psychiatrist.api.accepted_types import accepted_type
from ai_psychiatrist.api.admission import AdmittedRoute
from ai_psychiatrist.api.begun import begun_of
from ai_psychiatrist.api.begun_assessment import begin
from ai_psychiatrist.api.doors_of import PrincipalOf, requires
from ai_psychiatrist.api.fhir_answers import OF_FORMS, RESULT_TYPES, answer_of
from ai_psychiatrist.api.kept_assessment import Asked, make_and_keep
from ai_psychiatrist.api.preferred import ASYNC, RETRY_AFTER_SECONDS, is_async_preferred
from ai_psychiatrist.api.query_options import ScoringOfQuery
from ai_psychiatrist.api.record_models import (
    RecordPageResult,
    RecordStatusResult,
    record_result,
    status_result,
)
from ai_psychiatrist.api.record_query import ListOfQuery
from ai_psychiatrist.api.record_routes import (
    ERASING,
    OF_MAKING,
    OF_SCORES,
    PREFIX,
    PROBLEMS,
    SEEING,
    TAGS,
)
from ai_psychiatrist.api.records_of import RecordId, RecordsOf
from ai_psychiatrist.api.requests import KeptAssessmentRequest
from ai_psychiatrist.api.scored_record import scored
from ai_psychiatrist.api.sent_file import FILE_BODY
from ai_psychiatrist.api.served import ServicesOf, json_of
from ai_psychiatrist.api.subject_header import SubjectOfHeader
from ai_psychiatrist.domain.access import Scope
from ai_psychiatrist.results.full_result import FullResult
from ai_psychiatrist.reviews.blindness import give_scores, list_for

router = APIRouter(prefix=PREFIX, tags=TAGS)
making = APIRouter(
    prefix=PREFIX,
    tags=TAGS,
    responses=OF_MAKING,
    route_class=AdmittedRoute,
    dependencies=[requires(Scope.ASSESS)],
)
"""Of the route behind which models are asked."""


@making.post(
    "",
    status_code=201,
    response_model=FullResult,
    responses={202: {"model": RecordStatusResult, "description": "It is being made."}},
    openapi_extra={"requestBody": {"content": FILE_BODY}},
)
async def create_assessment(
    body: KeptAssessmentRequest,
    query: ScoringOfQuery,
    request: Request,
    services: ServicesOf,
    records: RecordsOf,
    principal: PrincipalOf,
    subject: SubjectOfHeader,
) -> Response:
    """Assess one transcript and store the result.

    With the header `Prefer: respond-async` it is made after the answer; Location says where to ask
    how far it is.
    """
    body.subject = body.subject or subject
    asked = Asked(body=body, query=query, request=request, services=services, records=records)
    if is_async_preferred(request):
        return await _begun(asked)
    result = await make_and_keep(asked)
    record_id = result.assessment_id
    if Scope.READ not in principal.scopes:
        summary = await records.ask(lambda archive: archive.summary(record_id))
        return _located(json_of(status_result(summary), 201), record_id)
    await records.ask(lambda archive: give_scores(archive, record_id, principal))
    return _located(json_of(result, 201), record_id)


async def _begun(asked: Asked) -> Response:
    record_id = await begin(asked, begun_of(asked.request))
    summary = await asked.records.ask(lambda archive: archive.summary(record_id))
    response = _located(json_of(status_result(summary), 202), record_id, "/status")
    response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    response.headers["Preference-Applied"] = ASYNC
    return response


def _located(response: Response, record_id: str, part: str = "") -> Response:
    response.headers["Location"] = f"{PREFIX}/{record_id}{part}"
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
    responses=PROBLEMS | OF_SCORES | OF_FORMS,
    dependencies=SEEING,
)
async def read_assessment(
    assessment_id: RecordId, request: Request, records: RecordsOf, principal: PrincipalOf
) -> Response:
    """Return a stored result as it was made, or what it says as a FHIR bundle.

    The bundle is the program's, or your own once you have committed your ratings.
    """
    media_type = accepted_type(request, RESULT_TYPES)
    record = await scored(assessment_id, records, principal)
    rows = await records.ask(lambda archive: archive.rows(assessment_id))
    own_rows = tuple(row for row in rows if row.rater == principal.id)
    return await answer_of(record, media_type, own_rows)


@router.delete(
    "/{assessment_id}",
    status_code=204,
    responses=PROBLEMS,
    dependencies=ERASING,
)
async def erase_assessment(assessment_id: RecordId, records: RecordsOf) -> Response:
    """Erase all that is stored of an assessment, its reviews included."""
    await records.ask(lambda archive: archive.erase(assessment_id))
    return Response(status_code=204)
