"""The page of an interview: what danger it is held for, what was said, and letting it go on."""

from typing import Final

from fastapi import APIRouter, Request, Response

from ai_psychiatrist.api.authorization import PrincipalOf, requires
from ai_psychiatrist.api.dependencies import ServicesOf
from ai_psychiatrist.api.held_interviews import REOPENING
from ai_psychiatrist.api.interview_models import DangerResult
from ai_psychiatrist.api.interviews import InterviewId, Interviewing
from ai_psychiatrist.api.json_body import BoundedRequest, BoundedRoute
from ai_psychiatrist.api.pages import (
    message_page,
    name_shown,
    read_form,
    redirect_to,
    render_page,
)
from ai_psychiatrist.domain.access import Scope
from ai_psychiatrist.domain.errors import (
    ArtifactMismatch,
    AssessmentServiceError,
    InputError,
    NotFound,
)
from ai_psychiatrist.domain.interview import InterviewState
from ai_psychiatrist.domain.problems import problem_kinds
from ai_psychiatrist.interview.service import MOST_REASON
from ai_psychiatrist.store.interviews import InterviewsWanted, ListedInterview
from ai_psychiatrist.store.stores import Records

_MOST_HELD: Final = 100
"""Listed above the assessments; the interface pages through all of them."""

router = APIRouter(prefix="/interviews", include_in_schema=False, route_class=BoundedRoute)


async def held_interviews(records: Records) -> tuple[tuple[ListedInterview, ...], int]:
    """Return the latest interviews with danger, held ones first, and how many there are in all."""
    wanted = InterviewsWanted(limit=_MOST_HELD, has_danger=True)
    page = await records.ask(lambda store: store.interviews.page(wanted))
    return page.interviews, page.total


@router.get("/{interview_id}", dependencies=[requires(Scope.READ)])
async def interview_page(
    interview_id: InterviewId,
    request: Request,
    services: ServicesOf,
    interviews: Interviewing,
    principal: PrincipalOf,
) -> Response:
    """Show an interview: its signs of danger first, and all that was said."""
    try:
        snapshot = await interviews.get(interview_id)
    except (NotFound, ArtifactMismatch) as error:
        return await _refusal(request, "Not here", error)
    is_held = snapshot.state is InterviewState.SAFETY_HOLD
    return await render_page(
        request,
        "held_interview",
        interview=snapshot,
        danger=DangerResult.of(snapshot, services.crisis_resources),
        reopenings=[
            ("you" if one.author == principal.id else name_shown(one.author), one)
            for one in snapshot.reopenings
        ],
        is_held=is_held,
        may_reopen=is_held and principal.scopes >= REOPENING,
        most_reason=MOST_REASON,
    )


@router.post("/{interview_id}/reopen", dependencies=[requires(*sorted(REOPENING))])
async def reopen_on_page(
    interview_id: InterviewId,
    request: BoundedRequest,
    interviews: Interviewing,
    principal: PrincipalOf,
) -> Response:
    """Let a held interview go on, and show it again."""
    form = await read_form(request)
    try:
        await interviews.reopen(interview_id, reason=form.get("reason", ""), author=principal.id)
    except (InputError, ArtifactMismatch) as error:
        return await _refusal(request, "Not reopened", error)
    return redirect_to(request, f"/interviews/{interview_id}")


async def _refusal(request: Request, title: str, error: AssessmentServiceError) -> Response:
    status = problem_kinds()[error.problem_code].status
    return await message_page(request, title, f"{error}.", status=status)
