"""The routes of a study: how far raters agree, and what to rate next."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Response

from ai_psychiatrist.api.doors_of import PrincipalOf, requires
from ai_psychiatrist.api.queue_models import QueueResult, queue_result
from ai_psychiatrist.api.records_of import RecordsOf
from ai_psychiatrist.api.served import json_of
from ai_psychiatrist.domain.access import Scope
from ai_psychiatrist.reviews.agreed import agreed
from ai_psychiatrist.reviews.agreement_result import Agreement
from ai_psychiatrist.reviews.queued import queued

_MOST_CASES: Final = 100
_PROBLEMS: Final[dict[int | str, dict[str, object]]] = {
    503: {"description": "Stored assessments cannot be read now."},
}

router = APIRouter(prefix="/v1", tags=["reviews"], responses=_PROBLEMS)


@router.get(
    "/agreement",
    response_model=Agreement,
    responses={409: {"description": "What figures need is not installed, or cannot be read."}},
    dependencies=[requires(Scope.READ)],
)
async def read_agreement(records: RecordsOf, principal: PrincipalOf) -> Response:
    """Return how far raters agree with one another and with the program, by item.

    Blind ratings make the main figures. Whoever rates gets figures over the cases that they have
    committed, and how many others are left out for that.
    """
    return json_of(await records.ask(lambda archive: agreed(archive, principal)))


@router.get("/queue", response_model=QueueResult, dependencies=[requires(Scope.REVIEW)])
async def read_queue(
    records: RecordsOf,
    principal: PrincipalOf,
    limit: Annotated[int, Query(ge=1, le=_MOST_CASES, description="Most cases.")] = 10,
) -> Response:
    """Return what to rate next: reviews that are begun, then what a rating tells most of.

    Among these is a random tenth, of which nothing is told here. No score is.
    """
    found = await records.ask(lambda archive: queued(archive, principal, limit=limit))
    return json_of(queue_result(found))
