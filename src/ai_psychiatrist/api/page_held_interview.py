"""The page of an interview: what danger it is held for, what was said, and letting it go on."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from fastapi import APIRouter, Request, Response

from ai_psychiatrist.api.authorization import PrincipalOf, principal_of, requires
from ai_psychiatrist.api.dependencies import RecordsOf, records_of, services_of
from ai_psychiatrist.api.held_interviews import REOPENING
from ai_psychiatrist.api.interview_models import DangerResult
from ai_psychiatrist.api.interviews import InterviewId, Interviewing
from ai_psychiatrist.api.json_body import BoundedRequest, BoundedRoute
from ai_psychiatrist.api.pages import (
    message_page,
    read_form,
    redirect_to,
    render_page,
)
from ai_psychiatrist.domain.access import Scope
from ai_psychiatrist.domain.acknowledgement import Acknowledgement, Statement
from ai_psychiatrist.domain.errors import (
    ArtifactMismatch,
    AssessmentServiceError,
    InputError,
    NotFound,
)
from ai_psychiatrist.domain.interview import InterviewState
from ai_psychiatrist.domain.problems import problem_kinds
from ai_psychiatrist.interview.danger_statements import DangerStatement
from ai_psychiatrist.interview.interview_store import state_of
from ai_psychiatrist.interview.record import Interview, Reopening
from ai_psychiatrist.interview.service import MOST_REASON
from ai_psychiatrist.results.page.views import ReaderView
from ai_psychiatrist.reviews.acknowledging import MOST_NOTE, acknowledge_interview, readers_of
from ai_psychiatrist.reviews.danger_readers import reader_views
from ai_psychiatrist.store.interviews import DangerExtent, InterviewListRequest, ListedInterview
from ai_psychiatrist.store.person_names import PersonNames
from ai_psychiatrist.store.store import Store

_MOST_HELD: Final = 50
"""Listed above the assessments; the interface pages through all of them."""

_PLACE: Final = re.compile(r"([0-9]{1,9})-([0-9]{1,9})-([0-9]{1,9})", re.ASCII)

router = APIRouter(prefix="/interviews", include_in_schema=False, route_class=BoundedRoute)


@dataclass(frozen=True, slots=True, kw_only=True)
class DangerSaid:
    """A statement of danger in an answer, and who has read it."""

    said: DangerStatement
    place: str
    """As the form names it: turn, start and end."""
    readers: Sequence[ReaderView]


@dataclass(frozen=True, slots=True, kw_only=True)
class InterviewDangerView:
    """What pages show of the danger in an interview."""

    interview: Interview
    danger: DangerResult
    statements: Sequence[DangerSaid]
    reopenings: Sequence[tuple[str, Reopening]]
    """Each with the name of who reopened it."""
    most_note: int = MOST_NOTE

    @property
    def is_held(self) -> bool:
        """Whether it is held still."""
        return self.interview.state is InterviewState.SAFETY_HOLD

    @property
    def unread(self) -> int:
        """How many statements nobody has confirmed to have read."""
        return sum(not one.readers for one in self.statements)


@dataclass(frozen=True, slots=True, kw_only=True)
class InterviewsInDanger:
    """The interviews with signs of danger, unread and held ones first."""

    listed: Sequence[tuple[ListedInterview, InterviewState]]
    total: int
    unread: int
    """How many about no assessment have danger that nobody has confirmed reading."""
    extent: DangerExtent
    """Of all of them: what an open page looks at again."""


def interviews_in_danger(store: Store) -> InterviewsInDanger:
    """Return the latest interviews with danger, and how many there are in all."""
    page = store.interviews.page(InterviewListRequest(limit=_MOST_HELD, has_danger=True))
    return InterviewsInDanger(
        listed=[(one, state_of(one)) for one in page.interviews],
        total=page.total,
        unread=store.interviews.unread(),
        extent=store.interviews.danger_extent(),
    )


async def danger_in_interview(interview: Interview, request: Request) -> InterviewDangerView | None:
    """Return the danger in an interview with who has read it, `None` where there is none."""
    danger = DangerResult.of(interview, services_of(request).crisis_resources)
    if danger is None:
        return None
    principal = principal_of(request)

    def read(store: Store) -> tuple[tuple[Acknowledgement, ...], PersonNames]:
        rows = store.interviews.acknowledged(interview.id)
        people = {one.reader for one in rows} | {one.author for one in interview.reopenings}
        return rows, store.person_names(people)

    rows, names = await records_of(request).ask(read)
    found = {
        Statement(turn=place.turn, start=place.start, end=place.end): said
        for place, said in zip(danger.places, danger.statements, strict=True)
    }
    return InterviewDangerView(
        interview=interview,
        danger=danger,
        statements=[
            DangerSaid(
                said=said,
                place=f"{at.turn}-{at.start}-{at.end}",
                readers=reader_views(readers_of(at, rows), principal, names),
            )
            for at, said in found.items()
        ],
        reopenings=[
            ("you" if one.author == principal.id else names.shown(one.author), one)
            for one in interview.reopenings
        ],
    )


@router.get("/{interview_id}", dependencies=[requires(Scope.READ)])
async def interview_page(
    interview_id: InterviewId,
    request: Request,
    records: RecordsOf,
    interviews: Interviewing,
    principal: PrincipalOf,
) -> Response:
    """Show an interview: its signs of danger first, and all that was said."""
    try:
        snapshot = await interviews.get(interview_id)
    except (NotFound, ArtifactMismatch) as error:
        return await _refusal(request, "Not here", error)
    subject = None
    if (about := snapshot.about) is not None:
        with suppress(NotFound):
            subject = await records.ask(lambda store: store.subject_of(about))
    is_held = snapshot.state is InterviewState.SAFETY_HOLD
    return await render_page(
        request,
        "held_interview",
        interview=snapshot,
        subject=subject,
        danger=await danger_in_interview(snapshot, request),
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


@router.post("/{interview_id}/acknowledge", dependencies=[requires(Scope.READ)])
async def confirm_read(
    interview_id: InterviewId,
    request: BoundedRequest,
    records: RecordsOf,
    interviews: Interviewing,
    principal: PrincipalOf,
) -> Response:
    """Keep that the caller has read one statement of danger, or all, and show the page again."""
    form = await read_form(request)
    place = _PLACE.fullmatch(form.get("statement", ""))
    statements = None
    if place:
        turn, start, end = map(int, place.groups())
        statements = {Statement(turn=turn, start=start, end=end)}
    note = form.get("note", "")[:MOST_NOTE]
    try:
        snapshot = await interviews.get(interview_id)
        await records.ask(
            lambda store: acknowledge_interview(
                store, snapshot, principal, statements=statements, note=note
            )
        )
    except (InputError, NotFound, ArtifactMismatch) as error:
        return await _refusal(request, "Not kept", error)
    about = snapshot.about if form.get("from") == "assessment" else None
    here = f"/interviews/{interview_id}" if about is None else f"/assessments/{about}"
    return redirect_to(request, f"{here}#interview-danger")


async def _refusal(request: Request, title: str, error: AssessmentServiceError) -> Response:
    status = problem_kinds()[error.problem_code].status
    return await message_page(request, title, f"{error}.", status=status)
