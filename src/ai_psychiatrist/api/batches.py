"""The routes of batches: many assessments submitted by one request, a job each."""

import asyncio
import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Final

from fastapi import APIRouter, Request, Response
from pydantic import Field, StrictStr

from ai_psychiatrist.api.assessments import reading_to_score
from ai_psychiatrist.api.authorization import PrincipalOf, requires
from ai_psychiatrist.api.dependencies import (
    FOLLOWING,
    LOCATION,
    OF_MAKING,
    RETRY_AFTER,
    BatchId,
    RecordsOf,
    json_of,
    records_of,
)
from ai_psychiatrist.api.jobs import (
    BatchResult,
    BegunBatchResult,
    BegunJobResult,
    JobsOfQuery,
    shown_page,
)
from ai_psychiatrist.api.problems import Problem
from ai_psychiatrist.api.requests import (
    RETRY_AFTER_SECONDS,
    KeptAssessmentRequest,
    RequestBody,
    ScoringInQuery,
    ScoringOfQuery,
)
from ai_psychiatrist.api.risk import forget_risk
from ai_psychiatrist.api.slots import AdmittedRoute
from ai_psychiatrist.api.submission import (
    KeyOfHeader,
    callbacks,
    job_of,
    key_of,
    once,
    store_jobs,
)
from ai_psychiatrist.domain.access import Scope
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.store.jobs import JobListRequest, NewJob

_MOST_OF_BATCH: Final = 1_000
_AT_ONCE: Final = 4
_PREFIX: Final = "/v1/batches"

router = APIRouter(prefix=_PREFIX, tags=["jobs"])
making = APIRouter(
    prefix=_PREFIX,
    tags=["jobs"],
    responses={code: said for code, said in OF_MAKING.items() if code not in {502, 504}},
    route_class=AdmittedRoute,
    dependencies=[requires(Scope.ASSESS)],
)
"""Of the route that reads transcripts."""


class BatchRequest(RequestBody):
    """Transcripts to assess, each in a job of its own."""

    requests: Annotated[list[KeptAssessmentRequest], Field(min_length=1, max_length=_MOST_OF_BATCH)]
    """Each as `POST /v1/assessments` takes it; together no longer than a body may be."""
    callback_url: Annotated[StrictStr, Field(min_length=1, max_length=2_048)] | None = None
    """Told of the end of each job whose request names no other address."""


@making.post(
    "",
    status_code=202,
    response_model=BegunBatchResult,
    responses={202: {"headers": LOCATION | RETRY_AFTER}},
)
async def create_batch(
    body: BatchRequest,
    query: ScoringOfQuery,
    request: Request,
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
    key = await key_of(idempotency_key, _PREFIX, bodies, query, request)
    async with once(key, records) as answered:
        if answered is not None:
            batch_id = str(answered.batch_id)
        else:
            batch_id = str(uuid.uuid4())
            to_notify = callbacks(bodies, request)
            new = await _jobs_of_batch(batch_id, bodies, query, request)
            told = zip(new, to_notify, strict=True)
            await store_jobs([replace(job, callback=one) for job, one in told], request, key)
    wanted = JobListRequest(batch_id=batch_id, limit=_MOST_OF_BATCH)
    page = await shown_page(wanted, records, principal)
    jobs = tuple(BegunJobResult(job_id=one.job_id, danger=one.danger) for one in page.jobs)
    return json_of(
        BegunBatchResult(batch_id=batch_id, jobs=jobs),
        202,
        {"Location": f"{_PREFIX}/{batch_id}", "Retry-After": str(RETRY_AFTER_SECONDS)},
    )


@router.get(
    "/{batch_id}",
    response_model=BatchResult,
    responses={
        404: {"description": "There is no batch with this id."},
        503: {"description": "Jobs cannot be read now."},
    },
    dependencies=FOLLOWING,
)
async def read_batch(
    batch_id: BatchId, query: JobsOfQuery, records: RecordsOf, principal: PrincipalOf
) -> Response:
    """Return how many jobs of a batch are how far, and the jobs themselves, a page at a time."""
    counts = await records.ask(lambda store: store.jobs.counts(batch_id))
    unread = None
    if Scope.READ in principal.scopes:
        unread = await records.ask(lambda store: store.jobs.unread(batch_id))
    page = await shown_page(query.wanted(batch_id), records, principal)
    return json_of(
        BatchResult(jobs=page.jobs, next=page.next, batch_id=batch_id, counts=counts, unread=unread)
    )


async def _jobs_of_batch(
    batch_id: str, bodies: Sequence[KeptAssessmentRequest], query: ScoringInQuery, request: Request
) -> list[NewJob]:
    """Return a job for each request.

    What is wrong with the first bad one is raised, with its position in the name of the field. As
    nothing is begun then, signs of danger in one of the transcripts are not answered.
    """
    await records_of(request).ask(lambda store: store.refuse_full(further=len(bodies)))

    async def job(position: int, body: KeptAssessmentRequest) -> NewJob:
        try:
            async with reading_to_score(body, query, request) as read:
                new = job_of(read, body, query, request)
        except InputError as error:
            error.field = f"requests.{position}.{error.field}"
            raise
        except Problem as refusal:
            refusal.more.pop("risk", None)
            refusal.more["field"] = f"requests.{position}"
            raise
        return replace(new, batch_id=batch_id, place=position)

    found: list[NewJob] = []
    try:
        for first in range(0, len(bodies), _AT_ONCE):
            at_once = enumerate(bodies[first : first + _AT_ONCE], first)
            reading = (job(position, body) for position, body in at_once)
            for one in await asyncio.gather(*reading, return_exceptions=True):
                if isinstance(one, BaseException):
                    raise one
                found.append(one)
    finally:
        forget_risk(request.scope)
    return found
