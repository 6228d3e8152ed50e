"""The routes that assess a transcript."""

import asyncio
import uuid
from collections.abc import Callable
from typing import Final, TypeAlias

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from ai_psychiatrist.api import problems
from ai_psychiatrist.api.admission import Admission, ServerBusy
from ai_psychiatrist.api.edge import while_connected
from ai_psychiatrist.api.requests import AssessmentRequest
from ai_psychiatrist.api.result_models import (
    Envelope,
    FullResult,
    QualitativeResult,
    QuantitativeResult,
)
from ai_psychiatrist.api.results import (
    About,
    full_result,
    qualitative_result,
    quantitative_result,
)
from ai_psychiatrist.api.risk import keep_risk
from ai_psychiatrist.api.served import ServicesOf
from ai_psychiatrist.api.wanted_transcript import read_transcript, wanted_text
from ai_psychiatrist.assessment.pipeline import FULL, Part
from ai_psychiatrist.domain.assessment import Assessment, AssessmentStatus
from ai_psychiatrist.domain.errors import RequestConflict
from ai_psychiatrist.wiring import Services

_NO_FEW_SHOT: Final = "few-shot scoring is not available yet; use mode zero_shot"
_PROBLEMS: Final[dict[int | str, dict[str, object]]] = {
    400: {"description": "The body is no valid JSON."},
    404: {"description": "No transcript is stored for this participant."},
    409: {"description": "Few-shot scoring is not available yet."},
    413: {"description": "The body or the transcript is too large."},
    422: {"description": "The request names no usable transcript; the body says which field."},
    502: {"description": "No part finished, because the model backend failed."},
    503: {"description": "Too many assessments are under way; see Retry-After."},
    504: {"description": "No part finished before the deadline."},
}

AsResult: TypeAlias = Callable[..., Envelope]

router = APIRouter(tags=["assessment"])


@router.post("/full_pipeline", response_model=FullResult, responses=_PROBLEMS)
async def full_pipeline(
    body: AssessmentRequest, request: Request, services: ServicesOf
) -> Response:
    """Findings, judgement, item scores and meta-review of one transcript."""
    return await _assess(body, request, services, FULL, full_result)


@router.post("/assess/quantitative", response_model=QuantitativeResult, responses=_PROBLEMS)
async def assess_quantitative(
    body: AssessmentRequest, request: Request, services: ServicesOf
) -> Response:
    """The eight item scores of one transcript with their evidence."""
    return await _assess(body, request, services, frozenset({Part.SCORES}), quantitative_result)


@router.post("/assess/qualitative", response_model=QualitativeResult, responses=_PROBLEMS)
async def assess_qualitative(
    body: AssessmentRequest, request: Request, services: ServicesOf
) -> Response:
    """The narrative findings of one transcript."""
    return await _assess(body, request, services, frozenset({Part.FINDINGS}), qualitative_result)


async def _assess(
    body: AssessmentRequest,
    request: Request,
    services: Services,
    parts: frozenset[Part],
    as_result: AsResult,
) -> Response:
    settings = services.settings
    few_shot = body.is_few_shot
    is_few_shot = settings.features.enable_few_shot if few_shot is None else few_shot
    if is_few_shot and body.transcript_text is None:
        raise RequestConflict(_NO_FEW_SHOT, field="mode")
    text = await wanted_text(body.participant_id, body.transcript_text, services)
    limit = settings.api.max_transcript_chars
    if len(text) > limit:
        return problems.too_large("The transcript", limit, "API_MAX_TRANSCRIPT_CHARS")
    transcript, risk = await asyncio.to_thread(read_transcript, text, services)
    keep_risk(request.scope, risk)
    if is_few_shot:
        raise RequestConflict(_NO_FEW_SHOT, field="mode")

    async def work() -> Response:
        assessment = await services.pipeline.assess(
            transcript,
            risk=risk,
            participant_id=body.participant_id,
            parts=parts,
            deadline_seconds=settings.api.request_timeout_seconds,
        )
        return _response(assessment, services, as_result)

    admission: Admission = request.app.state.admission
    try:
        with admission.room():
            return await while_connected(request, work)
    except ServerBusy:
        return problems.busy(risk)


def _response(assessment: Assessment, services: Services, as_result: AsResult) -> Response:
    if assessment.status is AssessmentStatus.FAILED:
        causes = services.connections.causes(assessment.attempts)
        return problems.nothing_finished(assessment, causes)
    about = About(
        assessment_id=str(uuid.uuid4()),
        chains=services.agent_models,
        crisis_resources=services.settings.risk.crisis_resources,
    )
    result = as_result(assessment, about=about)
    return Response(result.model_dump_json(), media_type=JSONResponse.media_type)
