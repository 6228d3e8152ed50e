"""The page of an interview: what danger it is held for, what was said, and letting it go on."""

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
from ai_psychiatrist.interview.interview_store import state_of
from ai_psychiatrist.interview.serialization import whole
from ai_psychiatrist.interview.service import MOST_REASON
from ai_psychiatrist.store.interviews import InterviewListRequest, ListedInterview
from ai_psychiatrist.store.store import Store
from ai_psychiatrist.store.stores import Records

_MOST_HELD: Final = 50
"""Listed above the assessments; the interface pages through all of them."""

router = APIRouter(prefix="/interviews", include_in_schema=False, route_class=BoundedRoute)


@dataclass(frozen=True, slots=True, kw_only=True)
class InDanger:
    """A line of the list of interviews with signs of danger."""

    listed: ListedInterview
    state: InterviewState
    level: RiskLevel | None
    """`None` where the interview cannot be read."""
    about: str | None
    """The id of the assessment that it is about."""
    subject: str | None = field(repr=False)
    """The study id of that assessment, for whoever may read it."""


async def interviews_in_danger(
    records: Records, principal: Principal
) -> tuple[list[InDanger], int]:
    """Return the latest interviews with danger, held ones first, and how many there are in all."""
    names_subjects = Scope.READ in principal.scopes
    return await records.ask(lambda store: _in_danger(store, names_subjects=names_subjects))


def _in_danger(store: Store, *, names_subjects: bool) -> tuple[list[InDanger], int]:
    wanted = InterviewListRequest(limit=_MOST_HELD, has_danger=True)
    page = store.interviews.page(wanted)
    return [_line(store, one, names_subjects=names_subjects) for one in page.interviews], page.total


def _line(store: Store, listed: ListedInterview, *, names_subjects: bool) -> InDanger:
    interview, stored = None, listed.stored
    with suppress(ArtifactMismatch):
        if stored is not None:
            interview = whole(listed.id, origin=stored.origin, state=stored.state)
    danger, about = (interview.danger, interview.about) if interview else (None, None)
    return InDanger(
        listed=listed,
        state=state_of(listed),
        level=None if danger is None else danger.level,
        about=about,
        subject=_subject_of(store, about) if about is not None and names_subjects else None,
    )


def _subject_of(store: Store, record_id: str) -> str | None:
    """Return the subject of an assessment, `None` where it has none or is gone."""
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
