"""On the pages of an assessment: who has read its statements of danger, and that you have."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from fastapi import APIRouter, Request, Response

from ai_psychiatrist.api.acknowledgements import danger_of
from ai_psychiatrist.api.authorization import PrincipalOf
from ai_psychiatrist.api.dependencies import SEEING, RecordId, RecordsOf, ServicesOf
from ai_psychiatrist.api.json_body import BoundedRequest, BoundedRoute
from ai_psychiatrist.api.pages import message_page, read_form, redirect_to
from ai_psychiatrist.api.rating_queue import RatingQueue
from ai_psychiatrist.domain.access import Principal
from ai_psychiatrist.domain.acknowledgement import Acknowledgement, Statement
from ai_psychiatrist.domain.errors import InputError, NotFound, RequestConflict
from ai_psychiatrist.domain.risk import RiskReport
from ai_psychiatrist.results.page.views import ReaderView
from ai_psychiatrist.reviews.acknowledging import MOST_NOTE, acknowledge, unread_count
from ai_psychiatrist.reviews.danger_readers import readers_by_place
from ai_psychiatrist.store.person_names import PersonNames

router = APIRouter(
    prefix="/assessments",
    include_in_schema=False,
    dependencies=SEEING,
    route_class=BoundedRoute,
)

_PLACE: Final = re.compile(r"([0-9]{1,9})-([0-9]{1,9})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadView:
    """Who has read the statements of danger of an assessment."""

    id: str
    """Of the assessment."""
    readers: Mapping[tuple[int, int], Sequence[ReaderView]]
    """By a statement's start and end."""
    unread: int
    most_note: int = MOST_NOTE


def read_view(
    record_id: str,
    risk: RiskReport,
    rows: Sequence[Acknowledgement],
    principal: Principal,
    names: PersonNames,
) -> ReadView:
    """Return who has read the statements that are to be read now, for one caller."""
    readers = readers_by_place(risk, rows, principal, names)
    return ReadView(id=record_id, readers=readers, unread=unread_count(risk, rows))


@router.post("/{assessment_id}/acknowledge")
async def confirm_read(
    assessment_id: RecordId,
    request: BoundedRequest,
    records: RecordsOf,
    services: ServicesOf,
    principal: PrincipalOf,
) -> Response:
    """Keep that the caller has read one statement of danger, or all, and show the page again."""
    form = await read_form(request)
    place = _PLACE.fullmatch(form.get("statement", ""))
    statements = {Statement(start=int(place[1]), end=int(place[2]))} if place else None
    try:
        risk = await danger_of(assessment_id, records, services)
        note = form.get("note", "")[:MOST_NOTE]
        await records.ask(
            lambda store: acknowledge(
                store, assessment_id, principal, risk, statements=statements, note=note
            )
        )
    except NotFound:
        return await _not_kept(request, "No assessment has this address.", 404)
    except RequestConflict:
        words = "The assessment is still being made: wait for its end, then confirm."
        return await _not_kept(request, words, 409)
    except InputError as error:
        return await _not_kept(request, str(error), 422)
    here = f"/rate{RatingQueue.of(request).query}" if form.get("from") == "rate" else ""
    return redirect_to(request, f"/assessments/{assessment_id}{here}#danger")


async def _not_kept(request: Request, words: str, status: int) -> Response:
    return await message_page(request, "Not kept", words, status=status)
