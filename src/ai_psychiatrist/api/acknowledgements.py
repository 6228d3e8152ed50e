"""The routes that say which statements of danger a person has read."""

from datetime import datetime
from typing import Annotated, Final

from fastapi import APIRouter, Response
from pydantic import ConfigDict, Field

from ai_psychiatrist.api.authorization import PrincipalOf
from ai_psychiatrist.api.dependencies import (
    ASSESSMENTS_PATH,
    PROBLEMS,
    SEEING,
    TAGS,
    RecordId,
    RecordsOf,
    ServicesOf,
    json_of,
)
from ai_psychiatrist.api.json_body import BoundedRoute
from ai_psychiatrist.api.records import account_of
from ai_psychiatrist.api.requests import RequestBody
from ai_psychiatrist.api.review_models import SpanRequest
from ai_psychiatrist.domain.access import Principal
from ai_psychiatrist.domain.acknowledgement import Acknowledgement, Statement
from ai_psychiatrist.domain.risk import MOST_SIGNALS, RiskKind, RiskLevel, RiskReport
from ai_psychiatrist.results.result import Result
from ai_psychiatrist.reviews.acknowledging import MOST_NOTE, acknowledge, readers_of, unread_count
from ai_psychiatrist.store.store import Store
from ai_psychiatrist.store.stores import Records
from ai_psychiatrist.wiring import Services

router = APIRouter(
    prefix=ASSESSMENTS_PATH + "/{assessment_id}/acknowledgements",
    tags=TAGS,
    responses=PROBLEMS,
    route_class=BoundedRoute,
    dependencies=SEEING,
)
_OF_CONFIRMING: Final[dict[int | str, dict[str, object]]] = {
    400: {"description": "The body is no valid JSON."},
    409: {"description": "The assessment is still being made, or cannot be read."},
    422: {"description": "A statement is none of those to be read now, or there is none."},
    507: {"description": "The tenant stores as many bytes as it may, or the disk is full."},
}


class AcknowledgementRequest(RequestBody):
    """Statements of danger that you have read."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"note": "Called at once; safe at home."},
                {"statements": [{"start": 120, "end": 141}]},
            ]
        }
    )

    statements: (
        Annotated[
            tuple[SpanRequest, ...], Field(min_length=1, max_length=MOST_SIGNALS, fail_fast=True)
        ]
        | None
    ) = None
    """Each by its place, as `risk` of the transcript has it; left out: all to be read now."""
    note: Annotated[str, Field(max_length=MOST_NOTE)] = ""
    """What you did about it, for others who see the assessment."""


class ReaderResult(Result):
    """That one person has read a statement."""

    number: int
    """The same for all statements that were confirmed at once; rises within the assessment."""
    reader: str
    """Id of whoever has read it."""
    mine: bool
    """Whether that was you."""
    at: datetime
    """When it was confirmed."""
    note: str
    """What they noted; may be empty."""


class ToReadResult(Result):
    """A statement of danger that is to be read now."""

    start: int
    """First character, in code points of the transcript."""
    end: int
    """The character after the last."""
    turn: int
    """From 0."""
    kind: RiskKind
    """What of the danger is spoken of."""
    level: RiskLevel
    """How soon a person should look."""
    read: tuple[ReaderResult, ...]
    """By whom, the first one first; empty while nobody has confirmed it."""


class AcknowledgementsResult(Result):
    """Which statements of danger are to be read now, and who has read them."""

    assessment_id: str
    """Whose statements they are."""
    unread: int
    """How many nobody has confirmed to have read."""
    statements: tuple[ToReadResult, ...]
    """In the order of the transcript."""


@router.get("", response_model=AcknowledgementsResult)
async def read_acknowledgements(
    assessment_id: RecordId, records: RecordsOf, services: ServicesOf, principal: PrincipalOf
) -> Response:
    """Return the statements of danger that are to be read now, and who has read each."""
    risk = await danger_of(assessment_id, records, services)
    rows = await records.ask(lambda store: store.acknowledgements.of(assessment_id))
    return json_of(_result(assessment_id, risk, rows, principal))


@router.post("", status_code=201, response_model=AcknowledgementsResult, responses=_OF_CONFIRMING)
async def add_acknowledgement(
    assessment_id: RecordId,
    body: AcknowledgementRequest,
    records: RecordsOf,
    services: ServicesOf,
    principal: PrincipalOf,
) -> Response:
    """Confirm that you have read statements of danger; nothing of it is changed or removed later.

    It tells no score, so that you may still rate the assessment blind.
    """
    risk = await danger_of(assessment_id, records, services)
    statements = None
    if body.statements is not None:
        statements = {Statement(start=one.start, end=one.end) for one in body.statements}

    def confirm(store: Store) -> tuple[Acknowledgement, ...]:
        acknowledge(store, assessment_id, principal, risk, statements=statements, note=body.note)
        return store.acknowledgements.of(assessment_id)

    rows = await records.ask(confirm)
    return json_of(_result(assessment_id, risk, rows, principal), 201)


async def danger_of(record_id: str, records: Records, services: Services) -> RiskReport:
    """Return the signs of danger of a record in any state; raises `NotFound`."""
    record = await records.ask(lambda store: store.get(record_id))
    _, risk = await account_of(record, services)
    return risk


def _result(
    assessment_id: str,
    risk: RiskReport,
    rows: tuple[Acknowledgement, ...],
    principal: Principal,
) -> AcknowledgementsResult:
    statements = tuple(
        ToReadResult(
            start=signal.start,
            end=signal.end,
            turn=signal.turn,
            kind=signal.kind,
            level=signal.level,
            read=tuple(
                ReaderResult(
                    number=row.number,
                    reader=row.reader,
                    mine=row.reader == principal.id,
                    at=row.at,
                    note=row.said.note,
                )
                for row in readers_of(signal, rows)
            ),
        )
        for signal in risk.to_read
    )
    unread = unread_count(risk, rows)
    return AcknowledgementsResult(assessment_id=assessment_id, unread=unread, statements=statements)
