"""Who is told how a job ended, in every process that does jobs: webhooks and counts."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from ai_psychiatrist.jobs.engine import JobEnd
from ai_psychiatrist.jobs.webhooks.webhooks import Webhooks
from ai_psychiatrist.wiring.job_counts import count_end
from ai_psychiatrist.wiring.services import Services
from ai_psychiatrist.wiring.webhooks import open_webhooks


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEnds:
    """All who are told."""

    webhooks: Webhooks

    async def tell(self, end: JobEnd) -> None:
        """Tell of one end, once it is stored."""
        await count_end(end)
        await self.webhooks.note_end(end)


@asynccontextmanager
async def ends_told(services: Services) -> AsyncIterator[JobEnds]:
    """Deliver while the block runs; to be entered where the services are active."""
    async with open_webhooks(services) as webhooks:
        yield JobEnds(webhooks=webhooks)
