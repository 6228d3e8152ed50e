"""The addresses that callers want to be told once their jobs have ended."""

import time
from collections.abc import Sequence

from fastapi import Request

from ai_psychiatrist.api.job_models import CallbackResult
from ai_psychiatrist.api.jobs_of import jobs_of
from ai_psychiatrist.api.requests import KeptAssessmentRequest
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.jobs.engine import JobRef
from ai_psychiatrist.jobs.webhooks.letter import Expected
from ai_psychiatrist.jobs.webhooks.places import Destination
from ai_psychiatrist.jobs.webhooks.webhooks import WebhooksUnusable
from ai_psychiatrist.reviews.archive.errors import ArchiveUnusable
from ai_psychiatrist.reviews.archive.jobs import NewJob

_REASON = "the file of the webhooks cannot be used"


def refuse_callback(body: KeptAssessmentRequest) -> None:
    """Raise `InputError` for an address that would never be told: the caller waits."""
    if body.callback_url is not None:
        msg = "is told of jobs alone: send the header Prefer: respond-async, or leave it out"
        raise InputError(msg, field="callback_url")


def destinations(
    bodies: Sequence[KeptAssessmentRequest], request: Request
) -> tuple[Destination | None, ...]:
    """Return where each of the requests wants its end told; raises `CallbackRefused`."""
    webhooks = jobs_of(request).webhooks
    urls = (body.callback_url for body in bodies)
    return tuple(None if url is None else webhooks.destination(url) for url in urls)


async def expect_callbacks(
    new: Sequence[NewJob], told: Sequence[Destination | None], tenant: str, request: Request
) -> None:
    """Note who is to be told of jobs that are about to be stored; raises `ArchiveUnusable`."""
    wanted = [
        Expected(
            job=JobRef(tenant=tenant, id=job.record.id),
            batch=job.batch_id,
            destination=destination,
            created=time.time(),
        )
        for job, destination in zip(new, told, strict=True)
        if destination is not None
    ]
    if not wanted:
        return
    try:
        await jobs_of(request).webhooks.expect(wanted)
    except WebhooksUnusable:
        raise ArchiveUnusable(_REASON) from None


async def callback_of(job: JobRef, request: Request) -> CallbackResult | None:
    """Return how far the telling of a job is; raises `ArchiveUnusable`."""
    try:
        delivery = await jobs_of(request).webhooks.delivery(job)
    except WebhooksUnusable:
        raise ArchiveUnusable(_REASON) from None
    return None if delivery is None else CallbackResult(state=delivery.state, tries=delivery.tries)
