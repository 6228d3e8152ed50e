"""The routes of stored assessments: make, list, read and erase them."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from ai_psychiatrist.api.accepted_types import accepted_type
from ai_psychiatrist.api.admission import AdmittedRoute
from ai_psychiatrist.api.begun_job import begin_job
from ai_psychiatrist.api.callbacks import refuse_callback
from ai_psychiatrist.api.doors_of import PrincipalOf, requires
from ai_psychiatrist.api.fhir_answers import OF_FORMS, RESULT_TYPES, answer_of
from ai_psychiatrist.api.idempotency import KeyOfHeader, asked_for, key_of, once
from ai_psychiatrist.api.job_models import JobResult
from ai_psychiatrist.api.job_routes import read_result
from ai_psychiatrist.api.job_waiting import until_ended
from ai_psychiatrist.api.jobs_of import PREFIX as JOBS
from ai_psychiatrist.api.jobs_of import JobsOf
from ai_psychiatrist.api.kept_assessment import Asked, make_and_keep
from ai_psychiatrist.api.preferred import RETRY_AFTER_SECONDS, Preferred, preferred
from ai_psychiatrist.api.query_options import ScoringOfQuery
from ai_psychiatrist.api.record_models import RecordPageResult, record_result
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
from ai_psychiatrist.domain.access import Principal, Scope
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.results.full_result import FullResult
from ai_psychiatrist.reviews.blindness import list_for
from ai_psychiatrist.wiring import erasing

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
    # How far it is, for whoever may ask for assessments and not read them.
    response_model=FullResult | JobResult,
    responses={
        202: {
            "model": JobResult,
            "description": "It is being made: Location is its job.",
        }
    },
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
    idempotency_key: KeyOfHeader = None,
) -> Response:
    """Assess one transcript and store the result.

    With the header `Prefer: respond-async` a job makes it, which outlives the connection and the
    server; Location says where to ask for it. With `wait=30` beside it the answer is the result if
    that is ready within 30 seconds.
    """
    body.subject = body.subject or subject
    asked = Asked(body=body, query=query, request=request, services=services, records=records)
    wishes = preferred(request)
    key = await key_of(idempotency_key, principal.id, lambda: asked_for(PREFIX, [body], query))
    async with once(key, records) as answered:
        if answered is not None:
            record_id = str(answered.record_id)
        elif wishes.is_async:
            record_id = await begin_job(asked, principal, key)
        else:
            refuse_callback(body)
            record_id = (await make_and_keep(asked, key)).assessment_id
    if wishes.is_async:
        await until_ended(record_id, request, records, wishes.wait_seconds)
    return await _answer(record_id, asked, principal, wishes)


async def _answer(
    record_id: str, asked: Asked, principal: Principal, wishes: Preferred
) -> Response:
    """Return the result where there is one that is not only promised, else how far the job is."""
    job = await read_result(record_id, asked.records)
    is_wanted = wishes.wait_seconds or not wishes.is_async
    if job.state is not RecordState.FINISHED or not is_wanted:
        response = _located(json_of(job, 202), f"{JOBS}/{record_id}")
        response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    elif Scope.READ in principal.scopes:
        record = await scored(record_id, asked.records, principal)
        content = Response(record.result, 201, media_type=JSONResponse.media_type)
        response = _located(content, f"{PREFIX}/{record_id}")
    else:
        response = _located(json_of(job, 201), f"{PREFIX}/{record_id}")
    if wishes.is_async:
        response.headers["Preference-Applied"] = wishes.applied
    return response


def _located(response: Response, place: str) -> Response:
    response.headers["Location"] = place
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
    rows = await records.ask(lambda archive: archive.reviews.of(assessment_id))
    own_rows = tuple(row for row in rows if row.rater == principal.id)
    return await answer_of(record, media_type, own_rows)


@router.delete(
    "/{assessment_id}",
    status_code=204,
    responses=PROBLEMS,
    dependencies=ERASING,
)
async def erase_assessment(assessment_id: RecordId, records: RecordsOf, jobs: JobsOf) -> Response:
    """Erase all that is stored of an assessment, its reviews included."""
    await erasing.erase_assessment(records, jobs.webhooks, assessment_id)
    return Response(status_code=204)
