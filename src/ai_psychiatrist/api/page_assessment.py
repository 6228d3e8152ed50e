"""The pages of one assessment: its progress, its result with ratings, and rating it blind."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

from fastapi import APIRouter, Request, Response

from ai_psychiatrist.api.authorization import PrincipalOf, Required, requires
from ai_psychiatrist.api.dependencies import RecordId, RecordsOf, ServicesOf, services_of
from ai_psychiatrist.api.page_acknowledge import read_view
from ai_psychiatrist.api.page_adjudicate import ratings_view
from ai_psychiatrist.api.page_held_interview import danger_in_interview
from ai_psychiatrist.api.page_interview import interview_view, item_protocols
from ai_psychiatrist.api.pages import (
    message_page,
    no_assessment_page,
    redirect_to,
    render_page,
)
from ai_psychiatrist.api.rating_queue import RatingQueue
from ai_psychiatrist.api.records import RESULT_READERS, account_of, view_of
from ai_psychiatrist.domain.access import Principal, Scope
from ai_psychiatrist.domain.acknowledgement import Acknowledgement
from ai_psychiatrist.domain.errors import NotFound, RequestConflict
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.domain.review import (
    ReviewPhase,
    ReviewRow,
)
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.interview.interview_store import ReadInterview, read_all
from ai_psychiatrist.results.page.views import (
    DangerView,
    danger_view,
)
from ai_psychiatrist.results.page.words import ITEM_QUESTIONS, STEPS, end_words, words
from ai_psychiatrist.results.reading import result_of
from ai_psychiatrist.reviews.blindness import give_scores, is_asked_first, visible_rows
from ai_psychiatrist.store.events import BEGUN, StageEvent
from ai_psychiatrist.store.interviews import ListedInterview
from ai_psychiatrist.store.listing import Rated, RecordListRequest
from ai_psychiatrist.store.person_names import PersonNames
from ai_psychiatrist.store.records import Record
from ai_psychiatrist.store.store import Store
from ai_psychiatrist.store.stores import Records
from ai_psychiatrist.wiring import Services

router = APIRouter(prefix="/assessments", include_in_schema=False)


_SENT = (
    "Signs of danger: {level}. Your key sends interviews and reads no results: tell somebody who "
    "has a key of scope read that it is there to be read."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """What a page shows of a record, for one caller."""

    record: Record
    phase: ReviewPhase
    names: PersonNames
    """Of those who rated or confirmed."""
    rows: tuple[ReviewRow, ...] = ()
    acknowledged: tuple[Acknowledgement, ...] = ()
    interviews: tuple[ReadInterview, ...] = ()
    """Those about it, the newest first."""
    in_interviews: tuple[ListedInterview, ...] = ()
    """The interviews about it, for who sees only that there is danger in them."""
    stages: tuple[StageEvent, ...] = ()
    subject: str | None = field(default=None, repr=False)
    """The study id, for those who may see the interview."""
    of_person: int = 1
    """How many assessments there are of the same person."""
    waiting: int = 0
    """How many assessments the caller can still rate."""
    following: str | None = None
    """What the caller rates next of the queue in the address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepView:
    """A step of an assessment that is being made."""

    stage: str
    words: str
    outcome: str
    """Empty until it has come."""
    time: str
    """In UTC; empty until it has come."""


@router.get("/{assessment_id}", dependencies=[requires()])
async def assessment(
    assessment_id: RecordId,
    request: Request,
    records: RecordsOf,
    services: ServicesOf,
    principal: PrincipalOf,
) -> Response:
    """Show how far an assessment is, or its result; a rater who rates it blind is sent there."""
    wants_scores, queue = "show" in request.query_params, RatingQueue.of(request)

    def read(store: Store) -> _Read:
        phase = store.reviews.standing(assessment_id, principal.id)
        record = store.get(assessment_id)
        acknowledged = store.acknowledgements.of(assessment_id)
        if record.summary.state is not RecordState.FINISHED:
            return _Read(
                record=record,
                phase=phase,
                names=store.person_names({one.reader for one in acknowledged}),
                acknowledged=acknowledged,
                stages=store.jobs.events(assessment_id),
                subject=store.subject_of(assessment_id) if _sees_words(principal) else None,
            )
        if _asks_first(principal, phase) and not wants_scores:
            return _without_scores(store, record, phase)
        give_scores(store, assessment_id, principal)
        rows = visible_rows(store, assessment_id, principal.id)
        people = {one.reader for one in acknowledged} | {row.rater for row in rows}
        return _Read(
            record=record,
            phase=phase,
            names=store.person_names(people),
            rows=rows,
            of_person=len(store.lists.of_subject(record.summary.subject_id)),
            acknowledged=acknowledged,
            interviews=read_all(store.interviews.about(assessment_id)),
            subject=store.subject_of(assessment_id) if _sees_words(principal) else None,
            following=queue.next_in(store, principal),
        )

    try:
        found = await records.ask(read)
    except NotFound:
        return await no_assessment_page(request)
    except RequestConflict:
        if Scope.ASSESS in principal.scopes and not _sees_words(principal):
            return await _sent(assessment_id, request, records)
        if Scope.REVIEW not in principal.scopes:
            Required(frozenset({Scope.READ})).check(principal)
        return redirect_to(request, f"/assessments/{assessment_id}/rate{queue.query}")
    if found.record.summary.state is not RecordState.FINISHED:
        return await _progress(request, found, principal, services)
    if _asks_first(principal, found.phase) and not wants_scores:
        return await _page_without_scores(request, "rate_first", found, principal)
    return await _sheet(request, found, principal)


async def _sent(record_id: str, request: Request, records: Records) -> Response:
    """Tell who may only send interviews that one is stored, and how grave the danger in it is."""
    found = await records.ask(lambda store: store.summary(record_id).figures.danger)
    level = words(RiskLevel.NONE if found is None else found)
    return await message_page(
        request, "The assessment is stored", _SENT.format(level=level), status=200
    )


@router.get("/{assessment_id}/rate", dependencies=[requires(Scope.REVIEW)])
async def rate(
    assessment_id: RecordId, request: Request, records: RecordsOf, principal: PrincipalOf
) -> Response:
    """Show the words of an assessment and its signs of danger, to be rated without its scores."""

    def read(store: Store) -> _Read:
        waiting = RecordListRequest(
            rater=principal.id, limit=1, state=RecordState.FINISHED, rated=Rated.NOT_MINE
        )
        phase = store.reviews.standing(assessment_id, principal.id)
        found = _without_scores(store, store.get(assessment_id), phase)
        return replace(found, waiting=store.lists.page(waiting).total)

    try:
        found = await records.ask(read)
    except NotFound:
        return await no_assessment_page(request)
    is_over = found.phase is ReviewPhase.REVEALED
    if is_over or found.record.summary.state is not RecordState.FINISHED:
        return redirect_to(request, f"/assessments/{assessment_id}{RatingQueue.of(request).query}")
    return await _page_without_scores(request, "rate", found, principal)


def _without_scores(store: Store, record: Record, phase: ReviewPhase) -> _Read:
    record_id = record.summary.id
    acknowledged = store.acknowledgements.of(record_id)
    return _Read(
        record=record,
        phase=phase,
        names=store.person_names({one.reader for one in acknowledged}),
        acknowledged=acknowledged,
        in_interviews=store.interviews.about(record_id),
        subject=store.subject_of(record_id),
    )


async def _page_without_scores(
    request: Request, template: str, found: _Read, principal: Principal
) -> Response:
    """Show the words and the signs of danger in them, for who has not seen the scores."""
    record_id = found.record.summary.id

    def danger() -> DangerView:
        # Nothing else of the result may reach the page.
        result = result_of(found.record.result, field="assessment_id")
        seconds = result.transcript.turn_seconds
        return danger_view(result.risk, found.record.transcript, seconds=seconds)

    shown = await RESULT_READERS.run(danger)
    return await render_page(
        request,
        template,
        id=record_id,
        danger=shown,
        in_interviews=[one for one in found.in_interviews if one.danger is not None],
        may_read=Scope.READ in principal.scopes,
        read=read_view(record_id, shown.risk, found.acknowledged, principal, found.names),
        subject=found.subject,
        created_at=found.record.summary.created_at,
        # What a browser calls ratings that are not committed yet: its own, and without a name.
        draft=sha256(f"{record_id} {principal.id}".encode()).hexdigest()[:16],
        is_blind=found.phase is not ReviewPhase.SEEN,
        waiting=found.waiting,
        queue=RatingQueue.of(request),
        questions=ITEM_QUESTIONS,
    )


def _sees_words(principal: Principal) -> bool:
    return not principal.scopes.isdisjoint({Scope.READ, Scope.REVIEW})


def _asks_first(principal: Principal, phase: ReviewPhase) -> bool:
    return is_asked_first(principal) and phase is ReviewPhase.UNSEEN


async def _progress(
    request: Request, found: _Read, principal: Principal, services: Services
) -> Response:
    """Show the words and the signs of danger in them, and why there is no result."""
    summary = found.record.summary
    result, risk = await account_of(found.record, services)
    transcript = found.record.transcript
    seconds = tuple(turn.start_seconds for turn in transcript.turns)
    danger = None
    if _sees_words(principal):
        danger = await RESULT_READERS.run(lambda: danger_view(risk, transcript, seconds=seconds))
    return await render_page(
        request,
        "progress",
        id=summary.id,
        subject=found.subject,
        created_at=summary.created_at,
        is_over=summary.state.is_last,
        state=summary.state.value,
        reason="" if summary.reason is None else end_words(summary.reason),
        causes=() if result is None else services.connections.reasons(result),
        failures=() if result is None else result.failures,
        danger=danger,
        read=read_view(summary.id, risk, found.acknowledged, principal, found.names)
        if summary.state.is_last
        else None,
        level=risk.level,
        steps=_steps(found.stages),
        may_assess=Scope.ASSESS in principal.scopes,
    )


def _steps(stages: Sequence[StageEvent]) -> list[StepView]:
    """Return each step once, with how it came out; one that has not come has no time."""
    come = {one.stage: one for one in stages if one.outcome != RecordState.WAITING}
    # It begins once; how it ended is what the whole page says.
    come |= {one.stage: one for one in stages if one.outcome == BEGUN}
    return [
        StepView(
            stage=stage,
            words=words,
            outcome=come[stage].outcome if stage in come else "",
            time=come[stage].at[:19].replace("T", " ") if stage in come else "",
        )
        for stage, words in STEPS.items()
    ]


async def _sheet(request: Request, found: _Read, principal: Principal) -> Response:
    record = found.record
    view = await RESULT_READERS.run(lambda: view_of(record))
    in_interviews = [await danger_in_interview(one.interview, request) for one in found.interviews]
    return await render_page(
        request,
        "assessment",
        view=replace(view, interviews=found.interviews),
        interview_dangers=[one for one in in_interviews if one is not None],
        may_read=Scope.READ in principal.scopes,
        read=read_view(
            record.summary.id, view.result.risk, found.acknowledged, principal, found.names
        ),
        is_example=False,
        id=record.summary.id,
        created_at=record.summary.created_at,
        subject_id=record.summary.subject_id,
        of_person=found.of_person,
        subject=found.subject,
        queue=RatingQueue.of(request),
        following=found.following,
        phase=found.phase.value,
        ratings=ratings_view(view, found.rows, principal, found.names),
        interview=await interview_view(found.interviews, request),
        is_reported=services_of(request).settings.danger.is_reported,
        protocols=await item_protocols(request),
        may_ask=Scope.ASSESS in principal.scopes,
        may_review=Scope.REVIEW in principal.scopes,
        may_erase=Scope.ADMIN in principal.scopes,
        may_adjudicate=Scope.ADMIN in principal.scopes and record.summary.raters > 1,
    )
