"""The routes that hold interviews."""

from dataclasses import dataclass
from typing import Annotated, Final, TypeAlias

from fastapi import APIRouter, Depends, Path, Request, Response

from ai_psychiatrist.api.admission import AdmittedRoute
from ai_psychiatrist.api.audit_trail import note_record
from ai_psychiatrist.api.doors_of import PrincipalOf, requires
from ai_psychiatrist.api.given_assessment import assessment_input
from ai_psychiatrist.api.interview_models import InterviewReportResult, InterviewResult
from ai_psychiatrist.api.interview_requests import AnswerRequest, InterviewRequest
from ai_psychiatrist.api.interview_results import interview_report, interview_result
from ai_psychiatrist.api.problems import Refusal, interview_step_failed
from ai_psychiatrist.api.served import ServicesOf, json_of, services_of
from ai_psychiatrist.api.wanted_assessment import assess_wanted, reading_wanted, unfinished
from ai_psychiatrist.assessment.parts import Part
from ai_psychiatrist.domain.access import Scope
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.interview import InterviewState
from ai_psychiatrist.domain.interview_items import AssessmentInput
from ai_psychiatrist.interview.service import InterviewService
from ai_psychiatrist.interview.snapshot import InterviewSnapshot
from ai_psychiatrist.results.assessment import risk_result
from ai_psychiatrist.results.risk_result import RiskResult
from ai_psychiatrist.wiring import Services

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

_PREFIX: Final = "/v1/interviews"

# Whoever holds an interview drives it, and reads it while it goes on.
_DOORS: Final = [requires(Scope.ASSESS)]

router = APIRouter(prefix=_PREFIX, tags=["interviews"], responses=_PROBLEMS, dependencies=_DOORS)
stepping = APIRouter(
    prefix=_PREFIX,
    tags=["interviews"],
    responses=_PROBLEMS,
    route_class=AdmittedRoute,
    dependencies=_DOORS,
)
"""Of the routes behind which a model may be asked."""


async def _service_of(request: Request, principal: PrincipalOf) -> InterviewService:
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
Interviewing: TypeAlias = Annotated[InterviewService, Depends(_service_of)]


@stepping.post("", status_code=201, response_model=InterviewResult)
async def create_interview(
    body: InterviewRequest, request: Request, services: ServicesOf, interviews: Interviewing
) -> Response:
    """Begin an interview; a transcript is assessed first, and its unknown items are asked."""
    start = await _starting_point(body, request, services)
    snapshot = await interviews.create(body.protocol, body.inputs, start.assessment)
    note_record(request, snapshot.id)
    _refuse_failed(snapshot)
    return _result(snapshot, services, status=201, transcript_risk=start.risk)


@stepping.post("/{interview_id}/answers", response_model=InterviewResult)
async def answer_question(
    interview_id: InterviewId, body: AnswerRequest, services: ServicesOf, interviews: Interviewing
) -> Response:
    """Answer the question that waits, and get the next one."""
    snapshot = await interviews.answer(interview_id, body.as_submission())
    _refuse_failed(snapshot)
    return _result(snapshot, services)


@router.get("/{interview_id}", response_model=InterviewResult)
async def read_interview(
    interview_id: InterviewId, services: ServicesOf, interviews: Interviewing
) -> Response:
    """Return an interview as it stands; no model is asked."""
    return _result(await interviews.get(interview_id), services)


@stepping.post("/{interview_id}/retry", response_model=InterviewResult)
async def retry_interview(
    interview_id: InterviewId, services: ServicesOf, interviews: Interviewing
) -> Response:
    """Take the step again that failed or was cut short, once; without one nothing changes."""
    snapshot = await interviews.retry(interview_id)
    _refuse_failed(snapshot)
    return _result(snapshot, services)


@stepping.post("/{interview_id}/report", response_model=InterviewReportResult)
async def make_report(
    interview_id: InterviewId, services: ServicesOf, interviews: Interviewing
) -> Response:
    """Have the report made of an interview that is over: once, and the same every time after."""
    report = await interviews.make_report(interview_id)
    return json_of(interview_report(report, crisis_resources=services.crisis_resources))


@router.get("/{interview_id}/report", response_model=InterviewReportResult)
async def read_report(
    interview_id: InterviewId, services: ServicesOf, interviews: Interviewing
) -> Response:
    """Return the report that was made; no model is asked."""
    report = await interviews.report(interview_id)
    return json_of(interview_report(report, crisis_resources=services.crisis_resources))


@router.delete("/{interview_id}", status_code=204)
async def delete_interview(interview_id: InterviewId, interviews: Interviewing) -> Response:
    """Remove all that is kept of an interview."""
    await interviews.delete(interview_id)
    return Response(status_code=204)


@dataclass(frozen=True, slots=True, kw_only=True)
class _StartingPoint:
    """What is known before the first question."""

    assessment: AssessmentInput | None = None
    risk: RiskResult | None = None
    """Signs of danger in the transcript, where one was assessed."""


async def _starting_point(
    body: InterviewRequest, request: Request, services: Services
) -> _StartingPoint:
    if body.assessment is not None and body.has_transcript:
        msg = "send either an assessment or a transcript, not both"
        raise InputError(msg, field="assessment")
    if body.assessment is not None:
        return _StartingPoint(assessment=body.assessment.as_input())
    if not body.has_transcript:
        return _StartingPoint()
    async with reading_wanted(body, request, services) as wanted:
        assessed = await assess_wanted(
            wanted, request, services, frozenset({Part.SCORES}), await services.scoring()
        )
    scores = assessed.assessment.quantitative
    if scores is None:
        raise unfinished(assessed, services)
    return _StartingPoint(
        assessment=assessment_input(scores),
        risk=risk_result(assessed.assessment, crisis_resources=services.crisis_resources),
    )


def _refuse_failed(snapshot: InterviewSnapshot) -> None:
    if snapshot.state is InterviewState.FAILED:
        raise Refusal(interview_step_failed(snapshot))


def _result(
    snapshot: InterviewSnapshot,
    services: Services,
    *,
    status: int = 200,
    transcript_risk: RiskResult | None = None,
) -> Response:
    resources = services.crisis_resources
    result = interview_result(snapshot, crisis_resources=resources, transcript_risk=transcript_risk)
    return json_of(result, status)
