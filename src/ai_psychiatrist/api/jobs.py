"""The routes of jobs: list, read, follow and cancel them."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import Annotated, Final, TypeAlias

from fastapi import APIRouter, Depends, Header, HTTPException, Query, Request, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import Field

from ai_psychiatrist.api.authorization import PrincipalOf, requires
from ai_psychiatrist.api.dependencies import (
    ASSESSMENTS_PATH,
    ETAG,
    FOLLOWING,
    JOBS_PATH,
    LOCATION,
    RETRY_AFTER,
    JobId,
    JobsOf,
    RecordsOf,
    Responses,
    jobs_of,
    json_of,
    records_of,
    services_of,
)
from ai_psychiatrist.api.limits import seconds_left
from ai_psychiatrist.api.problems import FailureProblem, Problem, nothing_finished
from ai_psychiatrist.api.requests import RETRY_AFTER_SECONDS, PageInQuery
from ai_psychiatrist.domain.access import Principal, Scope
from ai_psychiatrist.domain.errors import ArtifactMismatch, InputError
from ai_psychiatrist.domain.problems import problem_kinds
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.infrastructure.off_loop import WorkerThreads
from ai_psychiatrist.infrastructure.tasks import GracefulShutdown
from ai_psychiatrist.results.reading import result_of
from ai_psychiatrist.results.result import Result
from ai_psychiatrist.store.deliveries import Delivery
from ai_psychiatrist.store.events import StageEvent
from ai_psychiatrist.store.jobs import DANGER, JobListRequest, JobPage, JobRef, JobSummary
from ai_psychiatrist.store.records import WHOLE
from ai_psychiatrist.store.store import Store
from ai_psychiatrist.store.stores import Records

_MARGIN_SECONDS: Final = 1.0
_LOOK_SECONDS: Final = 0.5
"""How soon the end is seen of what another process does, and that the service stops."""
_EVENTS_SECONDS: Final = 1.0
"""How soon a caller who follows a job sees what another process does."""
_ETAG_DIGITS: Final = 32
_READERS: Final = WorkerThreads(count=1, seconds=30.0)
_ENDS: Final = frozenset(state.value for state in RecordState if state.is_last)
_NOT_FOUND: Final[Responses] = {404: {"description": "There is no job with this id."}}

router = APIRouter(
    prefix=JOBS_PATH,
    tags=["jobs"],
    responses={503: {"description": "Jobs cannot be read or written now."}},
)
events = APIRouter(prefix=JOBS_PATH, tags=["jobs"], dependencies=FOLLOWING)


class StageResult(Result):
    """One step of an assessment, without words."""

    stage: str
    """`assessment` for the whole, `danger` once the transcript was read for it, or a part that is
    finished."""
    outcome: str
    """`waiting`, `begun`, `finished`, `failed` or `cancelled`; of `danger` the level."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class JobResult(JobSummary):
    """How far a job is, and how it came there."""

    stages: tuple[StageResult, ...] = ()
    """What `/events` sends, in its order."""
    callback: Delivery | None = None
    """How far the notification of `callback_url` is; null where none was given."""
    problem: FailureProblem | None = None
    """Of a job that failed what a request that waits for it is answered with."""


class BegunJobResult(Result):
    """A job of a batch that was just begun."""

    job_id: str
    """Of the job and of its assessment."""
    danger: RiskLevel | None
    """The level of the signs of danger that rules found in its transcript."""


class BegunBatchResult(Result):
    """A batch that was just begun."""

    batch_id: str
    """What `/v1/batches/{id}` asks for."""
    jobs: tuple[BegunJobResult, ...]
    """One for each request, in their order."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BatchResult(JobPage):
    """How far a batch is."""

    batch_id: str
    """Its id."""
    counts: dict[RecordState, int]
    """State → how many of its jobs are so; what was erased since is not counted."""
    unread: int | None
    """How many of its assessments have statements of danger to be read now that nobody has
    confirmed to have read; null without the scope `read`."""


class JobsInQuery(PageInQuery):
    """Which part of the list is wanted."""

    state: RecordState | None = Field(default=None, description="Only in this state.")

    def wanted(self, batch_id: str | None = None) -> JobListRequest:
        """Return the page as the store takes it."""
        return JobListRequest(
            limit=self.limit, cursor=self.cursor, state=self.state, batch_id=batch_id
        )


JobsOfQuery: TypeAlias = Annotated[JobsInQuery, Query()]


@router.get("", response_model=JobPage, dependencies=FOLLOWING)
async def list_jobs(query: JobsOfQuery, records: RecordsOf, principal: PrincipalOf) -> Response:
    """List the jobs of your tenant, a page at a time, the newest first."""
    return json_of(await shown_page(query.wanted(), records, principal))


@router.get(
    "/{job_id}",
    response_model=JobResult,
    responses=_NOT_FOUND
    | {
        200: {"headers": ETAG | RETRY_AFTER},
        303: {
            "model": JobResult,
            "description": "It is finished: Location is its result.",
            "headers": LOCATION,
        },
        304: {
            "description": "It has not changed since the ETag of If-None-Match.",
            "headers": ETAG,
        },
    },
    dependencies=FOLLOWING,
)
async def read_job(
    job_id: JobId,
    request: Request,
    records: RecordsOf,
    principal: PrincipalOf,
    if_none_match: Annotated[
        str | None, Header(description="The ETag of the answer that you have.")
    ] = None,
) -> Response:
    """Return how far a job is, or go on to its result."""
    result = await read_result(job_id, records, principal)
    if result.state is RecordState.FAILED:
        problem = (await failure_of(job_id, str(result.reason), request)).body()
        result = replace(result, problem=FailureProblem.model_validate(problem))
    if result.state is RecordState.FINISHED:
        return json_of(result, 303, {"Location": f"{ASSESSMENTS_PATH}/{job_id}"})
    response = json_of(result)
    tag = f'"{hashlib.sha256(response.body).hexdigest()[:_ETAG_DIGITS]}"'
    given = (if_none_match or "").split(",")
    # A weak tag counts as well in If-None-Match.
    if {"*", tag} & {one.strip().removeprefix("W/") for one in given}:
        response = Response(status_code=304)
    response.headers["ETag"] = tag
    if not result.state.is_last:
        response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response


@router.delete(
    "/{job_id}",
    status_code=202,
    response_model=JobResult,
    responses=_NOT_FOUND | {409: {"description": "It has ended, and not by being cancelled."}},
    dependencies=[requires(Scope.ASSESS)],
)
async def cancel_job(
    job_id: JobId, jobs: JobsOf, records: RecordsOf, principal: PrincipalOf
) -> Response:
    """End a job: its model calls stop within a second or two, and it stays cancelled."""
    await jobs.cancel(JobRef(tenant=records.tenant, id=job_id))
    return json_of(await read_result(job_id, records, principal), 202)


async def read_result(
    job_id: str, records: Records, principal: Principal, *, is_sender: bool = False
) -> JobResult:
    """Return how far a job is, as this caller may see it; raises `NotFound`.

    `is_sender`: whether the caller is known to have sent the text.
    """

    def read(store: Store) -> JobResult:
        summary = _shown(store.jobs.summary(job_id), principal, is_sender=is_sender)
        values = {one.name: getattr(summary, one.name) for one in fields(summary)}
        seen = [one for one in store.jobs.events(job_id) if _is_shown(one, summary)]
        return JobResult(
            **values,
            stages=tuple(map(StageResult.model_validate, seen)),
            callback=store.deliveries.one(job_id),
        )

    return await records.ask(read)


async def shown_page(wanted: JobListRequest, records: Records, principal: Principal) -> JobPage:
    """Return a part of the list, as this caller may see it."""
    page = await records.ask(lambda store: store.jobs.page(wanted))
    return replace(page, jobs=tuple(_shown(one, principal) for one in page.jobs))


async def failure_of(job_id: str, reason: str, request: Request) -> Problem:
    """Return what a request that waits for a failed job is answered with.

    `reason`: of the job; it is all that is said where its calls cannot be read any more.
    """
    with suppress(ArtifactMismatch, InputError):
        record = await records_of(request).ask(lambda store: store.get(job_id))
        if record.result:
            account = await _READERS.run(lambda: result_of(record.result, field="account"))
            return nothing_finished(account, services_of(request).connections.reasons(account))
    return Problem(reason if reason in problem_kinds() else "internal_error")


def _shown(summary: JobSummary, principal: Principal, *, is_sender: bool = False) -> JobSummary:
    """Return a job; its level of danger is for who sent the text and keys that may read results."""
    if Scope.READ in principal.scopes or is_sender or summary.asked_by == principal.id:
        return summary
    return replace(summary, danger=None, hidden=("danger",))


def _is_shown(event: StageEvent, summary: JobSummary) -> bool:
    return event.stage != DANGER or not summary.hidden


async def until_ended(record_id: str, request: Request, records: Records, seconds: float) -> None:
    """Return once the job has its end or the time is up, or the service is being stopped."""
    clock = asyncio.get_running_loop().time
    until = clock() + min(seconds, max(0.0, seconds_left(request.scope) - _MARGIN_SECONDS))
    stopping: GracefulShutdown = request.app.state.stopping
    while clock() < until and not stopping.is_begun:
        summary = await records.ask(lambda store: store.summary(record_id))
        if summary.state.is_last:
            return
        await jobs_of(request).work.events.wait(min(_LOOK_SECONDS, until - clock()))


async def _events_after(
    number: int, job_id: str, records: Records
) -> tuple[tuple[StageEvent, ...], bool]:
    """Return the further events, and whether none comes any more."""

    def read(store: Store) -> tuple[tuple[StageEvent, ...], bool]:
        # First: the event that ends all is there when the state says so.
        state = store.summary(job_id).state
        found = store.jobs.events(job_id, after=number)
        return found, state.is_last and not found

    return await records.ask(read)


async def _last_number(
    job_id: JobId,
    records: RecordsOf,
    last_event_id: Annotated[
        int | None, Header(ge=0, le=2**53, description="Go on after the event of this number.")
    ] = None,
) -> int:
    """Return after which number to go on; ends with 204 where no further event comes."""
    _, is_over = await _events_after(last_event_id or 0, job_id, records)
    if last_event_id is not None and is_over:
        # A browser that is answered so does not come back.
        raise HTTPException(204)
    return last_event_id or 0


@events.get(
    "/{job_id}/events",
    response_class=EventSourceResponse,
    responses={
        204: {"description": "All was told, and nothing comes any more."},
        404: {"description": "There is no job with this id."},
        503: {"description": "Jobs cannot be read now."},
    },
)
async def follow_job(
    job_id: JobId,
    request: Request,
    records: RecordsOf,
    jobs: JobsOf,
    principal: PrincipalOf,
    after: Annotated[int, Depends(_last_number)],
) -> AsyncIterator[ServerSentEvent]:
    """Send each step as it comes, without words; Last-Event-ID goes on after a break."""
    stopping: GracefulShutdown = request.app.state.stopping
    summary = await records.ask(lambda store: _shown(store.jobs.summary(job_id), principal))
    while not stopping.is_begun and seconds_left(request.scope) > _MARGIN_SECONDS:
        further, is_over = await _events_after(after, job_id, records)
        for event in further:
            after = event.number
            if not _is_shown(event, summary):
                continue
            yield ServerSentEvent(
                id=str(event.number),
                event="end" if event.stage == WHOLE and event.outcome in _ENDS else "stage",
                data={"stage": event.stage, "outcome": event.outcome},
            )
        if is_over:
            return
        if not further:
            await jobs.work.events.wait(_EVENTS_SECONDS)
