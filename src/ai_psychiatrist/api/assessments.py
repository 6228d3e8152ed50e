"""The routes that assess a transcript."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from fastapi import APIRouter, Request, Response

from ai_psychiatrist.api.admission import AdmittedRoute
from ai_psychiatrist.api.doors_of import requires
from ai_psychiatrist.api.kept_assessment import keep_where_set, refuse_without_room
from ai_psychiatrist.api.query_options import ScoringInQuery, ScoringOfQuery, SpeakersOfQuery
from ai_psychiatrist.api.record_routes import OF_MAKING
from ai_psychiatrist.api.requests import AssessmentRequest, FindingsRequest
from ai_psychiatrist.api.sent_file import FILE_BODY
from ai_psychiatrist.api.served import ServicesOf, json_of
from ai_psychiatrist.api.wanted_assessment import assess_wanted, reading_to_score
from ai_psychiatrist.assessment.parts import FULL, Part
from ai_psychiatrist.domain.access import Scope
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.proof.certificate import certified
from ai_psychiatrist.results.assessment import (
    full_result,
    qualitative_result,
    quantitative_result,
)
from ai_psychiatrist.results.full_result import FullResult
from ai_psychiatrist.results.models import Envelope, QualitativeResult, QuantitativeResult
from ai_psychiatrist.wiring import Services

_TAKES_FILES: Final = {"requestBody": {"content": FILE_BODY}}
AsResult: TypeAlias = Callable[..., Envelope]

router = APIRouter(
    tags=["assessment"],
    responses=OF_MAKING,
    route_class=AdmittedRoute,
    dependencies=[requires(Scope.ASSESS)],
)


@router.post("/full_pipeline", response_model=FullResult, openapi_extra=_TAKES_FILES)
async def assess_transcript(
    body: AssessmentRequest, query: ScoringOfQuery, request: Request, services: ServicesOf
) -> Response:
    """Findings, judgement, item scores and meta-review of one transcript."""
    return await _assess(_Given(body, query), request, services, FULL, full_result)


@router.post("/assess/quantitative", response_model=QuantitativeResult, openapi_extra=_TAKES_FILES)
async def assess_quantitative(
    body: AssessmentRequest, query: ScoringOfQuery, request: Request, services: ServicesOf
) -> Response:
    """The eight item scores of one transcript with their evidence."""
    parts = frozenset({Part.SCORES})
    return await _assess(_Given(body, query), request, services, parts, quantitative_result)


@router.post("/assess/qualitative", response_model=QualitativeResult, openapi_extra=_TAKES_FILES)
async def assess_qualitative(
    body: FindingsRequest, query: SpeakersOfQuery, request: Request, services: ServicesOf
) -> Response:
    """The narrative findings of one transcript."""
    if body.ablate:
        msg = "ablate is for scores, and no item is scored here: leave it out, or ask another route"
        raise InputError(msg, field="ablate")
    given = _Given(body, ScoringInQuery(**query.model_dump()))
    parts = frozenset({Part.FINDINGS})
    return await _assess(given, request, services, parts, qualitative_result)


@dataclass(frozen=True, slots=True)
class _Given:
    body: AssessmentRequest
    query: ScoringInQuery


async def _assess(
    given: _Given,
    request: Request,
    services: Services,
    parts: frozenset[Part],
    as_result: AsResult,
) -> Response:
    body, query = given.body, given.query
    await refuse_without_room(request, services)
    async with reading_to_score(body, query, request, services) as found:
        assessed = await assess_wanted(found.wanted, request, services, parts, found.scoring)
    await keep_where_set(assessed, request, services)
    result = as_result(assessed.assessment, about=services.about(assessed.id))
    if query.certificate:
        transcript = assessed.assessment.transcript
        result = await asyncio.to_thread(certified, result, transcript, services.signer)
    return json_of(result)
