"""All of an assessment as it is stored."""

import asyncio

from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.proof.certificate import certified
from ai_psychiatrist.results.assessment import full_result
from ai_psychiatrist.results.full_result import FullResult
from ai_psychiatrist.wiring.services import Services


async def whole_result(
    assessment: Assessment, assessment_id: str, services: Services, *, is_certified: bool = False
) -> FullResult:
    """Return all of an assessment, with its certificate where that is asked for."""
    result = full_result(assessment, about=services.about(assessment_id))
    if not is_certified:
        return result
    return await asyncio.to_thread(certified, result, assessment.transcript, services.signer)
