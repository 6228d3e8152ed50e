"""A caller who waits a while for the end of a job."""

import asyncio
from typing import Final

from fastapi import Request

from ai_psychiatrist.api.jobs_of import jobs_of
from ai_psychiatrist.api.request_deadline import seconds_left
from ai_psychiatrist.infrastructure.stopping import Stopping
from ai_psychiatrist.reviews.archives import Records

_MARGIN_SECONDS: Final = 1.0
_LOOK_SECONDS: Final = 0.5
"""How soon the end is seen of what another process does, and that the service stops."""


async def until_ended(record_id: str, request: Request, records: Records, seconds: float) -> None:
    """Return once the job has its end or the time is up, or the service is being stopped."""
    clock = asyncio.get_running_loop().time
    until = clock() + min(seconds, max(0.0, seconds_left(request.scope) - _MARGIN_SECONDS))
    stopping: Stopping = request.app.state.stopping
    while clock() < until and not stopping.is_begun:
        summary = await records.ask(lambda archive: archive.summary(record_id))
        if summary.state.is_last:
            return
        await jobs_of(request).work.news.wait(min(_LOOK_SECONDS, until - clock()))
