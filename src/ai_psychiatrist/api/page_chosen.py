"""What is done with assessments that were chosen on the list: export, erase, or rate them next."""

from dataclasses import dataclass, field
from functools import partial
from typing import Final
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from starlette.datastructures import ImmutableMultiDict

from ai_psychiatrist.api.audit_trail import record_one_of_several
from ai_psychiatrist.api.authorization import PrincipalOf, requires
from ai_psychiatrist.api.dependencies import ERASING, RATING, RecordsOf
from ai_psychiatrist.api.exports import MOST_CHOSEN, ExportedThing
from ai_psychiatrist.api.json_body import BoundedRequest, BoundedRoute
from ai_psychiatrist.api.page_cohort import EXPORTS, export_query
from ai_psychiatrist.api.page_interview import is_open
from ai_psychiatrist.api.pages import message_page, read_form, redirect_to, render_page
from ai_psychiatrist.api.rating_queue import RatingQueue
from ai_psychiatrist.domain.access import Scope
from ai_psychiatrist.domain.errors import NotFound
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.domain.review import ReviewPhase
from ai_psychiatrist.interview.interview_store import state_of
from ai_psychiatrist.reviews.blindness import is_asked_first
from ai_psychiatrist.store.audit import BEGUN
from ai_psychiatrist.store.listing import RecordListRequest
from ai_psychiatrist.store.records import RecordSummary
from ai_psychiatrist.store.store import Store
from ai_psychiatrist.store.stores import Records

router = APIRouter(prefix="/chosen", include_in_schema=False, route_class=BoundedRoute)

_CONFIRMED: Final = "erase"
"""The word that is typed before anything is erased."""
_MOST_FIELDS: Final = MOST_CHOSEN + 10
_NONE: Final = "Choose at least one assessment, by the box at the beginning of its row."
_UNBLINDS: Final = (
    "The file tells the scores of assessments that you have not rated, {count} in number. After "
    "that your ratings of them are kept but count as none of the blind ones."
)
_NO_RATING: Final = "None of these can be rated: you have rated them, or they have no result."


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The chosen assessments that are stored."""

    summaries: tuple[RecordSummary, ...]
    subjects: dict[str, str] = field(repr=False)
    """Study ids, by the random id of a subject."""


@router.post("/export", dependencies=[requires(Scope.READ)])
async def export_chosen(
    request: BoundedRequest, records: RecordsOf, principal: PrincipalOf
) -> Response:
    """Go to the export of the chosen assessments, or of `all`; ask first who could rate blind."""
    form = await read_form(request, most_fields=_MOST_FIELDS)
    chosen = [] if "all" in form else form.getlist("id")[:MOST_CHOSEN]
    wanted = form.get("as", "")
    if wanted not in EXPORTS or not (chosen or "all" in form):
        return await _nothing_chosen(request)
    only = urlencode([("assessment_id", record_id) for record_id in chosen])
    export = f"/v1/export?{export_query(wanted)}{'&' if only else ''}{only}"
    is_of_danger = wanted.startswith(f"{ExportedThing.ACKNOWLEDGEMENTS}.")
    if is_of_danger or not is_asked_first(principal):
        return redirect_to(request, export)
    unseen = RecordListRequest(
        rater=principal.id,
        state=RecordState.FINISHED,
        only=frozenset(chosen),
        hidden=frozenset({ReviewPhase.UNSEEN}),
    )
    count = await records.ask(lambda store: store.lists.hidden(unseen))
    if not count:
        return redirect_to(request, export)
    ways = {"Back to the list": "/", "Export all the same": export}
    words = _UNBLINDS.format(count=count)
    return await message_page(request, "Export with scores?", words, status=200, ways=ways)


@router.post("/rate", dependencies=RATING)
async def rate_chosen(
    request: BoundedRequest, records: RecordsOf, principal: PrincipalOf
) -> Response:
    """Begin to rate the chosen assessments, and go to the first of them.

    Those whose scores the caller has not seen come before all others of the queue from then on.
    """

    async def begin(record_id: str) -> bool:
        phase = await records.ask(lambda store: store.reviews.begin(record_id, principal.id))
        return phase is not ReviewPhase.REVEALED

    found = await _stored(await read_form(request, most_fields=_MOST_FIELDS), records)
    if not found.summaries:
        return await _nothing_chosen(request)
    to_rate: list[str] = []
    for one in found.summaries:
        if one.state is RecordState.FINISHED:
            await record_one_of_several(request, "review_begun", one.id, BEGUN)
            if await begin(one.id):
                to_rate.append(one.id)
            await record_one_of_several(request, "review_begun", one.id, "201")
    if to_rate:
        query = RatingQueue.to_rate(to_rate).query
        return redirect_to(request, f"/assessments/{to_rate[0]}/rate{query}")
    return await message_page(request, "Nothing to rate", _NO_RATING, status=409)


@router.post("/erase", dependencies=ERASING)
async def erase_chosen(request: BoundedRequest, records: RecordsOf) -> Response:
    """Ask for a word first, and then erase the chosen assessments with all that belongs to them."""
    form = await read_form(request, most_fields=_MOST_FIELDS)
    found = await _stored(form, records)
    if not found.summaries:
        return await _nothing_chosen(request)
    word = form.get("word")
    if word is None or word.strip().lower() != _CONFIRMED:
        ids = [one.id for one in found.summaries]
        running = [one for one in ids if await records.ask(partial(_is_interviewed, one))]
        return await render_page(
            request,
            "erase",
            status=200 if word is None else 422,
            problem="" if word is None else f"Nothing was erased: the word is {_CONFIRMED}.",
            chosen=found,
            running=running,
            word=_CONFIRMED,
        )
    for one in found.summaries:
        await record_one_of_several(request, "assessment_erased", one.id, BEGUN)
        await records.ask(partial(_erase, one.id))
        await record_one_of_several(request, "assessment_erased", one.id, "204")
    return redirect_to(request, f"/?erased={len(found.summaries)}")


def _is_interviewed(record_id: str, store: Store) -> bool:
    return any(is_open(state_of(one)) for one in store.interviews.about(record_id))


def _erase(record_id: str, store: Store) -> None:
    store.removal.erase(record_id)


async def _stored(form: ImmutableMultiDict[str, str], records: Records) -> Chosen:
    """Return the chosen assessments; one that was erased since the list was shown is none."""

    def read(store: Store) -> Chosen:
        summaries = []
        for record_id in dict.fromkeys(form.getlist("id")):
            try:
                summaries.append(store.summary(record_id))
            except NotFound:
                continue
        subjects = store.keys.names([one.subject_id for one in summaries])
        return Chosen(summaries=tuple(summaries), subjects=subjects)

    return await records.ask(read)


async def _nothing_chosen(request: Request) -> Response:
    return await message_page(request, "Nothing is chosen", _NONE, status=422)
