"""The page of all stored assessments; before anything is stored, an example."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from pydantic import ValidationError

from ai_psychiatrist.api.doors_of import PrincipalOf, requires
from ai_psychiatrist.api.page_example import example_view
from ai_psychiatrist.api.page_frame import shown
from ai_psychiatrist.api.record_query import ListInQuery
from ai_psychiatrist.api.records_of import RecordsOf
from ai_psychiatrist.api.served import ServicesOf
from ai_psychiatrist.domain.access import Principal, Scope
from ai_psychiatrist.domain.phq8 import Severity
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.domain.review import ReviewPhase
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.results.page.words import words
from ai_psychiatrist.reviews.archive.pages import Rated, Sort
from ai_psychiatrist.reviews.archive.records import ListedRecord
from ai_psychiatrist.reviews.blindness import is_asked_first, list_for

router = APIRouter(include_in_schema=False, dependencies=[requires(Scope.READ)])

_SCORES: Final = "scores"
"""Whether scores are listed of what the caller has not rated yet: `shown` or `hidden`."""
_CHOOSERS: Final = (
    ("band", "Severity", tuple((band.name.lower(), band.label) for band in Severity)),
    ("unknown", "Unknown items", tuple((str(n), f"{n} or more") for n in (1, 2, 4, 8))),
    ("danger", "Danger", tuple((level.value, words(level)) for level in RiskLevel)[1:]),
    ("state", "State", tuple((state.value, state.value) for state in RecordState)),
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
_EXPORTS: Final = (
    ("results", "jsonl", "Results, JSONL"),
    ("results", "csv", "Results, CSV"),
    ("results", "fhir", "Results, FHIR"),
    ("ratings", "jsonl", "Ratings, JSONL"),
    ("ratings", "csv", "Ratings, CSV"),
)
_MINE: Final = {
    ReviewPhase.UNSEEN: "not rated",
    ReviewPhase.BLIND: "begun, blind",
    ReviewPhase.SEEN: "scores seen",
    ReviewPhase.REVEALED: "rated",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedList:
    """Which list a page shows, and where its other orders and pages are."""

    values: Mapping[str, str]
    """What the query says, without what is left open."""
    has_scores: bool

    def __getitem__(self, name: str) -> str:
        return self.values.get(name, "")

    @property
    def sort(self) -> str:
        """The order."""
        return self.values.get("sort", Sort.CREATED.value)

    @property
    def is_filtered(self) -> bool:
        """Whether something is left out."""
        return bool(self.values.keys() & {name for name, _, _ in _CHOOSERS})

    @property
    def is_later(self) -> bool:
        """Whether it is not the first page."""
        return "cursor" in self.values

    def link(self, **changed: str) -> str:
        """Return the query of another such list, from its first page on."""
        kept = {name: value for name, value in self.values.items() if name != "cursor"}
        return f"?{urlencode({name: value for name, value in (kept | changed).items() if value})}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One assessment in the table."""

    id: str
    day: str
    state: str
    is_hidden: bool
    total: str
    band: str
    unknown: int
    danger: str
    danger_words: str
    width: int | None
    models: str
    raters: int
    mine: str


@router.get("/")
async def cohort(
    request: Request, services: ServicesOf, records: RecordsOf, principal: PrincipalOf
) -> Response:
    """Show all that is stored, or an example where nothing is."""
    wanted, query, problem = _wanted(request, principal)
    page = await records.ask(lambda archive: list_for(archive, query.wanted(principal)))
    if not page.total and not wanted.is_filtered:
        view = await example_view(request, services)
        return await shown(
            request,
            "assessment",
            view=view,
            is_example=True,
            id="",
            phase="",
            subject=None,
            ratings=None,
            may_review=False,
            may_erase=False,
        )
    return await shown(
        request,
        "cohort",
        status=422 if problem else 200,
        problem=problem,
        lines=tuple(map(_line, page.records)),
        total=page.total,
        next=wanted.link(cursor=page.next) if page.next else "",
        wanted=wanted,
        choosers=_CHOOSERS,
        sorts=tuple(sort.value for sort in Sort),
        may_review=Scope.REVIEW in principal.scopes,
        exports=_EXPORTS if Scope.READ in principal.scopes else (),
    )


def _wanted(request: Request, principal: Principal) -> tuple[WantedList, ListInQuery, str]:
    given = {name: value for name, value in request.query_params.items() if value}
    usual = "hidden" if is_asked_first(principal) else "shown"
    has_scores = given.get(_SCORES, usual) == "shown"
    asked = {name: value for name, value in given.items() if name != _SCORES}
    try:
        query = ListInQuery.model_validate({**asked, "blind": not has_scores})
    except ValidationError:
        problem = "There is no such list: the address was changed, or is of an older version."
        kept = WantedList(values={}, has_scores=has_scores)
        return kept, ListInQuery(blind=not has_scores), problem
    return WantedList(values=given, has_scores=has_scores), query, ""


def _line(listed: ListedRecord) -> Line:
    summary, figures = listed.summary, listed.summary.figures
    is_finished = summary.state is RecordState.FINISHED
    return Line(
        id=summary.id,
        day=f"{summary.created_at:%Y-%m-%d %H:%M}",
        state=summary.state.value,
        is_hidden=listed.is_hidden and is_finished,
        total=_span(str(one) for one in (figures.total_min, figures.total_max) if one is not None),
        band=_span(
            band.label
            for band in (figures.severity_lower, figures.severity_upper)
            if band is not None
        ),
        unknown=figures.unknown_items or 0,
        danger=figures.danger.value if figures.danger else "",
        danger_words=words(figures.danger) if figures.danger else "",
        width=None if listed.is_hidden else figures.width,
        models=", ".join(figures.models),
        raters=summary.raters,
        mine=_MINE[listed.phase],
    )


def _span(ends: Iterator[str]) -> str:
    return " to ".join(dict.fromkeys(ends))
