"""Assess the transcript that a request names or brings."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

from fastapi import Request

from ai_psychiatrist.api import problems
from ai_psychiatrist.api.body_limit import give_body_room_back
from ai_psychiatrist.api.interview_requests import InterviewRequest
from ai_psychiatrist.api.limits import charge_characters
from ai_psychiatrist.api.problems import Refusal
from ai_psychiatrist.api.query_options import ScoringInQuery
from ai_psychiatrist.api.request_deadline import seconds_left
from ai_psychiatrist.api.requests import AssessmentRequest
from ai_psychiatrist.api.risk import keep_risk
from ai_psychiatrist.api.sent_file import SentFile
from ai_psychiatrist.api.shared_room import SharedRoom
from ai_psychiatrist.assessment.parts import OnFinished, Part
from ai_psychiatrist.domain.assessment import Assessment, AssessmentStatus, WantedScoring
from ai_psychiatrist.domain.errors import InputError, TranscriptTooLong
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.infrastructure.given_files import FileTooLarge
from ai_psychiatrist.infrastructure.log_ids import begin_assessment
from ai_psychiatrist.infrastructure.stopping import Stopping
from ai_psychiatrist.infrastructure.worker_processes import work_on_text
from ai_psychiatrist.results.risk import risk_field
from ai_psychiatrist.services.reader.second_voice import VoicedRisk
from ai_psychiatrist.services.risk.detector import read_with_risk
from ai_psychiatrist.services.transcripts.speaker_labels import Roles, given_roles
from ai_psychiatrist.services.transcripts.transcript_store import StoredFile
from ai_psychiatrist.wiring import BYTES_PER_CHARACTER, Services


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedAssessment:
    """A transcript that was read and is to be assessed."""

    participant_id: int | None
    transcript: Transcript
    risk: VoicedRisk


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessed:
    """An assessment and the id that its log lines carry."""

    id: str
    assessment: Assessment


@asynccontextmanager
async def reading_wanted(
    body: AssessmentRequest | InterviewRequest,
    request: Request,
    services: Services,
    named: Roles = (),
) -> AsyncIterator[WantedAssessment]:
    """Give the transcript of a request, whose signs of danger are kept with the request.

    Inside the block it counts as worked on; very long ones wait for one another. `named`: who is
    who, beside what the body says. Raises `Refusal`
    for a transcript that is too long, and `InputError` for one that cannot be used, and unless
    exactly one is given.
    """
    limit = services.settings.api.max_transcript_chars
    try:
        given = await _given(body, services)
    except FileTooLarge:
        raise too_large(limit) from None
    content = given.content
    if len(content) > (limit if isinstance(content, str) else limit * BYTES_PER_CHARACTER):
        raise too_large(limit)
    field = "transcript_text" if body.participant_id is None else "participant_id"
    labels = replace(services.labels, given=(*_roles(body), *named))
    room: SharedRoom = request.app.state.text_room
    async with room.hold(len(content)):
        read = partial(read_with_risk, name=given.name, field=field, most_characters=limit)
        try:
            transcript, rules = await work_on_text(content, read, content, labels)
        except TranscriptTooLong:
            raise too_large(limit) from None
        del given, content
        await _let_go_of_file(body, request)
        keep_risk(request.scope, rules)
        risk = await services.pipeline.second_voice.voiced(transcript, rules)
        keep_risk(request.scope, risk.report)
        await charge_characters(request, len(transcript.text))
        yield WantedAssessment(participant_id=body.participant_id, transcript=transcript, risk=risk)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorable:
    """A transcript that was read, and how its items are to be scored."""

    wanted: WantedAssessment
    scoring: WantedScoring


@asynccontextmanager
async def reading_to_score(
    body: AssessmentRequest, query: ScoringInQuery, request: Request, services: Services
) -> AsyncIterator[Scorable]:
    """Give the transcript of a request as `reading_wanted` does, and the mode to score it in."""
    mode, ablates = query.mode_beside(body), query.ablates_beside(body)
    if body.transcript_text is None:
        await services.scoring(mode)
    async with reading_wanted(body, request, services, query.roles) as wanted:
        # Refused no sooner: a refusal tells of the danger that was read.
        scoring = await services.scoring(mode, ablates=ablates)
        yield Scorable(wanted=wanted, scoring=scoring)


async def _let_go_of_file(body: AssessmentRequest | InterviewRequest, request: Request) -> None:
    """Keep no file that was read while its assessment goes on."""
    if isinstance(body, AssessmentRequest) and body.file is not None:
        body.file = None
        await give_body_room_back(request.scope)


def too_large(limit: int) -> Refusal:
    """Return the refusal of a transcript that is longer than the settings allow."""
    return Refusal(problems.too_large("The transcript", limit, "API_MAX_TRANSCRIPT_CHARS"))


def _roles(body: AssessmentRequest | InterviewRequest) -> Roles:
    return given_roles(body.speakers or {}, field="speakers")


async def assess_wanted(
    wanted: WantedAssessment,
    request: Request,
    services: Services,
    parts: frozenset[Part],
    scoring: WantedScoring,
    *,
    begun_as: str | None = None,
    on_finished: OnFinished = lambda _: None,
) -> Assessed:
    """Return the assessment; raises `Refusal` when nothing finished.

    `begun_as`: its id, where it has one already. `on_finished` is told of each part as it is done.
    """
    assessment_id = begun_as or begin_assessment()
    stopping: Stopping = request.app.state.stopping
    assessment = await services.pipeline.assess(
        wanted.transcript,
        risk=wanted.risk,
        participant_id=wanted.participant_id,
        parts=parts,
        scoring=scoring,
        deadline_seconds=seconds_left(request.scope),
        stopping=stopping,
        on_finished=on_finished,
    )
    assessed = Assessed(id=assessment_id, assessment=assessment)
    if assessment.status is AssessmentStatus.FAILED and stopping.is_begun:
        raise Refusal(problems.stopping(risk_field(assessment.risk)))
    if assessment.status is AssessmentStatus.FAILED:
        raise unfinished(assessed, services)
    return assessed


def unfinished(assessed: Assessed, services: Services) -> Refusal:
    """Return the problem of an assessment that has nothing of what is wanted."""
    causes = services.connections.reasons(assessed.assessment)
    return Refusal(
        problems.nothing_finished(assessed.assessment, causes, assessment_id=assessed.id)
    )


async def _given(body: AssessmentRequest | InterviewRequest, services: Services) -> StoredFile:
    file = body.file if isinstance(body, AssessmentRequest) else None
    sources = (body.participant_id, body.transcript_text, file)
    match sources:
        case (None, None, None):
            msg = "send transcript_text, or the participant_id of a stored transcript"
            raise InputError(msg, field="transcript_text")
        case (int() as participant_id, None, None):
            return await services.transcripts.read(participant_id)
        case (None, str() as text, None):
            return StoredFile(content=text)
        case (None, None, SentFile() as content):
            return StoredFile(content=content, name=content.name)
        case _:
            msg = "send either participant_id or transcript_text, not both"
            raise InputError(msg, field="participant_id")
