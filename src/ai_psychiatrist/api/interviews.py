"""The routes that hold interviews."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Final, TypeAlias

from fastapi import APIRouter, Depends, Path, Request, Response

from ai_psychiatrist.access.interview_links import link_address
from ai_psychiatrist.api.assessments import assess_read, reading
from ai_psychiatrist.api.audit_trail import note_record
from ai_psychiatrist.api.authentication import KEY_READERS
from ai_psychiatrist.api.authorization import PrincipalOf, principal_of, requires
from ai_psychiatrist.api.dependencies import ServicesOf, jobs_of, json_of, services_of
from ai_psychiatrist.api.interview_models import (
    BegunInterviewResult,
    InterviewReportResult,
    InterviewResult,
    LinkResult,
    interview_report,
    interview_result,
)
from ai_psychiatrist.api.interview_requests import AnswerRequest, InterviewRequest, assessment_input
from ai_psychiatrist.api.limits import release_body_memory
from ai_psychiatrist.api.paths import mounted_at
from ai_psychiatrist.api.problems import backend_failed, nothing_finished
from ai_psychiatrist.api.slots import AdmittedRoute
from ai_psychiatrist.api.submission import callback_of
from ai_psychiatrist.assessment.parts import TOO_LATE, Part
from ai_psychiatrist.domain.access import Scope
from ai_psychiatrist.domain.errors import InputError, RequestConflict
from ai_psychiatrist.domain.interview import InterviewState
from ai_psychiatrist.domain.interview_items import AssessmentInput
from ai_psychiatrist.domain.risk import RiskReport
from ai_psychiatrist.interview.service import InterviewService
from ai_psychiatrist.interview.snapshot import InterviewSnapshot
from ai_psychiatrist.store.interviews import id_hash

_PROBLEMS: Final[dict[int | str, dict[str, object]]] = {
    400: {"description": "The body is no valid JSON."},
    404: {"description": "There is no interview with this id."},
    409: {"description": "The interview is elsewhere: the code says where."},
    413: {"description": "The body or the transcript is too large."},
    422: {"description": "A field is wrong, or the answer was not offered; the body says which."},
    502: {"description": "The model failed; what was answered is kept."},
    503: {"description": "Too many assessments are under way, or interviews cannot be kept."},
    504: {"description": "The model was too late; what was answered is kept."},
    507: {"description": "As many interviews are kept as may be; none can be begun."},
}

INTERVIEWS_PATH: Final = "/v1/interviews"

# The caller who holds an interview answers in it, and reads it while it goes on.
_REQUIRED: Final = [requires(Scope.ASSESS)]

router = APIRouter(
    prefix=INTERVIEWS_PATH, tags=["interviews"], responses=_PROBLEMS, dependencies=_REQUIRED
)
stepping = APIRouter(
    prefix=INTERVIEWS_PATH,
    tags=["interviews"],
    responses=_PROBLEMS,
    route_class=AdmittedRoute,
    dependencies=_REQUIRED,
)
"""Of the routes behind which a model may be asked."""


async def interviews_of(request: Request, principal: PrincipalOf) -> InterviewService:
    """Return the interviews of the caller's tenant; those of others are not there."""
    return await services_of(request).tenant_interviews.service(principal.tenant)


InterviewId: TypeAlias = Annotated[
    str,
    Path(
        description="The interview_id that beginning the interview gave; keep it secret.",
        json_schema_extra={"pattern": r"^[A-Za-z0-9_-]{32}$"},
    ),
]
"""A pattern to be read: an id that is not written so is no interview's, which is a 404."""
Interviewing: TypeAlias = Annotated[InterviewService, Depends(interviews_of)]


@stepping.post("", status_code=201, response_model=BegunInterviewResult)
async def create_interview(
    body: InterviewRequest, request: Request, interviews: Interviewing
) -> Response:
    """Begin an interview; a transcript is assessed first, and its unknown items are asked."""
    if body.assessment is not None and body.has_transcript:
        msg = "send either an assessment or a transcript, not both"
        raise InputError(msg, field="assessment")
    callback = callback_of(body.callback_url, request)
    start: AssessmentInput | None = None
    risk: RiskReport | None = None
    about: str | None = None
    if body.assessment is not None:
        start, about = body.assessment.as_input(), body.assessment.assessment_id
        body.assessment = None
        await release_body_memory(request.scope)
    elif body.has_transcript:
        start, risk = await _assessed(body, request)
    snapshot = await interviews.create(
        body.protocol, body.inputs, start, callback=callback, about=about, asks_all=body.asks_all
    )
    note_record(request, snapshot.id)
    result = _stepped(snapshot, transcript_risk=risk)
    if not body.has_link:
        return json_of(result, 201)
    link = await make_link(snapshot, request)
    begun = {name: getattr(result, name) for name in InterviewResult.model_fields}
    return json_of(BegunInterviewResult(**begun, link=link), 201)


@stepping.post("/{interview_id}/answers", response_model=InterviewResult)
async def answer_question(
    interview_id: InterviewId,
    body: AnswerRequest,
    request: Request,
    interviews: Interviewing,
) -> Response:
    """Answer the question that waits, and get the next one."""
    snapshot = await interviews.answer(interview_id, body.as_submission())
    send_hold_notice(snapshot, request)
    return json_of(_stepped(snapshot))


@router.get("/{interview_id}", response_model=InterviewResult)
async def read_interview(interview_id: InterviewId, interviews: Interviewing) -> Response:
    """Return an interview as it stands; no model is asked."""
    snapshot = await interviews.get(interview_id)
    return json_of(interview_result(snapshot))


@stepping.post("/{interview_id}/retry", response_model=InterviewResult)
async def retry_interview(
    interview_id: InterviewId, request: Request, interviews: Interviewing
) -> Response:
    """Take the step again that failed or was cut short, once; without one nothing changes."""
    snapshot = await interviews.retry(interview_id)
    send_hold_notice(snapshot, request)
    return json_of(_stepped(snapshot))


@stepping.post("/{interview_id}/report", response_model=InterviewReportResult)
async def make_report(interview_id: InterviewId, interviews: Interviewing) -> Response:
    """Have the report made of an interview that is over: once, and the same every time after."""
    report = await interviews.make_report(interview_id)
    return json_of(interview_report(report))


@router.get("/{interview_id}/report", response_model=InterviewReportResult)
async def read_report(interview_id: InterviewId, interviews: Interviewing) -> Response:
    """Return the report that was made; no model is asked."""
    report = await interviews.report(interview_id)
    return json_of(interview_report(report))


@router.delete("/{interview_id}", status_code=204)
async def delete_interview(interview_id: InterviewId, interviews: Interviewing) -> Response:
    """Delete an interview with all its data."""
    await interviews.delete(interview_id)
    return Response(status_code=204)


@router.post("/{interview_id}/link", status_code=201, response_model=LinkResult)
async def create_link(
    interview_id: InterviewId, request: Request, interviews: Interviewing
) -> Response:
    """Make a link for the person, in the place of the one there was, which opens nothing more."""
    return json_of(await make_link(await interviews.get(interview_id), request), 201)


@router.delete("/{interview_id}/link", status_code=204)
async def revoke_link(
    interview_id: InterviewId, services: ServicesOf, interviews: Interviewing
) -> Response:
    """End the link of an interview, and what was opened with it; without one nothing changes."""
    hashed = id_hash((await interviews.get(interview_id)).id)
    await KEY_READERS.run(lambda: services.interview_links.revoke(hashed))
    return Response(status_code=204)


def send_hold_notice(interview: InterviewSnapshot, request: Request) -> None:
    """Have it sent at once that an interview is held, and not at the next look for what is due."""
    if interview.state is InterviewState.SAFETY_HOLD:
        jobs_of(request).webhooks.wake()


async def make_link(interview: InterviewSnapshot, request: Request) -> LinkResult:
    """Make a link to an interview of the caller's tenant; raises `RequestConflict` once it is over.

    Its address is where others reach the server: `API_PUBLIC_URL`, or as the request named it.
    """
    if interview.state.is_over:
        raise RequestConflict("interview_over")
    services, tenant = services_of(request), principal_of(request).tenant
    hashed, hours = id_hash(interview.id), services.settings.interview.link_hours
    made = await KEY_READERS.run(
        lambda: services.interview_links.create(tenant, hashed, hours=hours)
    )
    here = f"{request.url.scheme}://{request.url.netloc}{mounted_at(request.scope)}"
    address = services.settings.api.public_url or here
    return LinkResult(
        address=link_address(address, made.token),
        expires_at=datetime.fromtimestamp(made.link.expires_at, UTC),
    )


async def _assessed(body: InterviewRequest, request: Request) -> tuple[AssessmentInput, RiskReport]:
    """Return the items and signs of danger of the transcript.

    Raises `Problem` where no item was scored.
    """
    services = services_of(request)
    async with reading(body, request) as read:
        to_score = replace(read, scoring=await services.scoring())
        assessment = await assess_read(to_score, request, frozenset({Part.SCORES}))
    if assessment.quantitative is None:
        raise nothing_finished(assessment, services.connections.reasons(assessment))
    return assessment_input(assessment.quantitative.items), assessment.risk


def _stepped(
    snapshot: InterviewSnapshot, *, transcript_risk: RiskReport | None = None
) -> InterviewResult:
    """Return an interview after a step; raises `Problem` for a step that failed."""
    if snapshot.state is InterviewState.FAILED:
        raise backend_failed(
            "No model gave a usable reply. The answers are stored: POST to the "
            "interview's /retry to try this step again. For a closer look: ai-psychiatrist doctor",
            is_late=snapshot.failure in TOO_LATE,
            more={
                "failure": snapshot.failure,
                "interview_id": snapshot.id,
                "state": snapshot.state,
                "version": snapshot.version,
                "is_resumable": snapshot.is_resumable,
            },
        )
    return interview_result(snapshot, transcript_risk=transcript_risk)
