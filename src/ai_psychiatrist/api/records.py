"""The routes of stored assessments: make, list, read and erase them."""

import asyncio
import hashlib
import json
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

from ai_psychiatrist.api.assessments import assess_and_store
from ai_psychiatrist.api.authorization import PrincipalOf, principal_of, requires
from ai_psychiatrist.api.dependencies import (
    ASSESSMENTS_PATH,
    ERASING,
    JOBS_PATH,
    LOCATION,
    OF_MAKING,
    OF_SCORES,
    PROBLEMS,
    RETRY_AFTER,
    SEEING,
    TAGS,
    RecordId,
    RecordsOf,
    ServicesOf,
    SubjectId,
    json_of,
    records_of,
)
from ai_psychiatrist.api.jobs import JobResult, failure_of, read_result, until_ended
from ai_psychiatrist.api.limits import release_body_memory
from ai_psychiatrist.api.media_types import accepted_type
from ai_psychiatrist.api.problems import Problem
from ai_psychiatrist.api.record_models import (
    EvidenceItemResult,
    EvidenceResult,
    ListOfQuery,
    RecordPageResult,
    StoredTranscriptResult,
    SubjectResult,
    TurnResult,
    record_result,
)
from ai_psychiatrist.api.requests import (
    RETRY_AFTER_SECONDS,
    TAKES_FILES,
    KeptAssessmentRequest,
    Preferred,
    PreferredOf,
    ScoringOfQuery,
    SubjectOfHeader,
)
from ai_psychiatrist.api.slots import AdmittedRoute
from ai_psychiatrist.api.submission import (
    KeyOfHeader,
    key_of,
    once,
    submit_job,
)
from ai_psychiatrist.domain.access import Principal, Scope
from ai_psychiatrist.domain.acknowledgement import Acknowledgement
from ai_psychiatrist.domain.assessment import Assessment, Certificate
from ai_psychiatrist.domain.errors import InputError, NotFound, RequestConflict
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.domain.review import ReviewRow
from ai_psychiatrist.domain.risk import RiskReport
from ai_psychiatrist.infrastructure.off_loop import WorkerThreads
from ai_psychiatrist.interview.interview_store import ReadInterview, read_all
from ai_psychiatrist.results.fhir.bundle import MEDIA_TYPE, bundle_of, bytes_of
from ai_psychiatrist.results.fhir.source import AS_USUAL, BundleOptions
from ai_psychiatrist.results.page.pages import sheet_html
from ai_psychiatrist.results.page.views import ReaderView, SheetView, sheet_view
from ai_psychiatrist.results.reading import result_of
from ai_psychiatrist.reviews.blindness import give_scores, list_for
from ai_psychiatrist.reviews.danger_readers import readers_by_place, readers_in_interview
from ai_psychiatrist.services.risk.context import with_words
from ai_psychiatrist.store.listing import RecordPage
from ai_psychiatrist.store.person_names import PersonNames
from ai_psychiatrist.store.records import Record
from ai_psychiatrist.store.store import Store
from ai_psychiatrist.store.stores import Records
from ai_psychiatrist.wiring import Services

_JSON: Final = JSONResponse.media_type
_FORMS: Final = (_JSON, MEDIA_TYPE)
"""What a stored assessment can be had as; its own JSON unless something else is asked for."""
RESULT_READERS: Final = WorkerThreads(count=2, seconds=30.0)
"""Who reads whole results, and writes them in other forms."""

making = APIRouter(
    prefix=ASSESSMENTS_PATH,
    tags=TAGS,
    responses=OF_MAKING,
    route_class=AdmittedRoute,
    dependencies=[requires(Scope.ASSESS)],
)
"""Of the route behind which models are asked."""
router = APIRouter(prefix=ASSESSMENTS_PATH, tags=TAGS)
parts = APIRouter(prefix=ASSESSMENTS_PATH, tags=TAGS, responses=PROBLEMS, dependencies=SEEING)
subjects = APIRouter(prefix="/v1/subjects", tags=TAGS, responses=PROBLEMS, dependencies=ERASING)
sheets = APIRouter(prefix=ASSESSMENTS_PATH, tags=TAGS, responses=PROBLEMS, dependencies=SEEING)


@making.post(
    "",
    status_code=201,
    # How far it is, for whoever may ask for assessments and not read them.
    response_model=Assessment | JobResult,
    responses={
        201: {"headers": LOCATION},
        202: {
            "model": JobResult,
            "description": "It is being made: Location is its job.",
            "headers": LOCATION | RETRY_AFTER,
        },
    },
    openapi_extra=TAKES_FILES,
)
async def create_assessment(
    body: KeptAssessmentRequest,
    query: ScoringOfQuery,
    request: Request,
    records: RecordsOf,
    subject: SubjectOfHeader,
    wishes: PreferredOf,
    idempotency_key: KeyOfHeader = None,
) -> Response:
    """Assess one transcript and store the result.

    With the header `Prefer: respond-async` a job makes it, which outlives the connection and the
    server; Location says where to ask for it. With `wait=30` as well the answer is the result if
    that is ready within 30 seconds. With an Idempotency-Key and without `Prefer` a job makes it,
    too, for which the request waits: where its caller leaves or its time is up the job goes on.
    """
    if None not in (body.subject, subject) and str(body.subject).strip() != subject:
        msg = "subject of the body and X-Subject name two study ids: send one of them"
        raise InputError(msg, field="subject")
    body.subject = body.subject or subject
    key = await key_of(idempotency_key, ASSESSMENTS_PATH, [body], query, request)
    async with once(key, records) as answered:
        if answered is not None:
            record_id = str(answered.record_id)
        elif wishes.is_async:
            record_id = await submit_job(body, query, request, key)
        elif body.callback_url is not None:
            msg = "is called for jobs only: send the header Prefer: respond-async, or leave it out"
            raise InputError(msg, field="callback_url")
        elif key is not None:
            record_id = await submit_job(body, query, request, key, is_waited_for=True)
        else:
            record_id = (await assess_and_store(body, query, request)).assessment_id
    if wishes.is_async or (key is not None and answered is None):
        await release_body_memory(request.scope)
        seconds = wishes.wait_seconds if wishes.is_async else math.inf
        await until_ended(record_id, request, records, seconds)
    response = await _answer(record_id, request, wishes)
    if wishes.is_async:
        response.headers["Preference-Applied"] = wishes.applied
    return response


async def _answer(record_id: str, request: Request, wishes: Preferred) -> Response:
    """Return the result where there is one and it is wanted now, else how far the job is."""
    records, principal = records_of(request), principal_of(request)
    job = await read_result(record_id, records, principal, is_sender=True)
    if job.state is RecordState.FAILED and not wishes.is_async:
        raise await _failure(record_id, job.reason, request)
    is_wanted = wishes.wait_seconds or not wishes.is_async
    if job.state is not RecordState.FINISHED or not is_wanted:
        soon = {"Location": f"{JOBS_PATH}/{record_id}", "Retry-After": str(RETRY_AFTER_SECONDS)}
        return json_of(job, 202, soon)
    made = {"Location": f"{ASSESSMENTS_PATH}/{record_id}"}
    if Scope.READ not in principal.scopes:
        return json_of(job, 201, made)
    record = await scored(record_id, records, principal)
    return Response(record.result, 201, made, _JSON)


async def _failure(record_id: str, reason: str | None, request: Request) -> Problem:
    """Return why the job of a waiting request failed; its key is free again."""

    await records_of(request).ask(lambda store: store.idempotency.release(record_id))
    return await failure_of(record_id, str(reason), request)


@router.get("", response_model=RecordPageResult, dependencies=SEEING)
async def list_assessments(
    query: ListOfQuery, records: RecordsOf, principal: PrincipalOf, subject: SubjectOfHeader
) -> Response:
    """List stored assessments, a page at a time; with X-Subject those of one study id."""
    wanted = query.wanted(principal)

    def listed(store: Store) -> RecordPage:
        if subject is None:
            return list_for(store, wanted)
        # No subject has the empty id.
        return list_for(store, replace(wanted, subject_id=store.keys.find(subject) or ""))

    page = await records.ask(listed)
    result = RecordPageResult(
        assessments=tuple(map(record_result, page.records)), next=page.next, total=page.total
    )
    return json_of(result)


@router.get(
    "/{assessment_id}",
    response_model=Assessment,
    responses={
        **PROBLEMS,
        **OF_SCORES,
        200: {"content": {MEDIA_TYPE: {"schema": {"type": "object"}}}},
        406: {"description": "Accept names neither JSON nor FHIR."},
    },
    dependencies=SEEING,
)
async def read_assessment(
    assessment_id: RecordId, request: Request, records: RecordsOf, principal: PrincipalOf
) -> Response:
    """Return a stored result as it was made, or what it says as a FHIR bundle.

    The bundle is the program's, or your own once you have committed your ratings.
    """
    media_type = accepted_type(request, _FORMS)
    record = await scored(assessment_id, records, principal)
    content = record.result
    if media_type == MEDIA_TYPE:
        rows = await records.ask(lambda store: store.reviews.of(assessment_id))
        own_rows = [row for row in rows if row.rater == principal.id]
        study_id, interviews = await records.ask(partial(_with_interviews, assessment_id))
        wanted = BundleOptions(
            made_at=record.summary.created_at, study_id=study_id, interviews=interviews
        )
        content = await asyncio.to_thread(bundle_bytes, record, own_rows, wanted)
    return Response(content, media_type=media_type, headers={"Vary": "Accept"})


@router.delete(
    "/{assessment_id}",
    status_code=204,
    responses=PROBLEMS,
    dependencies=ERASING,
)
async def erase_assessment(assessment_id: RecordId, records: RecordsOf) -> Response:
    """Erase all that is stored of an assessment, its reviews included."""
    await records.ask(lambda store: store.removal.erase(assessment_id))
    return Response(status_code=204)


@parts.get("/{assessment_id}/transcript", response_model=StoredTranscriptResult)
async def read_transcript(
    assessment_id: RecordId, records: RecordsOf, services: ServicesOf
) -> Response:
    """Return the interview: its text, its turns, and the signs of danger in it, never hidden."""
    record = await records.ask(lambda store: store.get(assessment_id))
    _, risk = await account_of(record, services)
    turns = tuple(
        TurnResult(
            turn=turn.index,
            speaker=turn.speaker,
            label=turn.label,
            start=turn.start,
            words_start=turn.words_start,
            end=turn.end,
            seconds=turn.start_seconds,
        )
        for turn in record.transcript.turns
    )
    text = record.transcript.text
    return json_of(
        StoredTranscriptResult(assessment_id=assessment_id, text=text, turns=turns, risk=risk)
    )


@parts.get("/{assessment_id}/evidence", response_model=EvidenceResult, responses=OF_SCORES)
async def read_evidence(
    assessment_id: RecordId, records: RecordsOf, principal: PrincipalOf
) -> Response:
    """Return the quotes that each score stands on, and those that were refused."""
    record = await scored(assessment_id, records, principal)
    names = EvidenceItemResult.model_fields

    def written() -> Response:
        items = (json.loads(record.result)["quantitative"] or {}).get("items") or {}
        shown = {
            key: {name: item[name] for name in names if name in item} for key, item in items.items()
        }
        return JSONResponse({"assessment_id": assessment_id, "items": shown})

    return await RESULT_READERS.run(written)


@parts.get("/{assessment_id}/certificate", response_model=Certificate, responses=OF_SCORES)
async def read_certificate(
    assessment_id: RecordId, records: RecordsOf, services: ServicesOf, principal: PrincipalOf
) -> Response:
    """Return the certificate: the one that the result has, or one that is made of it now."""
    record = await scored(assessment_id, records, principal)

    def make() -> Certificate:
        result = Assessment.model_validate_json(record.result)
        return result.certificate or services.certify(result, record.transcript)

    return json_of(await RESULT_READERS.run(make))


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfPage:
    """What the page of an assessment shows besides its result."""

    study_id: str | None = field(repr=False)
    interviews: tuple[ReadInterview, ...]
    acknowledged: tuple[Acknowledgement, ...]
    interview_readers: Sequence[Sequence[Sequence[ReaderView]]]
    """Of each statement of each interview."""
    names: PersonNames


@sheets.get("/{assessment_id}/html", response_class=HTMLResponse, responses=OF_SCORES)
async def read_assessment_page(
    assessment_id: RecordId, records: RecordsOf, principal: PrincipalOf
) -> HTMLResponse:
    """Return the assessment as one HTML file that needs nothing else, transcript included."""
    record = await scored(assessment_id, records, principal)

    def read(store: Store) -> _OfPage:
        study_id, interviews = _with_interviews(assessment_id, store)
        names = store.person_names()
        return _OfPage(
            study_id=study_id,
            interviews=interviews,
            acknowledged=store.acknowledgements.of(assessment_id),
            interview_readers=tuple(
                readers_in_interview(
                    one.interview, store.interviews.acknowledged(one.interview.id), names
                )
                for one in interviews
            ),
            names=names,
        )

    found = await records.ask(read)

    def page() -> str:
        view = view_of(record)
        shown = replace(
            view,
            study_id=found.study_id,
            interviews=found.interviews,
            readers=readers_by_place(view.result.risk, found.acknowledged, None, found.names),
            interview_readers=found.interview_readers,
        )
        return sheet_html(shown)

    html = await RESULT_READERS.run(page)
    # Shown here it would be under this server's policy, which allows no style inside a file.
    name = f'attachment; filename="assessment-{assessment_id[:8]}.html"'
    return HTMLResponse(html, headers={"Content-Disposition": name})


def _with_interviews(record_id: str, store: Store) -> tuple[str | None, tuple[ReadInterview, ...]]:
    """Return the study id of an assessment, and the interviews about it, the newest first."""
    return store.subject_of(record_id), read_all(store.interviews.about(record_id))


@subjects.get("/{subject_id}", response_model=SubjectResult)
async def read_subject(subject_id: SubjectId, records: RecordsOf) -> Response:
    """Return what a subject was called, and how many assessments of it are stored."""

    def read(store: Store) -> SubjectResult:
        name, count = store.keys.name(subject_id), len(store.lists.of_subject(subject_id))
        if not count:
            raise NotFound("subject_not_found")
        return SubjectResult(subject_id=subject_id, subject=name, assessments=count)

    return json_of(await records.ask(read))


@subjects.delete("/{subject_id}", status_code=204)
async def erase_subject(subject_id: SubjectId, records: RecordsOf) -> Response:
    """Destroy a subject's key: all that is stored of it is unreadable, in copies as well."""
    await records.ask(lambda store: store.removal.erase_subject(subject_id))
    return Response(status_code=204)


async def scored(record_id: str, records: Records, principal: Principal) -> Record:
    """Return a record that has a result.

    Raises `NotFound`, and `RequestConflict` for one without or whose scores are hidden.
    """

    def read(store: Store) -> Record:
        match store.summary(record_id).state:
            case RecordState.WAITING | RecordState.RUNNING:
                raise RequestConflict("assessment_running", known_id=record_id)
            case RecordState.FAILED | RecordState.CANCELLED:
                raise RequestConflict("assessment_failed", known_id=record_id)
            case RecordState.FINISHED:
                give_scores(store, record_id, principal)
                return store.get(record_id)

    return await records.ask(read)


async def account_of(record: Record, services: Services) -> tuple[Assessment | None, RiskReport]:
    """Return the result of a record in any state, and the signs of danger.

    There is no result where none can be read; one without any finished part has the calls and
    failures. The signs are then those that rules find: a person is to read them whether or not the
    models answer.
    """
    if record.result:
        with suppress(InputError):
            result = await RESULT_READERS.run(
                lambda: result_of(record.result, field="assessment_id")
            )
            return result, result.risk
    found = (await services.assessor.read_for_risk(record.transcript)).report
    return None, with_words(record.transcript, found, resources=services.crisis_resources)


def bundle_bytes(
    record: Record, rows: Sequence[ReviewRow] = (), wanted: BundleOptions = AS_USUAL
) -> bytes:
    """Return the program's bundle or, with the rows of a rater, the rater's, on one line."""
    result = result_of(record.result, field="assessment_id")
    sha256 = hashlib.sha256(record.transcript.text.encode()).hexdigest()
    return bytes_of(bundle_of(result, transcript_sha256=sha256, ratings=rows, wanted=wanted))


def view_of(record: Record) -> SheetView:
    """Return what the page of a finished assessment shows."""
    return sheet_view(result_of(record.result, field="assessment_id"), record.transcript)
