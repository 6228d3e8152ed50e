"""The pages of one assessment: how far it is, what came out, and its rating without that."""

from dataclasses import dataclass, field
from hashlib import sha256

from fastapi import APIRouter, Request, Response

from ai_psychiatrist.api.doors_of import PrincipalOf, requires
from ai_psychiatrist.api.page_frame import sent_to, shown, told
from ai_psychiatrist.api.page_ratings import ratings_view
from ai_psychiatrist.api.record_sheet import danger_of, view_of
from ai_psychiatrist.api.records_of import RecordId, RecordsOf
from ai_psychiatrist.api.served import ServicesOf
from ai_psychiatrist.domain.access import Principal, Scope
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.domain.review import ReviewPhase, ReviewRow
from ai_psychiatrist.infrastructure.worker_threads import WorkerThreads
from ai_psychiatrist.results.page.failure_words import end_words
from ai_psychiatrist.results.page.item_questions import ITEM_QUESTIONS
from ai_psychiatrist.results.page.views import DangerView, danger_view
from ai_psychiatrist.reviews.archive.archive import Archive
from ai_psychiatrist.reviews.archive.errors import RecordNotFound, StillBlind
from ai_psychiatrist.reviews.archive.records import Record, StageEvent
from ai_psychiatrist.reviews.blindness import give_scores, is_asked_first, visible_rows
from ai_psychiatrist.wiring import Services

router = APIRouter(prefix="/assessments", include_in_schema=False)

_READERS = WorkerThreads(count=2, seconds=30.0)
_CHOICE = (
    "You can rate it first, without seeing what the program made of it. Once you have seen its "
    "scores, your rating is kept but counts as none of the blind ones."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """What a page shows of a record, for one caller."""

    record: Record
    phase: ReviewPhase
    rows: tuple[ReviewRow, ...] = ()
    stages: tuple[StageEvent, ...] = ()
    subject: str | None = field(default=None, repr=False)
    """Whose interview it is, for those who may see results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedItem:
    """An item to be rated; nothing of what the program made of it."""

    key: str
    label: str
    slug: str
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _ToRate:
    """What is shown of a record to whoever rates it."""

    danger: DangerView
    items: tuple[RatedItem, ...]


@router.get("/{assessment_id}", dependencies=[requires()])
async def assessment(
    assessment_id: RecordId,
    request: Request,
    records: RecordsOf,
    services: ServicesOf,
    principal: PrincipalOf,
) -> Response:
    """Show how far an assessment is, or what came out; whoever rates it blind is sent there."""
    wants_scores = "show" in request.query_params

    def read(archive: Archive) -> _Read:
        phase = archive.reviews.standing(assessment_id, principal.id)
        record = archive.get(assessment_id)
        if record.summary.state is not RecordState.FINISHED:
            return _Read(record=record, phase=phase, stages=archive.events(assessment_id))
        if not _asks_first(principal, phase) or wants_scores:
            give_scores(archive, assessment_id, principal)
        return _Read(
            record=record,
            phase=phase,
            rows=visible_rows(archive, assessment_id, principal.id),
            subject=archive.subject_name(record.subject_id)
            if Scope.READ in principal.scopes
            else None,
        )

    try:
        found = await records.ask(read)
    except RecordNotFound:
        return await told(request, "Not here", "No assessment has this address.", status=404)
    except StillBlind:
        return sent_to(request, f"/assessments/{assessment_id}/rate")
    if found.record.summary.state is not RecordState.FINISHED:
        return await _progress(request, found, principal, services)
    if _asks_first(principal, found.phase) and not wants_scores:
        here = f"/assessments/{assessment_id}"
        ways = {"Rate it blind": f"{here}/rate", "Show the result": f"{here}?show=result"}
        return await told(request, "Rate it first?", _CHOICE, status=200, ways=ways)
    return await _sheet(request, found, principal)


@router.get("/{assessment_id}/rate", dependencies=[requires(Scope.REVIEW)])
async def rate(
    assessment_id: RecordId, request: Request, records: RecordsOf, principal: PrincipalOf
) -> Response:
    """Show the words of an assessment and its signs of danger, to be rated without its scores."""

    def read(archive: Archive) -> _Read:
        phase = archive.reviews.standing(assessment_id, principal.id)
        return _Read(record=archive.get(assessment_id), phase=phase)

    try:
        found = await records.ask(read)
    except RecordNotFound:
        return await told(request, "Not here", "No assessment has this address.", status=404)
    is_over = found.phase is ReviewPhase.REVEALED
    if is_over or found.record.summary.state is not RecordState.FINISHED:
        return sent_to(request, f"/assessments/{assessment_id}")
    to_rate = await _READERS.run(lambda: _without_scores(found.record))
    return await shown(
        request,
        "rate",
        id=assessment_id,
        draft=_draft_name(assessment_id, principal),
        is_blind=found.phase is not ReviewPhase.SEEN,
        danger=to_rate.danger,
        items=to_rate.items,
    )


def _asks_first(principal: Principal, phase: ReviewPhase) -> bool:
    return is_asked_first(principal) and phase is ReviewPhase.UNSEEN


def _draft_name(assessment_id: str, principal: Principal) -> str:
    """Return what a browser calls ratings that are not committed yet: one's own, and nameless."""
    return sha256(f"{assessment_id} {principal.id}".encode()).hexdigest()[:16]


def _without_scores(record: Record) -> _ToRate:
    whole = view_of(record)
    seconds = whole.result.transcript.turn_seconds
    return _ToRate(
        danger=danger_view(whole.result.risk, record.transcript, seconds=seconds),
        items=tuple(
            RatedItem(
                key=one.item.value,
                label=one.label,
                slug=one.slug,
                question=ITEM_QUESTIONS[one.item],
            )
            for one in whole.items
        ),
    )


async def _progress(
    request: Request, found: _Read, principal: Principal, services: Services
) -> Response:
    """Show the words and the signs of danger in them, and why there is no result."""
    summary = found.record.summary
    told = await danger_of(found.record, services)
    may_see = not principal.scopes.isdisjoint({Scope.READ, Scope.REVIEW})
    return await shown(
        request,
        "progress",
        id=summary.id,
        is_over=summary.state.is_last,
        state=summary.state.value,
        reason="" if summary.reason is None else end_words(summary.reason),
        causes=() if told.result is None else services.connections.reasons(told.result),
        failures=() if told.result is None else told.result.failures,
        danger=told.view(found.record.transcript) if may_see else None,
        level=told.risk.level,
        stages=found.stages,
        may_assess=Scope.ASSESS in principal.scopes,
    )


async def _sheet(request: Request, found: _Read, principal: Principal) -> Response:
    record = found.record
    view = await _READERS.run(lambda: view_of(record))
    return await shown(
        request,
        "assessment",
        view=view,
        is_example=False,
        id=record.id,
        day=f"{record.created_at:%Y-%m-%d %H:%M}",
        subject_id=record.subject_id,
        subject=found.subject,
        phase=found.phase.value,
        ratings=ratings_view(view, found.rows, principal),
        may_review=Scope.REVIEW in principal.scopes,
        may_erase=Scope.ADMIN in principal.scopes,
    )
