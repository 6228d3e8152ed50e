"""The routes of reviews: rate an assessment, what to rate next, and how far raters agree."""

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query, Response

from ai_psychiatrist.api.authorization import PrincipalOf, requires
from ai_psychiatrist.api.dependencies import (
    ASSESSMENTS_PATH,
    ERASING,
    OF_SCORES,
    PROBLEMS,
    RATING,
    RecordId,
    RecordsOf,
    Responses,
    json_of,
)
from ai_psychiatrist.api.json_body import BoundedRoute
from ai_psychiatrist.api.review_models import (
    GoldRequest,
    QueuedResult,
    QueueResult,
    RatingsRequest,
    ReviewResult,
    ReviewRowRequest,
    ReviewRowResult,
    row_result,
)
from ai_psychiatrist.domain.access import Principal, Scope
from ai_psychiatrist.domain.review import ReviewRow, Said
from ai_psychiatrist.results.tables import TableFormat, written
from ai_psychiatrist.reviews.adjudication import adjudicate
from ai_psychiatrist.reviews.agreed import agreed
from ai_psychiatrist.reviews.agreement_result import (
    AGREEMENT_COLUMNS,
    Agreement,
    agreement_rows,
)
from ai_psychiatrist.reviews.blindness import visible_rows
from ai_psychiatrist.reviews.queue import queued
from ai_psychiatrist.reviews.ratings import refuse_unfounded
from ai_psychiatrist.store.store import Store
from ai_psychiatrist.store.stores import Records

_MOST_CASES: Final = 100
_CSV: Final = TableFormat.CSV.media_type.partition(";")[0]
_OF_SAYING: Final[Responses] = {
    400: {"description": "The body is no valid JSON."},
    409: {"description": "The ratings are committed already, or not yet: the code says which."},
    422: {"description": "A rating does not fit the interview; the body says which field."},
    507: {"description": "The tenant stores as many bytes as it may, or the disk is full."},
}

router = APIRouter(
    prefix=ASSESSMENTS_PATH + "/{assessment_id}/review",
    tags=["reviews"],
    responses=PROBLEMS,
    route_class=BoundedRoute,
    dependencies=RATING,
)
adjudicating = APIRouter(
    prefix=ASSESSMENTS_PATH + "/{assessment_id}/review",
    tags=["reviews"],
    responses=PROBLEMS | OF_SCORES,
    route_class=BoundedRoute,
    dependencies=ERASING,
)
study = APIRouter(
    prefix="/v1",
    tags=["reviews"],
    responses={503: {"description": "Stored assessments cannot be read now."}},
)


@router.post("", status_code=201, response_model=ReviewResult)
async def begin_review(
    assessment_id: RecordId, records: RecordsOf, principal: PrincipalOf
) -> Response:
    """Begin to rate: from now on no score of this assessment is given until yours are in.

    The phase is `seen` where you were given scores before. Begun again it changes nothing.
    """

    def begin(store: Store) -> ReviewResult:
        store.reviews.begin(assessment_id, principal.id)
        return _review(store, assessment_id, principal)

    return json_of(await records.ask(begin), 201)


@router.get("", response_model=ReviewResult)
async def read_review(
    assessment_id: RecordId, records: RecordsOf, principal: PrincipalOf
) -> Response:
    """Return what you said of this assessment, and after your ratings what others said."""
    return json_of(await records.ask(lambda store: _review(store, assessment_id, principal)))


@router.post("/ratings", status_code=201, response_model=ReviewResult, responses=_OF_SAYING)
async def commit_ratings(
    assessment_id: RecordId, body: RatingsRequest, records: RecordsOf, principal: PrincipalOf
) -> Response:
    """Commit your ratings of all eight items, once; then the program's scores are given."""
    await _say(body.as_said(), assessment_id, records, principal)
    return json_of(await records.ask(lambda store: _review(store, assessment_id, principal)), 201)


@router.post("/rows", status_code=201, response_model=ReviewRowResult, responses=_OF_SAYING)
async def add_row(
    assessment_id: RecordId, body: ReviewRowRequest, records: RecordsOf, principal: PrincipalOf
) -> Response:
    """Say something of the program's work: of a quote, of words it missed, or of a score."""
    row = await _say(body.as_said(), assessment_id, records, principal)
    return json_of(row_result(row, principal.id), 201)


@adjudicating.post("/gold", status_code=201, response_model=ReviewRowResult, responses=_OF_SAYING)
async def add_gold_scores(
    assessment_id: RecordId, body: GoldRequest, records: RecordsOf, principal: PrincipalOf
) -> Response:
    """Decide the gold scores where raters differ, with reasons; a correction is another row.

    Items that all raters scored alike may be left out. You have seen the scores from then on.
    """
    decided = body.decided()
    row = await records.ask(lambda store: adjudicate(store, assessment_id, principal, decided))
    return json_of(row_result(row, principal.id), 201)


async def _say(said: Said, assessment_id: str, records: Records, principal: Principal) -> ReviewRow:
    def say(store: Store) -> ReviewRow:
        refuse_unfounded(said, store.get(assessment_id))
        return store.reviews.append(assessment_id, principal.id, said)

    return await records.ask(say)


def _review(store: Store, assessment_id: str, principal: Principal) -> ReviewResult:
    phase = store.reviews.standing(assessment_id, principal.id)
    rows = visible_rows(store, assessment_id, principal.id)
    return ReviewResult(
        phase=phase,
        begun=store.reviews.is_begun(assessment_id, principal.id),
        rows=tuple(row_result(row, principal.id) for row in rows),
    )


@study.get(
    "/agreement",
    response_model=Agreement,
    responses={
        200: {"content": {_CSV: {"schema": {"type": "string"}}}},
        409: {"description": "What figures need is not installed, or cannot be read."},
    },
    dependencies=[requires(Scope.READ)],
)
async def read_agreement(
    records: RecordsOf,
    principal: PrincipalOf,
    format: Annotated[  # noqa: A002  the name in the query
        Literal["json", "csv"], Query(description="JSON, or a table with a row for each figure.")
    ] = "json",
) -> Response:
    """Return how far raters agree with one another and with the program, by item.

    Blind ratings make the main figures. Whoever rates gets figures over the cases that they have
    committed, and how many others are left out for that. The table names raters to admins.
    """
    found, names = await records.ask(lambda store: (agreed(store, principal), store.person_names()))
    if format == "json":
        return json_of(found.figures)
    raters = found.names if Scope.ADMIN in principal.scopes else {}
    rows = agreement_rows(found.figures, raters, names)
    return Response(
        b"".join(written(rows, AGREEMENT_COLUMNS, TableFormat.CSV)),
        media_type=TableFormat.CSV.media_type,
        headers={"Content-Disposition": 'attachment; filename="agreement.csv"'},
    )


@study.get("/queue", response_model=QueueResult, dependencies=[requires(Scope.REVIEW)])
async def read_queue(
    records: RecordsOf,
    principal: PrincipalOf,
    limit: Annotated[int, Query(ge=1, le=_MOST_CASES, description="Most cases.")] = 10,
) -> Response:
    """Return what to rate next: reviews that are begun, then what a rating tells most of.

    Among these is a random tenth, which is not marked here. No score is shown.
    """
    found = await records.ask(lambda store: queued(store, principal, limit=limit))
    cases = tuple(
        QueuedResult(
            assessment_id=one.summary.id,
            created_at=one.summary.created_at,
            subject_id=one.summary.subject_id,
            danger=one.summary.figures.danger,
            raters=one.summary.raters,
            phase=one.phase,
        )
        for one in found.cases
    )
    return json_of(QueueResult(cases=cases, waiting=found.waiting))
