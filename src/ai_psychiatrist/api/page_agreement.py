"""The pages of a study: how far raters agree, and what is to be rated next."""

from collections.abc import Mapping
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Final

from fastapi import APIRouter, Request, Response
from pydantic import ValidationError

from ai_psychiatrist.api.authorization import PrincipalOf, requires
from ai_psychiatrist.api.dependencies import RecordsOf
from ai_psychiatrist.api.pages import message_page, redirect_to, render_page
from ai_psychiatrist.api.rating_queue import LIST_FILTERS, RatingQueue, filtered_queue
from ai_psychiatrist.api.record_models import ListInQuery
from ai_psychiatrist.domain.access import Scope
from ai_psychiatrist.domain.errors import RequestConflict
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.reviews.agreed import Agreed, agreed
from ai_psychiatrist.reviews.agreement_result import (
    AgreementFigures,
    AgreementSection,
    FigureResult,
    Intraclass,
)
from ai_psychiatrist.reviews.queue import queued
from ai_psychiatrist.store.store import Store

router = APIRouter(include_in_schema=False)

_MEASURES: Final = (
    ("kappa", "Weighted kappa"),
    ("alpha", "Alpha, ordinal"),
    ("exact", "Same answer"),
    ("span_characters", "Evidence, F1"),
    ("icc_2_1", "ICC(2,1)"),
)
_ALL: Final = "All items"
_SIDES: Final = {"raters": "between raters", "program": "raters with the program"}
_SILENT: Final = "nobody gives a score"
_PLOT_MARGIN: Final = 2.0
"""Percent, so that a mark at an end of the axis is seen whole."""
_ALL_RATED: Final = "You have rated every assessment that there is."
_QUEUE_RATED: Final = "You have rated every assessment that was chosen."
_NO_SUCH_LIST: Final = "There is no such list: the address was changed, or is of an older version."


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A figure as it is shown."""

    value: str
    interval: str
    """Its 95 % interval, where there is one, and on how many pairs it rests."""
    note: str
    """Of the note that says what is missing; empty where nothing is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotMark:
    """A weighted kappa in the picture; places are percent of its width."""

    side: str
    """`raters` or `program`."""
    words: str
    at: float
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """The weighted kappas as a picture."""

    rows: Mapping[str, tuple[PlotMark, ...]]
    """Item, or all of them → what is defined of it, among raters first."""
    ticks: Mapping[str, float]
    """Values of the axis, and where they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementTable:
    """The figures over some of the cases."""

    title: str
    words: str
    section: AgreementSection
    plot: Plot
    heads: Mapping[str, tuple[str, ...]]
    """Measure → the sides that it has figures of: among raters, and of raters with the program."""
    rows: Mapping[str, tuple[Cell, ...]]
    """Item, or all of them → its figures, in the order of the heads."""
    missing: tuple[str, ...]
    """Why a measure has no figure at all, for those that are left out."""
    notes: tuple[str, ...]
    """What is missing in some figures, in the order of their marks a, b, c."""


@router.get("/agreement", dependencies=[requires(Scope.READ)])
async def agreement_page(request: Request, records: RecordsOf, principal: PrincipalOf) -> Response:
    """Show how far people agree with one another, and with the program."""

    def read(store: Store) -> tuple[Agreed, dict[str, str]]:
        found, names = agreed(store, principal), store.person_names()
        # Who rated what is for admins: a rater could tell whose rating made a figure low.
        raters = found.names if Scope.ADMIN in principal.scopes else {}
        return found, {label: names.shown(rater) for label, rater in raters.items()}

    try:
        given, names = await records.ask(read)
    except RequestConflict as error:
        return await message_page(request, "Agreement", str(error), status=409)
    found = given.figures
    sections = (
        ("Rated blind", "Before any score was shown.", found.blind),
        ("Of these, drawn at random", "Not shifted to hard cases.", found.random_tenth),
        ("Rated with the scores seen", "No measure of agreement: people follow.", found.seen),
    )
    return await render_page(
        request,
        "agreement",
        found=found,
        names=names,
        sides=_SIDES,
        tables=tuple(
            _table(title, words, section) for title, words, section in sections if section.cases
        ),
    )


@router.get("/next", dependencies=[requires(Scope.REVIEW)])
async def next_page(request: Request, records: RecordsOf, principal: PrincipalOf) -> Response:
    """Send a rater to the next case of the queue in the address, else to what tells most.

    With filters of the list in its place, the queue is what is left to rate of that list.
    """
    queue, asked = RatingQueue.of(request), request.query_params
    given = {name: value for name, value in asked.items() if name in LIST_FILTERS}
    if given:
        try:
            wanted = ListInQuery.model_validate(given).wanted(principal)
        except ValidationError:
            return await message_page(request, "Rate", _NO_SUCH_LIST, status=422)
        queue = await records.ask(lambda store: filtered_queue(store, principal, wanted))
    if queue.ids:
        following = await records.ask(lambda store: queue.next_in(store, principal))
        if following is not None:
            return redirect_to(request, f"/assessments/{following}/rate{queue.query}")
    if queue.ids or given:
        ways = {"Next of all assessments": "/next"}
        if Scope.READ in principal.scopes:
            ways = {"Back to the list": "/"} | ways
        return await message_page(
            request, "Nothing is left to rate here", _QUEUE_RATED, status=200, ways=ways
        )
    found = await records.ask(lambda store: queued(store, principal, limit=1))
    if not found.cases:
        return await message_page(request, "Nothing is left to rate", _ALL_RATED, status=200)
    return redirect_to(request, f"/assessments/{found.cases[0].summary.id}/rate")


def _table(title: str, words: str, section: AgreementSection) -> AgreementTable:
    by_name = [(_ALL, section.raters.all_items, section.program.all_items)]
    by_name += [(one.label, section.raters.items[one], section.program.items[one]) for one in Item]
    figures = {
        name: {"raters": _of_scores(raters), "program": _of_scores(program)}
        for name, raters, program in by_name
    }
    columns = [(measure, name, side) for measure, name in _MEASURES for side in _SIDES]
    shown = [
        (measure, name, side)
        for measure, name, side in columns
        if any(getattr(row[side], measure).value is not None for row in figures.values())
    ]
    heads: dict[str, tuple[str, ...]] = {}
    for _, name, side in shown:
        heads[name] = (*heads.get(name, ()), side)
    notes: dict[str, str] = {}
    return AgreementTable(
        title=title,
        words=words,
        section=section,
        plot=_plot(figures),
        heads=heads,
        rows={
            name: tuple(_cell(getattr(row[side], measure), notes) for measure, _, side in shown)
            for name, row in figures.items()
        },
        missing=tuple(
            f"{name}, {_SIDES[side]}: {getattr(figures[_ALL][side], measure).reason}"
            for measure, name, side in columns
            if (measure, name, side) not in shown
        ),
        notes=tuple(notes),
    )


def _of_scores(figures: AgreementFigures) -> AgreementFigures:
    """Leave out that two say the same where neither of any pair gives a score."""
    if figures.answers.both or figures.answers.one or figures.exact.value is None:
        return figures
    silent = figures.exact.model_copy(update={"value": None, "interval": None, "reason": _SILENT})
    return figures.model_copy(update={"exact": silent})


def _plot(figures: Mapping[str, Mapping[str, AgreementFigures]]) -> Plot:
    kappas = {
        name: {side: one.kappa for side, one in row.items() if one.kappa.value is not None}
        for name, row in figures.items()
    }
    found = [one for row in kappas.values() for one in row.values()]
    least = min((value for one in found for value in (one.value, *(one.interval or ()))), default=0)
    start = next(edge for edge in (0.0, -0.5, -1.0) if edge <= max(least, -1))

    def place(value: float) -> float:
        share = (max(value, start) - start) / (1 - start)
        return round(_PLOT_MARGIN + (100 - 2 * _PLOT_MARGIN) * share, 2)

    def mark(side: str, one: FigureResult) -> PlotMark:
        ends = one.interval
        words = _shown(one.value or 0)
        if ends:
            words += f" ({_shown(ends[0])} to {_shown(ends[1])})"
        interval = (place(ends[0]), place(ends[1])) if ends else None
        return PlotMark(side=side, words=words, at=place(one.value or 0), interval=interval)

    return Plot(
        rows={
            name: tuple(mark(side, one) for side, one in row.items())
            for name, row in kappas.items()
        },
        ticks={f"{edge:g}": place(edge) for edge in (-1, -0.5, 0, 0.5, 1) if edge >= start},
    )


def _cell(figure: FigureResult | Intraclass, notes: dict[str, str]) -> Cell:
    """Return a figure; why something of it is missing is said once below the table."""
    note = ""
    if figure.reason:
        note = notes.setdefault(figure.reason, ascii_lowercase[len(notes) % len(ascii_lowercase)])
    many = f"n {figure.subjects if isinstance(figure, Intraclass) else figure.n:,}"
    if figure.value is None:
        return Cell(value="–", interval="", note=note)
    value = _shown(figure.value)
    if figure.interval is None:
        return Cell(value=value, interval=many, note=note)
    low, high = figure.interval
    return Cell(value=value, interval=f"{_shown(low)} to {_shown(high)}, {many}", note=note)


def _shown(value: float) -> str:
    """Return two decimals with a minus sign; what rounds to nothing has none."""
    text = f"{value:.2f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "\N{MINUS SIGN}")
