"""Webhooks by the settings, and where they look up how jobs ended."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ai_psychiatrist.jobs.engine import JobEnd, JobRef
from ai_psychiatrist.jobs.webhooks.webhooks import Webhooks
from ai_psychiatrist.reviews.archive.errors import RecordNotFound
from ai_psychiatrist.reviews.archives import Archives
from ai_psychiatrist.wiring.services import Services


@asynccontextmanager
async def open_webhooks(services: Services) -> AsyncIterator[Webhooks]:
    """Yield the webhooks, which are delivered while the block runs; in any process of a service."""
    settings = services.settings
    webhooks = Webhooks(folder=settings.data.state_dir.expanduser(), settings=settings.jobs_webhook)
    async with webhooks.running(lambda job: _end_of(services.archives, job)):
        yield webhooks


async def _end_of(archives: Archives, job: JobRef) -> JobEnd | None:
    """Return how a job ended, as `FindEnd` says."""
    try:
        found = await archives.records(job.tenant).ask(
            lambda archive: archive.job_lists.one(job.id)
        )
    except RecordNotFound:
        raise KeyError(job.id) from None
    if found.ended_at is None:
        return None
    return JobEnd(
        job=job,
        state=found.state,
        reason=found.reason,
        created_at=found.created_at,
        ended_at=found.ended_at,
    )
