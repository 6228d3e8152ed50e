"""The routes that say which statements of danger a person has read."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Final

from fastapi import APIRouter, Response
from pydantic import ConfigDict, Field, StrictInt

from ai_psychiatrist.api.authorization import PrincipalOf, requires
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
from ai_psychiatrist.api.held_interviews import OF_READING
from ai_psychiatrist.api.interviews import INTERVIEWS_PATH, InterviewId, Interviewing
from ai_psychiatrist.api.json_body import BoundedRoute
from ai_psychiatrist.api.records import account_of
from ai_psychiatrist.api.requests import RequestBody
from ai_psychiatrist.api.review_models import SpanRequest
from ai_psychiatrist.domain.access import Principal, Scope
from ai_psychiatrist.domain.acknowledgement import Acknowledgement, Statement
from ai_psychiatrist.domain.risk import MOST_SIGNALS, RiskKind, RiskLevel, RiskReport
from ai_psychiatrist.interview.danger_statements import places_to_read
from ai_psychiatrist.interview.record import Interview
from ai_psychiatrist.results.result import Result
from ai_psychiatrist.reviews.acknowledging import (
    MOST_NOTE,
    acknowledge,
    acknowledge_interview,
    readers_of,
    unread_count,
)
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
of_interviews = APIRouter(
    prefix=INTERVIEWS_PATH + "/{interview_id}/acknowledgements",
    tags=["interviews"],
    responses=OF_READING,
    route_class=BoundedRoute,
    dependencies=[requires(Scope.READ)],
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


class AnswerSpanRequest(SpanRequest):
    """Words of an answer of an interview."""

    turn: Annotated[StrictInt, Field(ge=1, le=2**31)]
    """The answer, from 1; `start` and `end` count its characters."""


class InterviewAcknowledgementRequest(RequestBody):
    """Statements of danger in answers that you have read."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"note": "Called at once; safe at home."}]}
    )

    statements: (
        Annotated[
            tuple[AnswerSpanRequest, ...],
            Field(min_length=1, max_length=MOST_SIGNALS, fail_fast=True),
        ]
        | None
    ) = None
    """Each by its place, as this route lists it; left out: all that there are."""
    note: Annotated[str, Field(max_length=MOST_NOTE)] = ""
    """What you did about it, for others who see the interview."""


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


class OfInterviewResult(Result):
    """How much danger in an interview about an assessment is read."""

    interview_id: str | None
    """Where its statements are listed and confirmed; null without the scope `read`, or where it
    cannot be read."""
    danger: RiskLevel
    """The gravest level that held it."""
    to_read: int
    """How many statements a person is to read."""
    unread: int
    """How many of those nobody has confirmed to have read."""


class AcknowledgementsResult(Result):
    """Which statements of danger are to be read now, and who has read them."""

    assessment_id: str
    """Whose statements they are."""
    unread: int
    """How many nobody has confirmed to have read, those of interviews about it as well."""
    statements: tuple[ToReadResult, ...]
    """In the order of the transcript."""
    interviews: tuple[OfInterviewResult, ...]
    """The interviews about it with danger, the newest first."""


class ToReadInInterviewResult(Result):
    """A statement of danger in an answer."""

    turn: int
    """The answer, from 1."""
    start: int
    """First character, in code points of the answer."""
    end: int
    """The character after the last."""
    read: tuple[ReaderResult, ...]
    """By whom, the first one first; empty while nobody has confirmed it."""


class InterviewAcknowledgementsResult(Result):
    """Which statements of danger of an interview a person is to read, and who has read them."""

    interview_id: str
    """Whose statements they are."""
    unread: int
    """How many nobody has confirmed to have read."""
    statements: tuple[ToReadInInterviewResult, ...]
    """In the order of the answers."""


@router.get("", response_model=AcknowledgementsResult)
async def read_acknowledgements(
    assessment_id: RecordId, records: RecordsOf, services: ServicesOf, principal: PrincipalOf
) -> Response:
    """Return the statements of danger that are to be read now, and who has read each."""
    risk = await danger_of(assessment_id, records, services)
    result = await records.ask(lambda store: _result(store, assessment_id, risk, principal))
    return json_of(result)


@router.post("", status_code=201, response_model=AcknowledgementsResult, responses=_OF_CONFIRMING)
async def add_acknowledgement(
    assessment_id: RecordId,
    body: AcknowledgementRequest,
    records: RecordsOf,
    services: ServicesOf,
    principal: PrincipalOf,
) -> Response:
    """Confirm that you have read statements of danger; nothing of it is changed or removed later.

    Those of interviews about it are confirmed by the route of the interview. It tells no score, so
    that you may still rate the assessment blind.
    """
    risk = await danger_of(assessment_id, records, services)
    statements = None
    if body.statements is not None:
        statements = {Statement(start=one.start, end=one.end) for one in body.statements}

    def confirm(store: Store) -> AcknowledgementsResult:
        acknowledge(store, assessment_id, principal, risk, statements=statements, note=body.note)
        return _result(store, assessment_id, risk, principal)

    return json_of(await records.ask(confirm), 201)


@of_interviews.get("", response_model=InterviewAcknowledgementsResult)
async def read_interview_acknowledgements(
    interview_id: InterviewId, interviews: Interviewing, records: RecordsOf, principal: PrincipalOf
) -> Response:
    """Return the statements of danger that a person is to read, and who has read each."""
    snapshot = await interviews.get(interview_id)
    return json_of(await records.ask(lambda store: _of_interview(store, snapshot, principal)))


@of_interviews.post(
    "", status_code=201, response_model=InterviewAcknowledgementsResult, responses=_OF_CONFIRMING
)
async def add_interview_acknowledgement(
    interview_id: InterviewId,
    body: InterviewAcknowledgementRequest,
    interviews: Interviewing,
    records: RecordsOf,
    principal: PrincipalOf,
) -> Response:
    """Confirm that you have read statements of danger; nothing of it is changed or removed later.

    It lets no held interview go on.
    """
    snapshot = await interviews.get(interview_id)
    statements = None
    if body.statements is not None:
        statements = {
            Statement(turn=one.turn, start=one.start, end=one.end) for one in body.statements
        }

    def confirm(store: Store) -> InterviewAcknowledgementsResult:
        acknowledge_interview(store, snapshot, principal, statements=statements, note=body.note)
        return _of_interview(store, snapshot, principal)

    return json_of(await records.ask(confirm), 201)


async def danger_of(record_id: str, records: Records, services: Services) -> RiskReport:
    """Return the signs of danger of a record in any state; raises `NotFound`."""
    record = await records.ask(lambda store: store.get(record_id))
    _, risk = await account_of(record, services)
    return risk


def _result(
    store: Store, assessment_id: str, risk: RiskReport, principal: Principal
) -> AcknowledgementsResult:
    rows = store.acknowledgements.of(assessment_id)
    statements = tuple(
        ToReadResult(
            start=signal.start,
            end=signal.end,
            turn=signal.turn,
            kind=signal.kind,
            level=signal.level,
            read=_readers(readers_of(signal, rows), principal),
        )
        for signal in risk.to_read
    )
    may_read = Scope.READ in principal.scopes
    of_interviews = tuple(
        OfInterviewResult(
            interview_id=one.id if may_read and one.id else None,
            danger=one.danger,
            to_read=one.row.to_read,
            unread=one.row.unread,
        )
        for one in store.interviews.about(assessment_id)
        if one.danger is not None
    )
    return AcknowledgementsResult(
        assessment_id=assessment_id,
        unread=unread_count(risk, rows) + sum(one.unread for one in of_interviews),
        statements=statements,
        interviews=of_interviews,
    )


def _of_interview(
    store: Store, interview: Interview, principal: Principal
) -> InterviewAcknowledgementsResult:
    rows = store.interviews.acknowledged(interview.id)
    statements = tuple(
        ToReadInInterviewResult(
            turn=place.turn,
            start=place.start,
            end=place.end,
            read=_readers(readers_of(place, rows), principal),
        )
        for place in places_to_read(interview)
    )
    unread = sum(not one.read for one in statements)
    return InterviewAcknowledgementsResult(
        interview_id=interview.id, unread=unread, statements=statements
    )


def _readers(rows: Sequence[Acknowledgement], principal: Principal) -> tuple[ReaderResult, ...]:
    return tuple(
        ReaderResult(
            number=row.number,
            reader=row.reader,
            mine=row.reader == principal.id,
            at=row.at,
            note=row.said.note,
        )
        for row in rows
    )
