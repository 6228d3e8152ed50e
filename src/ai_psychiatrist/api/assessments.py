"""The routes that read a transcript: assess it, store the result, or show who is who in it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

from fastapi import APIRouter, Depends, Request, Response
from pydantic import ConfigDict, Field, InstanceOf, StrictStr
from pydantic.json_schema import SkipJsonSchema

from ai_psychiatrist.api import problems
from ai_psychiatrist.api.audit_trail import note_record, record_reading
from ai_psychiatrist.api.authorization import principal_of, requires
from ai_psychiatrist.api.dependencies import (
    OF_MAKING,
    ServicesOf,
    json_of,
    records_of,
    services_of,
)
from ai_psychiatrist.api.interview_requests import InterviewRequest
from ai_psychiatrist.api.limits import holding_text, release_body_memory, seconds_left
from ai_psychiatrist.api.problems import Problem
from ai_psychiatrist.api.requests import (
    IDEMPOTENCY_KEY,
    TAKES_FILES,
    AssessmentRequest,
    FindingsRequest,
    KeptAssessmentRequest,
    RequestBody,
    ScoringInQuery,
    ScoringOfQuery,
    SentFile,
    Speakers,
    SpeakersOfQuery,
    chosen,
)
from ai_psychiatrist.api.risk import keep_risk, risk_field
from ai_psychiatrist.api.slots import AdmittedRoute
from ai_psychiatrist.assessment.assessor import AssessmentOptions
from ai_psychiatrist.assessment.parts import FULL, Part
from ai_psychiatrist.domain.access import Scope
from ai_psychiatrist.domain.assessment import (
    DEFAULT_SCORING,
    Assessment,
    AssessmentStatus,
    ScoringOptions,
)
from ai_psychiatrist.domain.errors import InputError, NotFound, TranscriptTooLong
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.infrastructure.given_files import FileTooLarge
from ai_psychiatrist.infrastructure.logging import begin_assessment
from ai_psychiatrist.infrastructure.off_loop import work_on_text
from ai_psychiatrist.infrastructure.tasks import GracefulShutdown
from ai_psychiatrist.results.one_part import (
    QualitativeResult,
    QuantitativeResult,
    qualitative_result,
    quantitative_result,
)
from ai_psychiatrist.services.reader.second_voice import VoicedRisk
from ai_psychiatrist.services.risk.detector import read_with_risk
from ai_psychiatrist.services.transcripts.preview import Preview, preview
from ai_psychiatrist.services.transcripts.speaker_labels import Roles, given_roles
from ai_psychiatrist.services.transcripts.transcript_store import StoredFile
from ai_psychiatrist.store.records import NewRecord, figures_of
from ai_psychiatrist.store.store import Store
from ai_psychiatrist.wiring import BYTES_PER_CHARACTER, Services


async def refuse_key(request: Request) -> None:
    """Raise `InputError` for an Idempotency-Key, which its caller would take for a promise."""
    if IDEMPOTENCY_KEY in request.headers:
        msg = "Idempotency-Key is for POST /v1/assessments and /v1/batches: leave it out here"
        raise InputError(msg, field=IDEMPOTENCY_KEY.lower())


router = APIRouter(
    tags=["assessment"],
    responses=OF_MAKING,
    route_class=AdmittedRoute,
    dependencies=[requires(Scope.ASSESS), Depends(refuse_key)],
)
previews = APIRouter(
    tags=["assessment"],
    responses={
        413: {"description": "The body or the transcript is too large."},
        422: {"description": "The request names no usable transcript; the body says which field."},
    },
    route_class=AdmittedRoute,
    dependencies=[requires(Scope.ASSESS)],
)


@router.post("/full_pipeline", response_model=Assessment, openapi_extra=TAKES_FILES)
async def assess_transcript(
    body: AssessmentRequest, query: ScoringOfQuery, request: Request
) -> Response:
    """Findings, judgement, item scores and meta-review of one transcript."""
    return json_of(await _assess(body, query, request, FULL))


@router.post("/assess/quantitative", response_model=QuantitativeResult, openapi_extra=TAKES_FILES)
async def assess_quantitative(
    body: AssessmentRequest, query: ScoringOfQuery, request: Request
) -> Response:
    """The eight item scores of one transcript with their evidence."""
    assessment = await _assess(body, query, request, frozenset({Part.SCORES}))
    return json_of(quantitative_result(assessment))


@router.post("/assess/qualitative", response_model=QualitativeResult, openapi_extra=TAKES_FILES)
async def assess_qualitative(
    body: FindingsRequest, query: SpeakersOfQuery, request: Request
) -> Response:
    """The narrative findings of one transcript."""
    if body.ablate:
        msg = "ablate is for scores, and no item is scored here: leave it out, or ask another route"
        raise InputError(msg, field="ablate")
    scoring = ScoringInQuery(**query.model_dump())
    assessment = await _assess(body, scoring, request, frozenset({Part.FINDINGS}))
    return json_of(qualitative_result(assessment))


async def _assess(
    body: AssessmentRequest, query: ScoringInQuery, request: Request, parts: frozenset[Part]
) -> Assessment:
    """Return an assessment, stored where the settings say so; its caller then has seen scores."""
    if not services_of(request).settings.store.assessments:
        async with reading_to_score(body, query, request) as read:
            return await assess_read(read, request, parts, is_certified=query.certificate)
    assessment = await assess_and_store(body, query, request, parts)
    note_record(request, assessment.assessment_id)
    shown = (assessment.assessment_id,)
    principal_id = principal_of(request).id
    await records_of(request).ask(lambda store: store.reviews.note_shown(principal_id, shown))
    return assessment


async def assess_and_store(
    body: AssessmentRequest,
    query: ScoringInQuery,
    request: Request,
    parts: frozenset[Part] = FULL,
) -> Assessment:
    """Assess, store, and return the result.

    Raises `Problem` when nothing finished, and `StoreUnusable` before anything is assessed.
    """
    records = records_of(request)
    subject = body.subject if isinstance(body, KeptAssessmentRequest) else None

    def refuse(store: Store) -> None:
        store.refuse_full()
        store.refuse_taken([subject])

    await records.ask(refuse)
    async with reading_to_score(body, query, request) as read:
        assessment = await assess_read(read, request, parts, is_certified=query.certificate)
    new = NewRecord(
        id=assessment.assessment_id,
        transcript=read.transcript,
        subject=subject,
        result=assessment.model_dump_json().encode(),
        figures=figures_of(assessment),
    )
    await records.ask(lambda store: store.add(new))
    return assessment


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTranscript:
    """The transcript of a request, its signs of danger, and how it is to be scored."""

    participant_id: int | None
    transcript: Transcript
    risk: VoicedRisk
    scoring: ScoringOptions = DEFAULT_SCORING


@asynccontextmanager
async def reading_to_score(
    body: AssessmentRequest, query: ScoringInQuery, request: Request
) -> AsyncIterator[ReadTranscript]:
    """Give the transcript of a request as `reading` does, with the mode to score it in."""
    services = services_of(request)
    mode, ablates = query.mode_for(body), query.ablates_for(body)
    if body.transcript_text is None:
        await services.scoring(mode)
    async with reading(body, request, query.roles) as read:
        # Refused no sooner: a refusal shows the danger that was read.
        yield replace(read, scoring=await services.scoring(mode, ablates=ablates))


@asynccontextmanager
async def reading(
    body: AssessmentRequest | InterviewRequest, request: Request, named: Roles = ()
) -> AsyncIterator[ReadTranscript]:
    """Give the transcript of a request, whose signs of danger are kept with the request.

    Inside the block its characters count against the budget of texts, for which very long ones
    wait. `named`: roles of speakers, in addition to those of the body. Raises `Problem` for a
    transcript that is too long, and `InputError` for one that cannot be used, and unless exactly
    one is given.
    """
    services = services_of(request)
    limit = services.settings.api.max_transcript_chars
    try:
        given = await _content_of(body, request)
    except FileTooLarge:
        raise _too_large(limit) from None
    content = given.content
    _require_length(content, limit)
    field = "transcript_text" if body.participant_id is None else "participant_id"
    roles = (*given_roles(body.speakers or {}, field="speakers"), *named)
    labels = replace(services.settings.transcript.labels, given=roles)
    async with holding_text(request.scope, len(content)):
        read = partial(read_with_risk, name=given.name, field=field, most_characters=limit)
        try:
            transcript, rules = await work_on_text(content, read, content, labels)
        except TranscriptTooLong:
            raise _too_large(limit) from None
        # What was sent is not needed while its assessment goes on.
        del given, content
        body.transcript_text = None
        if isinstance(body, AssessmentRequest):
            body.file = None
        keep_risk(request.scope, rules)
        risk = await services.assessor.second_voice.voiced(transcript, rules)
        keep_risk(request.scope, risk.report)
        yield ReadTranscript(participant_id=body.participant_id, transcript=transcript, risk=risk)


async def _content_of(body: AssessmentRequest | InterviewRequest, request: Request) -> StoredFile:
    file = body.file if isinstance(body, AssessmentRequest) else None
    match (body.participant_id, body.transcript_text, file):
        case (None, None, None):
            msg = "send transcript_text, or the participant_id of a stored transcript"
            raise InputError(msg, field="transcript_text")
        case (int() as participant_id, None, None):
            return await _stored(participant_id, request)
        case (None, str() as text, None):
            return StoredFile(content=text)
        case (None, None, SentFile() as content):
            return StoredFile(content=content, name=content.name)
        case _:
            msg = "send either participant_id or transcript_text, not both"
            raise InputError(msg, field="participant_id")


async def _stored(participant_id: int, request: Request) -> StoredFile:
    """Return a stored transcript; the folder is of one tenant, and each reading leaves a row."""
    services, tenant = services_of(request), principal_of(request).tenant
    settings = services.settings
    if settings.auth.required and tenant != settings.data.transcripts_tenant:
        msg = (
            "no transcripts are stored for the tenant of this key: send transcript_text, or have "
            "its operator set DATA_TRANSCRIPTS_TENANT"
        )
        raise NotFound("participant_not_found", msg)
    file = await services.transcripts.read(participant_id)
    await record_reading(request, participant_id)
    return file


def _require_length(content: str | bytes, limit: int) -> None:
    if len(content) > (limit if isinstance(content, str) else limit * BYTES_PER_CHARACTER):
        raise _too_large(limit)


def _too_large(limit: int) -> Problem:
    return problems.too_large("The transcript", limit, "API_MAX_TRANSCRIPT_CHARS")


async def assess_read(
    read: ReadTranscript, request: Request, parts: frozenset[Part], *, is_certified: bool = False
) -> Assessment:
    """Return the assessment; raises `Problem` when nothing finished."""
    services = services_of(request)
    stopping: GracefulShutdown = request.app.state.stopping
    await release_body_memory(request.scope)
    begin_assessment()
    options = AssessmentOptions(
        participant_id=read.participant_id,
        parts=parts,
        scoring=read.scoring,
        risk=read.risk,
        deadline_seconds=seconds_left(request.scope),
        stopping=stopping,
        certify=services.certify if is_certified else None,
    )
    assessment = await services.assessor.assess(read.transcript, options)
    if assessment.status is not AssessmentStatus.FAILED:
        return assessment
    if stopping.is_begun:
        raise Problem("stopping", more=risk_field(assessment.risk))
    raise problems.nothing_finished(assessment, services.connections.reasons(assessment))


class PreviewRequest(RequestBody):
    """One transcript that is looked at and not assessed."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"transcript_text": "A: How do you sleep?\nB: Badly."}],
            "oneOf": [chosen("transcript_text", ("transcript_text",))],
        }
    )

    transcript_text: StrictStr | None = None
    """The interview: lines that begin with a label such as `A:`, or a file's content."""
    speakers: Speakers | None = None
    """Who is who where the labels do not tell: label → participant, interviewer or other."""
    file: SkipJsonSchema[InstanceOf[SentFile] | None] = Field(default=None, exclude=True)
    """A body that is no JSON but the transcript itself."""


@previews.post(
    "/v1/transcripts/preview",
    operation_id="preview_transcript",
    response_model=Preview,
    openapi_extra=TAKES_FILES,
)
async def preview_transcript(
    body: PreviewRequest, query: SpeakersOfQuery, request: Request, services: ServicesOf
) -> Response:
    """Who is who in a transcript, and how they begin; nothing is assessed or kept."""
    content = body.transcript_text if body.file is None else body.file
    if content is None:
        msg = "send transcript_text, or a file as the body"
        raise InputError(msg, field="transcript_text")
    roles = (*given_roles(body.speakers or {}, field="speakers"), *query.roles)
    name = "" if body.file is None else body.file.name
    async with holding_text(request.scope, len(content)):
        return json_of(await preview_of(content, roles, services, name=name))


async def preview_of(
    content: str | bytes, roles: Roles, services: Services, *, name: str = ""
) -> Preview:
    """Return who is who; raises `Problem` for what is too long, `InputError` for the unusable."""
    limit = services.settings.api.max_transcript_chars
    _require_length(content, limit)
    read = partial(preview, name=name, most_characters=limit)
    return await work_on_text(
        content, read, content, replace(services.settings.transcript.labels, given=roles)
    )
