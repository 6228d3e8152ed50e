"""The routes of batches: many assessments begun by one request, a job each."""

import uuid
from typing import Annotated, Final

from fastapi import APIRouter, Request, Response
from pydantic import Field, StrictStr

from ai_psychiatrist.api.admission import AdmittedRoute
from ai_psychiatrist.api.batch_reading import MOST_OF_BATCH, jobs_of_batch
from ai_psychiatrist.api.begun_job import store_jobs
from ai_psychiatrist.api.callbacks import destinations
from ai_psychiatrist.api.doors_of import PrincipalOf, requires
from ai_psychiatrist.api.idempotency import KeyOfHeader, asked_for, key_of, once
from ai_psychiatrist.api.job_models import (
    BatchResult,
    BegunBatchResult,
    BegunJobResult,
    job_page,
)
from ai_psychiatrist.api.job_routes import JobsOfQuery
from ai_psychiatrist.api.jobs_of import BatchId
from ai_psychiatrist.api.kept_assessment import Asked
from ai_psychiatrist.api.preferred import RETRY_AFTER_SECONDS
from ai_psychiatrist.api.query_options import ScoringOfQuery
from ai_psychiatrist.api.record_routes import FOLLOWING, OF_MAKING
from ai_psychiatrist.api.records_of import RecordsOf
from ai_psychiatrist.api.requests import KeptAssessmentRequest, RequestBody
from ai_psychiatrist.api.served import ServicesOf, json_of
from ai_psychiatrist.domain.access import Scope
from ai_psychiatrist.reviews.archive.archive import Archive
from ai_psychiatrist.reviews.archive.jobs import JobSummary, JobsWanted
from ai_psychiatrist.reviews.archives import Records

_PREFIX: Final = "/v1/batches"

router = APIRouter(prefix=_PREFIX, tags=["jobs"])
making = APIRouter(
    prefix=_PREFIX,
    tags=["jobs"],
    responses={code: told for code, told in OF_MAKING.items() if code not in {502, 504}},
    route_class=AdmittedRoute,
    dependencies=[requires(Scope.ASSESS)],
)
"""Of the route that reads transcripts."""


class BatchRequest(RequestBody):
    """Transcripts to assess, each in a job of its own."""

    requests: Annotated[list[KeptAssessmentRequest], Field(min_length=1, max_length=MOST_OF_BATCH)]
    """Each as `POST /v1/assessments` takes it; together no longer than a body may be."""
    callback_url: Annotated[StrictStr, Field(min_length=1, max_length=2_048)] | None = None
    """Told of the end of each job whose request names no other address."""


@making.post("", status_code=202, response_model=BegunBatchResult)
async def create_batch(
    body: BatchRequest,
    query: ScoringOfQuery,
    request: Request,
    services: ServicesOf,
    records: RecordsOf,
    principal: PrincipalOf,
    idempotency_key: KeyOfHeader = None,
) -> Response:
    """Begin the assessments of up to 1,000 transcripts; where one cannot be used, none is begun.

    What the query says counts for all of them.
    """
    bodies = body.requests
    for one in bodies:
        one.callback_url = one.callback_url or body.callback_url
    key = await key_of(idempotency_key, principal.id, lambda: asked_for(_PREFIX, bodies, query))
    async with once(key, records) as answered:
        if answered is not None:
            batch_id = str(answered.batch_id)
        else:
            batch_id = str(uuid.uuid4())
            asked = Asked(
                body=bodies[0], query=query, request=request, services=services, records=records
            )
            told = destinations(bodies, request)
            new = await jobs_of_batch(batch_id, bodies, asked, principal)
            await store_jobs(new, told, asked, key)
    return await _begun(batch_id, records)


@router.get(
    "/{batch_id}",
    response_model=BatchResult,
    responses={
        404: {"description": "There is no batch with this id."},
        503: {"description": "Jobs cannot be read now."},
    },
    dependencies=FOLLOWING,
)
async def read_batch(batch_id: BatchId, query: JobsOfQuery, records: RecordsOf) -> Response:
    """Return how many jobs of a batch are how far, and the jobs themselves, a page at a time."""
    wanted = query.wanted(batch_id)

    def read(archive: Archive) -> BatchResult:
        counts = archive.job_lists.counts(batch_id)
        page = job_page(archive.job_lists.page(wanted))
        return BatchResult(batch_id=batch_id, counts=counts, jobs=page.jobs, next=page.next)

    return json_of(await records.ask(read))


async def _begun(batch_id: str, records: Records) -> Response:
    wanted = JobsWanted(batch_id=batch_id, limit=MOST_OF_BATCH)
    page = await records.ask(lambda archive: archive.job_lists.page(wanted))
    jobs = tuple(map(_begun_job, page.jobs))
    response = json_of(BegunBatchResult(batch_id=batch_id, jobs=jobs), 202)
    response.headers["Location"] = f"{_PREFIX}/{batch_id}"
    response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response


def _begun_job(summary: JobSummary) -> BegunJobResult:
    return BegunJobResult.model_validate({"job_id": summary.id, "danger": summary.danger})
