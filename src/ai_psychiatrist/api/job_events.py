"""The route that tells of each step of a job as it comes."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated, Final, TypeAlias

from fastapi import APIRouter, Depends, Header, Request, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent

from ai_psychiatrist.api.jobs_of import PREFIX, JobId, JobsOf
from ai_psychiatrist.api.problems import Refusal
from ai_psychiatrist.api.record_routes import FOLLOWING
from ai_psychiatrist.api.records_of import RecordsOf
from ai_psychiatrist.api.request_deadline import seconds_left
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.infrastructure.stopping import Stopping
from ai_psychiatrist.reviews.archive.archive import Archive
from ai_psychiatrist.reviews.archive.records import WHOLE, StageEvent
from ai_psychiatrist.reviews.archives import Records

_MARGIN_SECONDS: Final = 1.0
_NEWS_SECONDS: Final = 1.0
"""How long somebody waits who follows what another process does."""
_ENDS: Final = frozenset(state.value for state in RecordState if state.is_last)

router = APIRouter(prefix=PREFIX, tags=["jobs"], dependencies=FOLLOWING)

LastEventId: TypeAlias = Annotated[
    int | None, Header(ge=0, le=2**53, description="Go on after the event of this number.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class _News:
    state: RecordState
    events: tuple[StageEvent, ...]

    @property
    def is_last(self) -> bool:
        """Whether nothing comes any more."""
        return self.state.is_last and not self.events


async def _news(records: Records, job_id: str, after: int) -> _News:
    def read(archive: Archive) -> _News:
        # First: the event that ends all is there when the state says so.
        state = archive.summary(job_id).state
        return _News(state=state, events=archive.events(job_id, after=after))

    return await records.ask(read)


async def _still_to_tell(
    job_id: JobId, records: RecordsOf, last_event_id: LastEventId = None
) -> int:
    """Return after which number to go on; raises `Refusal` where nothing comes any more."""
    news = await _news(records, job_id, last_event_id or 0)
    if last_event_id is not None and news.is_last:
        # A browser that is answered so does not come back.
        raise Refusal(Response(status_code=204))
    return last_event_id or 0


@router.get(
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
    after: Annotated[int, Depends(_still_to_tell)],
) -> AsyncIterator[ServerSentEvent]:
    """Tell of each step as it comes, without words; Last-Event-ID goes on after a break."""
    stopping: Stopping = request.app.state.stopping
    while not stopping.is_begun and seconds_left(request.scope) > _MARGIN_SECONDS:
        news = await _news(records, job_id, after)
        for event in news.events:
            after = event.number
            yield ServerSentEvent(
                id=str(event.number),
                event="end" if event.stage == WHOLE and event.outcome in _ENDS else "stage",
                data={"stage": event.stage, "outcome": event.outcome},
            )
        if news.is_last:
            return
        if not news.events:
            await jobs.work.news.wait(_NEWS_SECONDS)
