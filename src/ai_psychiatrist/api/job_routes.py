"""The routes that say how far jobs are, and end them."""

import hashlib
from typing import Annotated, Final, TypeAlias

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from ai_psychiatrist.api import record_routes
from ai_psychiatrist.api.callbacks import callback_of
from ai_psychiatrist.api.doors_of import requires
from ai_psychiatrist.api.job_models import JobPageResult, JobResult, job_page, job_result
from ai_psychiatrist.api.jobs_of import PREFIX, JobId, JobsOf
from ai_psychiatrist.api.preferred import RETRY_AFTER_SECONDS
from ai_psychiatrist.api.record_query import LONGEST_CURSOR, MOST_LINES
from ai_psychiatrist.api.records_of import RecordsOf
from ai_psychiatrist.api.served import json_of
from ai_psychiatrist.domain.access import Scope
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.jobs.engine import JobRef
from ai_psychiatrist.reviews.archive.archive import Archive
from ai_psychiatrist.reviews.archive.jobs import JobsWanted

_UNAVAILABLE: Final[record_routes.Problems] = {
    503: {"description": "Jobs cannot be read or written now."}
}
_NOT_FOUND: Final[record_routes.Problems] = {404: {"description": "There is no job with this id."}}
_ETAG_DIGITS: Final = 32

router = APIRouter(prefix=PREFIX, tags=["jobs"], responses=_UNAVAILABLE)


class JobsInQuery(BaseModel):
    """Which part of the list is wanted; nothing unknown."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    limit: int = Field(default=50, ge=1, le=MOST_LINES, description="Most lines of a page.")
    cursor: str | None = Field(
        default=None, max_length=LONGEST_CURSOR, description="The `next` of the page before."
    )
    state: RecordState | None = Field(default=None, description="Only in this state.")

    def wanted(self, batch_id: str | None = None) -> JobsWanted:
        """Return the page as the archive takes it."""
        return JobsWanted(limit=self.limit, cursor=self.cursor, state=self.state, batch_id=batch_id)


JobsOfQuery: TypeAlias = Annotated[JobsInQuery, Query()]


@router.get("", response_model=JobPageResult, dependencies=record_routes.FOLLOWING)
async def list_jobs(query: JobsOfQuery, records: RecordsOf) -> Response:
    """List the jobs of your tenant, a page at a time, the newest first."""
    wanted = query.wanted()
    return json_of(job_page(await records.ask(lambda archive: archive.job_lists.page(wanted))))


@router.get(
    "/{job_id}",
    response_model=JobResult,
    responses=_NOT_FOUND
    | {
        303: {"description": "It is finished: Location is its result."},
        304: {"description": "It is as it was when it had the ETag of If-None-Match."},
    },
    dependencies=record_routes.FOLLOWING,
)
async def read_job(job_id: JobId, request: Request, records: RecordsOf) -> Response:
    """Return how far a job is, or go on to its result."""
    result = await read_result(job_id, records)
    callback = await callback_of(JobRef(tenant=records.tenant, id=job_id), request)
    return _answer(result.model_copy(update={"callback": callback}), request)


@router.delete(
    "/{job_id}",
    status_code=202,
    response_model=JobResult,
    responses=_NOT_FOUND | {409: {"description": "It has ended, and not by being cancelled."}},
    dependencies=[requires(Scope.ASSESS)],
)
async def cancel_job(job_id: JobId, jobs: JobsOf, records: RecordsOf) -> Response:
    """End a job: its model calls stop within a second or two, and it stays cancelled."""
    await jobs.cancel(JobRef(tenant=records.tenant, id=job_id))
    return json_of(await read_result(job_id, records), 202)


async def read_result(job_id: str, records: RecordsOf) -> JobResult:
    """Return how far a job is; raises `RecordNotFound`."""

    def read(archive: Archive) -> JobResult:
        return job_result(archive.job_lists.one(job_id), archive.events(job_id))

    return await records.ask(read)


def _answer(result: JobResult, request: Request) -> Response:
    if result.state is RecordState.FINISHED:
        response = json_of(result, 303)
        response.headers["Location"] = f"{record_routes.PREFIX}/{result.job_id}"
        return response
    response = json_of(result)
    tag = f'"{hashlib.sha256(response.body).hexdigest()[:_ETAG_DIGITS]}"'
    if _names(request.headers.get("if-none-match", ""), tag):
        response = Response(status_code=304)
    response.headers["ETag"] = tag
    if not result.state.is_last:
        response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response


def _names(given: str, tag: str) -> bool:
    """Return whether If-None-Match names a tag; by it a weak one counts as well."""
    tags = {one.strip().removeprefix("W/") for one in given.split(",")}
    return tag in tags or "*" in tags
