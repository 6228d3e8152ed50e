"""Submit jobs: once per idempotency key, with the addresses that are notified of their end."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Annotated, Final, TypeAlias

from fastapi import Header, Request

from ai_psychiatrist.api.assessments import ReadTranscript, reading_to_score
from ai_psychiatrist.api.authorization import principal_of
from ai_psychiatrist.api.dependencies import jobs_of, records_of, services_of
from ai_psychiatrist.api.requests import IDEMPOTENCY_KEY, KeptAssessmentRequest, ScoringInQuery
from ai_psychiatrist.domain.callback import Callback
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.infrastructure.logging import begin_assessment
from ai_psychiatrist.infrastructure.off_loop import run_in_thread
from ai_psychiatrist.jobs.settings import callback_host
from ai_psychiatrist.store.idempotency import Answered, IdempotencyKey
from ai_psychiatrist.store.jobs import JobRef, NewJob
from ai_psychiatrist.store.records import Figures, NewRecord, danger_figures
from ai_psychiatrist.store.store import Store
from ai_psychiatrist.store.stores import Records
from ai_psychiatrist.wiring.job_work import JobRequest

_DIGITS: Final = 64


async def submit_job(
    body: KeptAssessmentRequest,
    query: ScoringInQuery,
    request: Request,
    key: IdempotencyKey | None = None,
    *,
    is_waited_for: bool = False,
) -> str:
    """Return the id of a job that is stored, and done even when its caller leaves.

    `is_waited_for`: it is begun at once, and does not wait for its turn among other jobs. What is
    wrong with the request is raised here, before anything is stored.
    """
    (callback,) = callbacks([body], request)
    await records_of(request).ask(Store.refuse_full)
    async with reading_to_score(body, query, request) as read:
        job = job_of(read, body, query, request)
    job = replace(job, callback=callback)
    await store_jobs([job], request, key, is_waited_for=is_waited_for)
    return job.record.id


def job_of(
    read: ReadTranscript, body: KeptAssessmentRequest, query: ScoringInQuery, request: Request
) -> NewJob:
    """Return a job for a transcript that was read."""
    options = JobRequest(
        mode=read.scoring.mode,
        ablates=read.scoring.ablates,
        is_certified=query.certificate,
        participant_id=read.participant_id,
    )
    return NewJob(
        record=NewRecord(
            id=begin_assessment(),
            transcript=read.transcript,
            subject=body.subject,
            figures=danger_figures(read.risk.report),
        ),
        request=options.model_dump_json().encode(),
        asked_by=principal_of(request).id,
    )


async def submit_again(record_id: str, request: Request) -> str | None:
    """Return the id of a job that assesses a stored text again, with the options of the first.

    `None` where the first has a result, or is still to have one. Raises `NotFound`.
    """
    records, principal = records_of(request), principal_of(request)
    found = await records.ask(lambda store: store.summary(record_id))
    if found.state not in {RecordState.FAILED, RecordState.CANCELLED}:
        return None
    new_id = begin_assessment()

    def store(store: Store) -> None:
        store.refuse_full()
        first = store.get(record_id)
        figures = first.summary.figures
        new = NewRecord(
            id=new_id,
            transcript=first.transcript,
            subject=store.keys.name(first.summary.subject_id),
            figures=Figures(
                danger=figures.danger, danger_group=figures.danger_group, to_read=figures.to_read
            ),
        )
        options = store.jobs.request(record_id)
        store.add_jobs([NewJob(record=new, request=options, asked_by=principal.id)])

    await records.ask(store)
    jobs_of(request).engine.wake()
    return new_id


def callbacks(
    bodies: Sequence[KeptAssessmentRequest], request: Request
) -> tuple[Callback | None, ...]:
    """Return which address each of the requests wants notified; raises `InputError`."""
    return tuple(callback_of(body.callback_url, request) for body in bodies)


def callback_of(url: str | None, request: Request) -> Callback | None:
    """Return an address that is to be notified, `None` without one; raises `InputError`."""
    if url is None:
        return None
    settings = services_of(request).settings.jobs_webhook
    return Callback(host=callback_host(url, settings), url=url)


async def store_jobs(
    new: Sequence[NewJob],
    request: Request,
    key: IdempotencyKey | None,
    *,
    is_waited_for: bool = False,
) -> None:
    """Store jobs, all or none, and have them done; raises `StoreUnusable`."""
    records, jobs = records_of(request), jobs_of(request)
    most = services_of(request).settings.api.max_concurrency
    is_begun = is_waited_for and jobs.engine.has_room_beside(most)

    async def store() -> None:
        def add(store: Store) -> None:
            store.add_jobs(new, key=key, runner=records.stores.runner if is_begun else None)

        await records.ask(add)
        if not is_begun:
            jobs.engine.wake()
            return
        for job in new:
            jobs.engine.start(JobRef(tenant=records.tenant, id=job.record.id))

    storing = asyncio.ensure_future(store())
    try:
        await asyncio.shield(storing)
    except asyncio.CancelledError:
        # Its caller has gone, but a thread stores the jobs all the same: with them stands the key.
        await asyncio.gather(storing, return_exceptions=True)
        raise


KeyOfHeader: TypeAlias = Annotated[
    str | None,
    Header(
        alias=IDEMPOTENCY_KEY,
        min_length=1,
        max_length=255,
        pattern=r"^[!-~]+$",
        description="A text of your own for this one request, such as a UUID. Sent again with it, "
        "the request begins nothing a second time; it is known for 24 hours at least.",
    ),
]


async def key_of(
    given: str | None,
    route: str,
    bodies: Sequence[KeptAssessmentRequest],
    query: ScoringInQuery,
    request: Request,
) -> IdempotencyKey | None:
    """Return the key of a request, `None` where it has none.

    Its digests are keyed: neither the key nor what is asked for can be read back from them.
    """
    if given is None:
        return None

    def fingerprint() -> str:
        said = [route, query.model_dump_json()]
        for body in bodies:
            # A lone surrogate, which is refused only where the text is read, has no UTF-8.
            said.append(json.dumps(body.model_dump(mode="json")))
            if body.file is not None:
                said.append(f"{body.file.name} {hashlib.sha256(body.file).hexdigest()}")
        return keyed_digest("\n".join(said), length=_DIGITS)

    return IdempotencyKey(
        asked_by=principal_of(request).id,
        digest=keyed_digest(f"idempotency {given}", length=_DIGITS),
        fingerprint=await run_in_thread(fingerprint),
    )


@asynccontextmanager
async def once(key: IdempotencyKey | None, records: Records) -> AsyncIterator[Answered | None]:
    """Give what came of the first request with a key; `None` where this is the first.

    Whoever stores what comes of it says so in the same transaction; a request of which nothing
    came gives its key back. Raises `RequestConflict`.
    """
    if key is None:
        yield None
        return
    answered = await _begin(key, records)
    if answered is not None:
        yield answered
        return
    try:
        yield None
    except BaseException:
        await _forget(key, records)
        raise


async def _begin(key: IdempotencyKey, records: Records) -> Answered | None:
    beginning = asyncio.ensure_future(
        records.ask(lambda store: store.idempotency.begin(key, records.stores.runner))
    )
    try:
        return await asyncio.shield(beginning)
    except asyncio.CancelledError:
        # Its caller has gone, but a thread takes the key all the same.
        (answered,) = await asyncio.gather(beginning, return_exceptions=True)
        if answered is None:
            await _forget(key, records)
        raise


async def _forget(key: IdempotencyKey, records: Records) -> None:
    await records.ask(lambda store: store.idempotency.forget(key))
