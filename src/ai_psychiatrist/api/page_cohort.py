"""The page of all stored assessments, found by study id; before anything is stored, an example."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Final
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import ValidationError

from ai_psychiatrist.agents.baseline import BASELINE
from ai_psychiatrist.api.authorization import PrincipalOf, requires
from ai_psychiatrist.api.dependencies import RecordsOf, ServicesOf
from ai_psychiatrist.api.json_body import BoundedRequest, BoundedRoute
from ai_psychiatrist.api.page_held_interview import InterviewsInDanger, interviews_in_danger
from ai_psychiatrist.api.pages import read_form, redirect_to, render_page
from ai_psychiatrist.api.rating_queue import LIST_FILTERS, RatingQueue
from ai_psychiatrist.api.record_models import ListInQuery
from ai_psychiatrist.config import with_model
from ai_psychiatrist.domain.access import Principal, Scope
from ai_psychiatrist.domain.phq8 import Severity
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.domain.review import ReviewPhase
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.infrastructure.off_loop import work_on_text
from ai_psychiatrist.interface.application import Application
from ai_psychiatrist.results.page.views import SheetView, sheet_view
from ai_psychiatrist.results.page.words import end_words, words
from ai_psychiatrist.reviews.adjudication import to_adjudicate
from ai_psychiatrist.reviews.blindness import is_asked_first, list_for
from ai_psychiatrist.services.transcripts.transcript_reader import read_transcript
from ai_psychiatrist.store.listing import Rated, RecordPage, Sort
from ai_psychiatrist.store.store import Store
from ai_psychiatrist.wiring import Services, bootstrap_apart

_MADE: Final[dict[str, SheetView]] = {}
"""By where to turn in danger, the one thing of the settings that it shows."""


@cache
def example_text() -> str:
    """Return the interview."""
    folder = files("ai_psychiatrist.results.page")
    return (folder / "example_interview.txt").read_bytes().decode("utf-8")


async def example_view(request: Request, services: Services) -> SheetView:
    """Return the page of the example; it is assessed once, whatever models the settings name."""
    async with request.app.state.example_lock:
        if services.crisis_resources not in _MADE:
            _MADE.clear()
            _MADE[services.crisis_resources] = await _assessed(services)
    return _MADE[services.crisis_resources]


async def _assessed(services: Services) -> SheetView:
    text = example_text()
    transcript = await work_on_text(text, read_transcript, text)
    settings = with_model(services.settings, BASELINE)
    async with bootstrap_apart(settings) as apart:
        result = await Application(replace(apart, log=services.log)).assess(transcript)
    return sheet_view(result, transcript)


router = APIRouter(
    include_in_schema=False, dependencies=[requires(Scope.READ)], route_class=BoundedRoute
)

_OF_SUBJECT: Final = "subject_id"
_SCORES: Final = "scores"
"""Whether scores are listed of what the caller has not rated yet: `shown` or `hidden`."""
_TO_SETTLE: Final = "adjudicate"
"""Whether only assessments are listed on which raters differ and that have no gold scores."""
_ERASED: Final = "erased"
"""How many assessments were just erased, for the list to say so."""
_COUNT: Final = re.compile(r"[0-9]{1,6}", re.ASCII)
_CHOOSERS: Final = (
    ("band", "Severity", tuple((band.name.lower(), band.label) for band in Severity)),
    ("unknown", "Unknown items", tuple((str(n), f"{n} or more") for n in (1, 2, 4, 8))),
    ("danger", "Danger", tuple((level.value, words(level)) for level in RiskLevel)[1:]),
    ("unread", "Read", (("true", "not yet read"),)),
    ("state", "Status", tuple((state.value, words(state)) for state in RecordState)),
    (
        "rated",
        "Rated",
        (
            (Rated.NONE.value, "by nobody"),
            (Rated.ANY.value, "by anybody"),
            (Rated.MINE.value, "by you"),
            (Rated.NOT_MINE.value, "not by you"),
        ),
    ),
)
_ADJUDICATION: Final = (_TO_SETTLE, "Gold scores", (("open", "raters differ, not adjudicated"),))
"""For adjudicators alone: it tells something of what others rated."""
_SORTS: Final = (
    (Sort.UNREAD.value, "unread danger first"),
    (Sort.CREATED.value, "newest first"),
    (Sort.DANGER.value, "gravest danger first"),
    (Sort.TOTAL.value, "highest total first"),
    (Sort.WIDTH.value, "most uncertain first"),
)
EXPORTS: Final = {
    "results.xlsx": "Results, Excel",
    "results.csv": "Results, CSV",
    "results.jsonl": "Results, JSONL",
    "results.fhir": "Results, FHIR",
    "ratings.xlsx": "Ratings, Excel",
    "ratings.csv": "Ratings, CSV",
    "ratings.jsonl": "Ratings, JSONL",
    "ratings.xlsx.with_words": "Ratings, with reasons of gold scores, Excel",
    "acknowledgements.xlsx": "Who read danger, Excel",
    "acknowledgements.csv": "Who read danger, CSV",
    "acknowledgements.xlsx.with_words": "Who read danger, with notes, Excel",
    "acknowledgements.csv.with_words": "Who read danger, with notes, CSV",
    "interviews.xlsx": "Interviews, Excel",
    "interviews.csv": "Interviews, CSV",
}
"""What forms call an export, and its name: what and in which format, and whether with words."""
_PHASES: Final = {
    ReviewPhase.UNSEEN: "not rated",
    ReviewPhase.BLIND: "begun, blind",
    ReviewPhase.SEEN: "scores seen",
    ReviewPhase.REVEALED: "rated",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cohort:
    """What the store gives of a list."""

    page: RecordPage
    subjects: Mapping[str, str] = field(repr=False)
    """Study ids, by the random id of a subject."""
    unread: int
    """How many assessments of all have statements that nobody has confirmed reading."""
    in_danger: InterviewsInDanger


@dataclass(frozen=True, slots=True, kw_only=True)
class CohortFilter:
    """Which list a page shows, and where its other orders and pages are."""

    values: Mapping[str, str]
    """What the query says, without what is left open."""
    has_scores: bool

    def __getitem__(self, name: str) -> str:
        return self.values.get(name, "")

    @property
    def sort(self) -> str:
        """The order."""
        return self.values.get("sort", Sort.UNREAD.value)

    @property
    def is_filtered(self) -> bool:
        """Whether something is left out."""
        return bool(
            self.values.keys() & {_OF_SUBJECT, _TO_SETTLE, *(name for name, _, _ in _CHOOSERS)}
        )

    @property
    def is_later(self) -> bool:
        """Whether it is not the first page."""
        return "cursor" in self.values

    @property
    def rating_query(self) -> str:
        """The query of `/next` for the list's cases; empty for a list that is not filtered so."""
        is_by_others = not self.values.keys().isdisjoint({"band", "unknown", _TO_SETTLE})
        kept = {name: value for name, value in self.values.items() if name in LIST_FILTERS}
        return "" if is_by_others or not kept else f"?{urlencode(kept)}"

    def link(self, **changed: str) -> str:
        """Return the query of another such list, from its first page on."""
        kept = {name: value for name, value in self.values.items() if name != "cursor"}
        return f"?{urlencode({name: value for name, value in (kept | changed).items() if value})}"


def export_query(form: str) -> str:
    """Return the query of an export by what forms call it."""
    what, kind, *words = form.split(".")
    return urlencode({"what": what, "format": kind, **dict.fromkeys(words, "true")})


@router.get("/")
async def cohort(
    request: Request, services: ServicesOf, records: RecordsOf, principal: PrincipalOf
) -> Response:
    """Show all that is stored, held interviews first, or an example where nothing is."""
    wanted, query, problem = _wanted(request, principal)
    erased = request.query_params.get(_ERASED, "")
    done = _erased_words(int(erased)) if _COUNT.fullmatch(erased) else ""

    may_adjudicate = Scope.ADMIN in principal.scopes

    def listed(store: Store) -> Cohort:
        request_of = query.wanted(principal)
        if may_adjudicate and wanted[_TO_SETTLE]:
            # No assessment has the empty id.
            only = frozenset(to_adjudicate(store, principal)) or frozenset({""})
            request_of = replace(request_of, only=only)
        page = list_for(store, request_of)
        subject_ids = [line.summary.subject_id for line in page.records]
        return Cohort(
            page=page,
            subjects=store.keys.names(subject_ids),
            unread=store.lists.unread(),
            in_danger=interviews_in_danger(store),
        )

    found = await records.ask(listed)
    if not found.page.total and not found.in_danger.total and not wanted.is_filtered:
        view = await example_view(request, services)
        return await render_page(
            request,
            "assessment",
            done=done,
            view=view,
            read=None,
            interview_dangers=(),
            is_example=True,
            id="",
            phase="",
            subject=None,
            ratings=None,
            interview=None,
            is_reported=True,
            queue=RatingQueue(),
            following=None,
            may_ask=False,
            may_review=False,
            may_erase=False,
        )
    return await render_page(
        request,
        "cohort",
        status=422 if problem else 200,
        problem=problem,
        done=done,
        cohort=found,
        phases=_PHASES,
        next=wanted.link(cursor=found.page.next) if found.page.next else "",
        wanted=wanted,
        choosers=(*_CHOOSERS, _ADJUDICATION) if may_adjudicate else _CHOOSERS,
        sorts=_SORTS,
        reasons=end_words,
        may_review=Scope.REVIEW in principal.scopes,
        may_erase=Scope.ADMIN in principal.scopes,
        exports=EXPORTS,
        export_query=export_query,
        is_asked_first=is_asked_first(principal),
    )


@router.get("/danger/progress")
async def danger_progress(records: RecordsOf) -> Response:
    """Say whether the interviews with danger have changed; no word of them."""
    found = await records.ask(lambda store: store.interviews.danger_extent())
    return JSONResponse({"shown": found.mark, "danger": found.statements})


@router.post("/find")
async def find_subject(request: BoundedRequest, records: RecordsOf) -> Response:
    """Go to the list of a study id, which is in no address: the subject's random id is.

    Where none is written exactly so, capitals do not count.
    """
    name = (await read_form(request)).get("subject", "")

    def look(store: Store) -> tuple[str | None, tuple[str, ...]]:
        found = store.keys.find(name)
        alike = () if found else store.keys.alike(name)
        return (store.keys.find(alike[0]) if len(alike) == 1 else found), alike

    subject_id, alike = await records.ask(look)
    if subject_id is None:
        return await render_page(request, "find", status=404, name=name, alike=alike)
    return redirect_to(request, f"/?{urlencode({_OF_SUBJECT: subject_id})}")


def _erased_words(count: int) -> str:
    return f"Erased {count:,} {'assessment' if count == 1 else 'assessments'}."


def _wanted(request: Request, principal: Principal) -> tuple[CohortFilter, ListInQuery, str]:
    given = {name: value for name, value in request.query_params.items() if value}
    usual = "hidden" if is_asked_first(principal) else "shown"
    has_scores = given.get(_SCORES, usual) == "shown"
    given.pop(_ERASED, None)
    asked = {name: value for name, value in given.items() if name not in {_SCORES, _TO_SETTLE}}
    try:
        query = ListInQuery.model_validate({"sort": Sort.UNREAD, **asked, "blind": not has_scores})
    except ValidationError:
        problem = "There is no such list: the address was changed, or is of an older version."
        kept = CohortFilter(values={}, has_scores=has_scores)
        return kept, ListInQuery(sort=Sort.UNREAD, blind=not has_scores), problem
    return CohortFilter(values=given, has_scores=has_scores), query, ""
