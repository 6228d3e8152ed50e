"""The transcripts of a batch are read before any of its jobs is stored; a bad one is named."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from fastapi.responses import JSONResponse

from ai_psychiatrist.api.begun_job import new_job
from ai_psychiatrist.api.kept_assessment import Asked
from ai_psychiatrist.api.limits import charge_requests
from ai_psychiatrist.api.problems import Refusal
from ai_psychiatrist.api.requests import KeptAssessmentRequest
from ai_psychiatrist.api.risk import forget_risk
from ai_psychiatrist.api.wanted_assessment import reading_to_score
from ai_psychiatrist.domain.access import Principal
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.reviews.archive.jobs import NewJob

MOST_OF_BATCH: Final = 1_000
_AT_ONCE: Final = 4


async def jobs_of_batch(
    batch_id: str, bodies: Sequence[KeptAssessmentRequest], asked: Asked, principal: Principal
) -> list[NewJob]:
    """Return a job for each request.

    What is wrong with the first bad one is raised, with its place in the name of the field. As
    nothing is begun then, signs of danger in one of the transcripts are not told.
    """
    await asked.records.ask(lambda archive: archive.refuse_full(further=len(bodies)))
    await charge_requests(asked.request, len(bodies) - 1)
    found: list[NewJob] = []
    try:
        for first in range(0, len(bodies), _AT_ONCE):
            reading = (
                _job(place, replace(asked, body=body), batch_id, principal)
                for place, body in enumerate(bodies[first : first + _AT_ONCE], first)
            )
            for one in await asyncio.gather(*reading, return_exceptions=True):
                if isinstance(one, BaseException):
                    raise one
                found.append(one)
    finally:
        forget_risk(asked.request.scope)
    return found


async def _job(place: int, asked: Asked, batch_id: str, principal: Principal) -> NewJob:
    name = f"requests.{place}"
    try:
        async with reading_to_score(
            asked.body, asked.query, asked.request, asked.services
        ) as found:
            return new_job(found, asked, principal, batch_id=batch_id, place=place)
    except InputError as error:
        error.field = f"{name}.{error.field}"
        raise
    except Refusal as refusal:
        raise _naming(name, refusal) from None


def _naming(name: str, refusal: Refusal) -> Refusal:
    """Return a refusal that says which of the requests it is about."""
    response = refusal.response
    said = json.loads(bytes(response.body))
    said.pop("risk", None)
    kept = {key: value for key, value in response.headers.items() if key == "retry-after"}
    return Refusal(
        JSONResponse(
            {**said, "field": name}, response.status_code, kept, media_type=response.media_type
        )
    )
