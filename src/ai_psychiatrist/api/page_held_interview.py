"""The page of an interview: what danger it is held for, what was said, and letting it go on."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
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
from ai_psychiatrist.domain.access import Principal, Scope
from ai_psychiatrist.domain.errors import (
    ArtifactMismatch,
    AssessmentServiceError,
    InputError,
    NotFound,
)
from ai_psychiatrist.domain.interview import InterviewState
from ai_psychiatrist.domain.problems import problem_kinds
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.interview.service import MOST_REASON, InterviewService
from ai_psychiatrist.interview.snapshot import InterviewSnapshot
from ai_psychiatrist.store.interviews import InterviewsWanted, ListedInterview
from ai_psychiatrist.store.store import Store
from ai_psychiatrist.store.stores import Records

_MOST_HELD: Final = 50
"""Listed above the assessments; the interface pages through all of them."""

router = APIRouter(prefix="/interviews", include_in_schema=False, route_class=BoundedRoute)


@dataclass(frozen=True, slots=True, kw_only=True)
class InDanger:
    """A line of the list of interviews with signs of danger."""

    listed: ListedInterview
    level: RiskLevel | None
    """`None` where the interview cannot be read."""
    about: str | None
    """The id of the assessment that it is about."""
    subject: str | None = field(repr=False)
    """The study id of that assessment, for whoever may read it."""


async def interviews_in_danger(
    records: Records, service: InterviewService, principal: Principal
) -> tuple[list[InDanger], int]:
    """Return the latest interviews with danger, held ones first, and how many there are in all."""
    wanted = InterviewsWanted(limit=_MOST_HELD, has_danger=True)
    page = await records.ask(lambda store: store.interviews.page(wanted))
    read: dict[str, InterviewSnapshot] = {}
    for one in page.interviews:
        with suppress(NotFound, ArtifactMismatch):
            read[one.id] = await service.get(one.id)
    about = {one.about for one in read.values() if one.about is not None}
    shown = about if Scope.READ in principal.scopes else set()
    names = await records.ask(lambda store: {one: _subject_of(store, one) for one in shown})
    return [_line(one, read.get(one.id), names) for one in page.interviews], page.total


def _line(
    listed: ListedInterview, interview: InterviewSnapshot | None, names: Mapping[str, str | None]
) -> InDanger:
    danger, about = (interview.danger, interview.about) if interview else (None, None)
    return InDanger(
        listed=listed,
        level=None if danger is None else danger.level,
        about=about,
        subject=None if about is None else names.get(about),
    )


def _subject_of(store: Store, record_id: str) -> str | None:
    """Return whose an assessment is, `None` where nobody is named or it is gone."""
    with suppress(NotFound, ArtifactMismatch):
        return store.keys.name(store.get(record_id).summary.subject_id)
    return None


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
