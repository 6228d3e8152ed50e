"""The routes that assess a transcript."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Request, Response
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
from ai_psychiatrist.api.results import full_result, qualitative_result, quantitative_result
from ai_psychiatrist.domain.assessment import AssessmentStatus
from ai_psychiatrist.domain.errors import InputError, RequestConflict
from ai_psychiatrist.domain.transcript import Transcript, parse_transcript
from ai_psychiatrist.pipeline.assess import FULL, Part
from ai_psychiatrist.wiring import Services

_RETRY_AFTER_SECONDS: Final = 5
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

router = APIRouter(tags=["assessment"])


def services_of(request: Request) -> Services:
    """Return the services that the app was opened with."""
    services: Services = request.app.state.services
    return services


ServicesOf = Annotated[Services, Depends(services_of)]


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
    as_result: Callable[..., Envelope],
) -> Response:
    settings = services.settings
    few_shot = body.is_few_shot
    if few_shot or (few_shot is None and settings.features.enable_few_shot):
        msg = "few-shot scoring is not available yet; use mode zero_shot"
        raise RequestConflict(msg, field="mode")
    text = await _text(body, services)
    limit = settings.api.max_transcript_chars
    if len(text) > limit:
        return problems.too_large("The transcript", limit, "API_MAX_TRANSCRIPT_CHARS")
    transcript = await asyncio.to_thread(parse_transcript, text, services.labels)
    admission: Admission = request.app.state.admission
    try:
        with admission.room():
            return await while_connected(
                request, _work(body.participant_id, services, transcript, parts, as_result)
            )
    except ServerBusy:
        return problems.busy(_RETRY_AFTER_SECONDS)


def _work(
    participant_id: int | None,
    services: Services,
    transcript: Transcript,
    parts: frozenset[Part],
    as_result: Callable[..., Envelope],
) -> Callable[[], Awaitable[Response]]:
    async def work() -> Response:
        assessment = await services.pipeline.assess(
            transcript,
            participant_id=participant_id,
            parts=parts,
            deadline_seconds=services.settings.api.request_timeout_seconds,
        )
        if assessment.status is AssessmentStatus.FAILED:
            return problems.nothing_finished(assessment)
        result = as_result(
            assessment, assessment_id=str(uuid.uuid4()), chains=services.agent_models
        )
        return Response(result.model_dump_json(), media_type=JSONResponse.media_type)

    return work


async def _text(body: AssessmentRequest, services: Services) -> str:
    match body.participant_id, body.transcript_text:
        case None, None:
            msg = "send transcript_text, or the participant_id of a stored transcript"
            raise InputError(msg, field="transcript_text")
        case int(participant_id), None:
            return await asyncio.to_thread(services.transcripts.read, participant_id)
        case None, str(text):
            return text
        case _:
            msg = "send either participant_id or transcript_text, not both"
            raise InputError(msg, field="participant_id")
