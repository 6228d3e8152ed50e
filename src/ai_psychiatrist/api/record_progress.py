"""The routes that say how far a stored assessment is."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated, Final, TypeAlias

from fastapi import APIRouter, Depends, Header, Request, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent

from ai_psychiatrist.api.begun import begun_of
from ai_psychiatrist.api.preferred import RETRY_AFTER_SECONDS
from ai_psychiatrist.api.problems import Refusal
from ai_psychiatrist.api.record_models import RecordStatusResult, StageResult, status_result
from ai_psychiatrist.api.record_routes import FOLLOWING, PREFIX, PROBLEMS, TAGS
from ai_psychiatrist.api.records_of import RecordId, RecordsOf
from ai_psychiatrist.api.request_deadline import seconds_left
from ai_psychiatrist.api.served import json_of
from ai_psychiatrist.infrastructure.stopping import Stopping
from ai_psychiatrist.reviews.archive.archive import Archive
from ai_psychiatrist.reviews.archive.records import WHOLE, RecordState, StageEvent
from ai_psychiatrist.reviews.archives import Records

_MARGIN_SECONDS: Final = 1.0

router = APIRouter(prefix=PREFIX, tags=TAGS, responses=PROBLEMS, dependencies=FOLLOWING)

LastEventId: TypeAlias = Annotated[
    int | None, Header(ge=0, le=2**53, description="Go on after the event of this number.")
]


@router.get(
    "/{assessment_id}/status",
    response_model=RecordStatusResult,
    responses={303: {"description": "It is finished: Location is its result."}},
)
async def read_status(assessment_id: RecordId, records: RecordsOf) -> Response:
    """Return how far an assessment is, or go on to its result."""

    def read(archive: Archive) -> RecordStatusResult:
        summary = archive.summary(assessment_id)
        return status_result(summary, tuple(map(_stage, archive.events(assessment_id))))

    status = await records.ask(read)
    response = json_of(status, 303 if status.state is RecordState.FINISHED else 200)
    match status.state:
        case RecordState.FINISHED:
            response.headers["Location"] = f"{PREFIX}/{assessment_id}"
        case RecordState.RUNNING:
            response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
        case RecordState.FAILED:
            pass
    return response


@dataclass(frozen=True, slots=True, kw_only=True)
class _News:
    state: RecordState
    events: tuple[StageEvent, ...]

    @property
    def is_last(self) -> bool:
        """Whether nothing comes any more."""
        return self.state is not RecordState.RUNNING and not self.events


async def _news(records: Records, assessment_id: str, after: int) -> _News:
    def read(archive: Archive) -> _News:
        # First: the event that ends all is there when the state says so.
        state = archive.summary(assessment_id).state
        return _News(state=state, events=archive.events(assessment_id, after=after))

    return await records.ask(read)


async def _still_to_tell(
    assessment_id: RecordId, records: RecordsOf, last_event_id: LastEventId = None
) -> int:
    """Return after which number to go on; raises `Refusal` where nothing comes any more."""
    news = await _news(records, assessment_id, last_event_id or 0)
    if last_event_id is not None and news.is_last:
        # A browser that is answered so does not come back.
        raise Refusal(Response(status_code=204))
    return last_event_id or 0


@router.get(
    "/{assessment_id}/events",
    response_class=EventSourceResponse,
    responses={204: {"description": "All was told, and nothing comes any more."}},
)
async def follow_assessment(
    assessment_id: RecordId,
    request: Request,
    records: RecordsOf,
    after: Annotated[int, Depends(_still_to_tell)],
) -> AsyncIterator[ServerSentEvent]:
    """Tell of each step as it comes, without words; Last-Event-ID goes on after a break."""
    stopping: Stopping = request.app.state.stopping
    begun = begun_of(request)
    while not stopping.is_begun and seconds_left(request.scope) > _MARGIN_SECONDS:
        news = await _news(records, assessment_id, after)
        for event in news.events:
            after = event.number
            yield ServerSentEvent(
                id=str(event.number),
                event="end" if event.stage == WHOLE and event.outcome != "begun" else "stage",
                data={"stage": event.stage, "outcome": event.outcome},
            )
        if news.is_last:
            return
        if not news.events:
            await begun.news()


def _stage(event: StageEvent) -> StageResult:
    return StageResult(stage=event.stage, outcome=event.outcome)
