"""The routes by which operators hear of interviews: list them, and reopen one that is held."""

from typing import Annotated, Final, TypeAlias

from fastapi import APIRouter, Query, Response
from pydantic import Field, StrictStr

from ai_psychiatrist.api.authorization import PrincipalOf, requires
from ai_psychiatrist.api.dependencies import Responses, json_of
from ai_psychiatrist.api.interview_models import InterviewResult, interview_result
from ai_psychiatrist.api.interviews import (
    INTERVIEWS_PATH,
    InterviewId,
    Interviewing,
)
from ai_psychiatrist.api.json_body import BoundedRoute
from ai_psychiatrist.api.requests import PageInQuery, RequestBody
from ai_psychiatrist.domain.access import Scope
from ai_psychiatrist.domain.interview import InterviewState
from ai_psychiatrist.interview.service import MOST_REASON
from ai_psychiatrist.interview.snapshot import InterviewPage
from ai_psychiatrist.store.interviews import InterviewListRequest

OF_READING: Final[Responses] = {
    404: {"description": "There is no interview with this id."},
    409: {"description": "What is stored of the interview cannot be used."},
    503: {"description": "Interviews cannot be read or written now."},
}
_OF_REOPENING: Final[Responses] = {
    400: {"description": "The body is no valid JSON."},
    404: OF_READING[404],
    409: {"description": "The interview is not held, or what is stored of it cannot be used."},
    422: {"description": "There is no reason, or it is too long."},
}
REOPENING: Final = frozenset({Scope.ASSESS, Scope.READ})
"""Whoever lets an interview go on holds interviews, and may read what it is held for."""

router = APIRouter(
    prefix=INTERVIEWS_PATH,
    tags=["interviews"],
    responses={503: OF_READING[503]},
    route_class=BoundedRoute,
)


class InterviewsInQuery(PageInQuery):
    """Which part of the list is wanted."""

    state: InterviewState | None = Field(default=None, description="Only in this state.")
    unread: bool = Field(
        default=False, description="Only with danger that nobody has confirmed to have read."
    )


InterviewsOfQuery: TypeAlias = Annotated[InterviewsInQuery, Query()]


class ReopenRequest(RequestBody):
    """Why a held interview goes on."""

    reason: Annotated[StrictStr, Field(min_length=1, max_length=MOST_REASON, pattern=r"\S")]
    """What you did, and why the person can be asked further; kept with your id."""


@router.get("", response_model=InterviewPage, dependencies=[requires(Scope.READ)])
async def list_interviews(query: InterviewsOfQuery, interviews: Interviewing) -> Response:
    """List the interviews of your tenant, a page at a time: held ones first, then the newest."""
    state = None if query.state is None else query.state.value
    wanted = InterviewListRequest(
        limit=query.limit, cursor=query.cursor, state=state, unread=query.unread
    )
    return json_of(await interviews.page(wanted))


@router.post(
    "/{interview_id}/reopen",
    response_model=InterviewResult,
    responses=_OF_REOPENING,
    dependencies=[requires(*sorted(REOPENING))],
)
async def reopen_interview(
    interview_id: InterviewId,
    body: ReopenRequest,
    interviews: Interviewing,
    principal: PrincipalOf,
) -> Response:
    """Let a held interview go on: the question that waited is put again."""
    snapshot = await interviews.reopen(interview_id, reason=body.reason, author=principal.id)
    return json_of(interview_result(snapshot))
