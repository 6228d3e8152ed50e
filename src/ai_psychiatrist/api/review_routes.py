"""The routes by which raters judge an assessment: blind first, then what the program found."""

from typing import Final

from fastapi import APIRouter, Response

from ai_psychiatrist.api.bounded_route import BoundedRoute
from ai_psychiatrist.api.doors_of import PrincipalOf
from ai_psychiatrist.api.record_routes import PREFIX, PROBLEMS, RATING, Problems
from ai_psychiatrist.api.records_of import RecordId, RecordsOf
from ai_psychiatrist.api.review_models import ReviewResult, ReviewRowResult, row_result
from ai_psychiatrist.api.review_requests import RatingsRequest, ReviewRowRequest
from ai_psychiatrist.api.served import json_of
from ai_psychiatrist.domain.access import Principal
from ai_psychiatrist.domain.review import ReviewRow, Said
from ai_psychiatrist.reviews.archive.archive import Archive
from ai_psychiatrist.reviews.archives import Records
from ai_psychiatrist.reviews.blindness import visible_rows
from ai_psychiatrist.reviews.ratings import refuse_unfounded

_OF_SAYING: Final[Problems] = {
    400: {"description": "The body is no valid JSON."},
    409: {"description": "The ratings are committed already, or not yet: the code says which."},
    422: {"description": "A rating does not fit the interview; the body says which field."},
}

router = APIRouter(
    prefix=PREFIX + "/{assessment_id}/review",
    tags=["reviews"],
    responses=PROBLEMS,
    route_class=BoundedRoute,
    dependencies=RATING,
)


@router.post("", status_code=201, response_model=ReviewResult)
async def begin_review(
    assessment_id: RecordId, records: RecordsOf, principal: PrincipalOf
) -> Response:
    """Begin to rate: from now on no score of this assessment is given until yours are in.

    The phase is `seen` where you were given scores before. Begun again it changes nothing.
    """

    def begin(archive: Archive) -> ReviewResult:
        archive.reviews.begin(assessment_id, principal.id)
        return _review(archive, assessment_id, principal)

    return json_of(await records.ask(begin), 201)


@router.get("", response_model=ReviewResult)
async def read_review(
    assessment_id: RecordId, records: RecordsOf, principal: PrincipalOf
) -> Response:
    """Return what you said of this assessment, and after your ratings what others said."""
    return json_of(await records.ask(lambda archive: _review(archive, assessment_id, principal)))


@router.post("/ratings", status_code=201, response_model=ReviewResult, responses=_OF_SAYING)
async def commit_ratings(
    assessment_id: RecordId, body: RatingsRequest, records: RecordsOf, principal: PrincipalOf
) -> Response:
    """Commit your ratings of all eight items, once; then the program's scores are given."""
    await _say(body.as_said(), assessment_id, records, principal)
    return json_of(
        await records.ask(lambda archive: _review(archive, assessment_id, principal)), 201
    )


@router.post("/rows", status_code=201, response_model=ReviewRowResult, responses=_OF_SAYING)
async def add_row(
    assessment_id: RecordId, body: ReviewRowRequest, records: RecordsOf, principal: PrincipalOf
) -> Response:
    """Say something of the program's work: of a quote, of words it missed, or of a score."""
    row = await _say(body.as_said(), assessment_id, records, principal)
    return json_of(row_result(row, principal.id), 201)


async def _say(said: Said, assessment_id: str, records: Records, principal: Principal) -> ReviewRow:
    def say(archive: Archive) -> ReviewRow:
        refuse_unfounded(said, archive.get(assessment_id))
        return archive.reviews.append(assessment_id, principal.id, said)

    return await records.ask(say)


def _review(archive: Archive, assessment_id: str, principal: Principal) -> ReviewResult:
    phase = archive.reviews.standing(assessment_id, principal.id)
    rows = visible_rows(archive, assessment_id, principal.id)
    return ReviewResult(
        phase=phase,
        begun=archive.reviews.is_begun(assessment_id, principal.id),
        rows=tuple(row_result(row, principal.id) for row in rows),
    )
