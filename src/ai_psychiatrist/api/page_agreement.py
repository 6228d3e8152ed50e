"""The pages of a study: how far raters agree, and what is to be rated next."""

from collections.abc import Mapping
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Final

from fastapi import APIRouter, Request, Response

from ai_psychiatrist.api.authorization import PrincipalOf, requires
from ai_psychiatrist.api.dependencies import RecordsOf
from ai_psychiatrist.api.pages import message_page, redirect_to, render_page
from ai_psychiatrist.domain.access import Scope
from ai_psychiatrist.domain.errors import RequestConflict
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.reviews.agreed import agreed
from ai_psychiatrist.reviews.agreement_result import (
    AgreementSection,
    FigureResult,
    Intraclass,
)
from ai_psychiatrist.reviews.queue import queued

router = APIRouter(include_in_schema=False)

_MEASURES: Final = (
    ("kappa", "Weighted kappa"),
    ("alpha", "Alpha, ordinal"),
    ("exact", "Same answer"),
    ("span_characters", "Evidence, F1"),
    ("icc_2_1", "ICC(2,1), all items: of totals"),
)
_ALL_RATED: Final = "You have rated every assessment that there is."


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A figure as it is shown."""

    value: str
    interval: str
    """Its 95 % interval, where there is one, and on how many pairs it rests."""
    note: str
    """Of the note that says what is missing; empty where nothing is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementTable:
    """The figures over some of the cases."""

    title: str
    words: str
    section: AgreementSection
    rows: Mapping[str, tuple[Cell, ...]]
    """Item, or all of them → each measure twice: among people, and of people with the program."""
    notes: tuple[str, ...]
    """What is missing in some figures, in the order of their marks a, b, c."""


@router.get("/agreement", dependencies=[requires(Scope.READ)])
async def agreement_page(request: Request, records: RecordsOf, principal: PrincipalOf) -> Response:
    """Show how far people agree with one another, and with the program."""
    try:
        found = (await records.ask(lambda store: agreed(store, principal))).figures
    except RequestConflict as error:
        return await message_page(request, "Agreement", str(error), status=409)
    sections = (
        ("Rated blind", "Before any score was shown.", found.blind),
        ("Of these, drawn at random", "Not shifted to hard cases.", found.random_tenth),
        ("Rated with the scores seen", "No measure of agreement: people follow.", found.seen),
    )
    return await render_page(
        request,
        "agreement",
        found=found,
        measures=tuple(name for _, name in _MEASURES),
        tables=tuple(
            _table(title, words, section) for title, words, section in sections if section.cases
        ),
    )


@router.get("/next", dependencies=[requires(Scope.REVIEW)])
async def next_page(request: Request, records: RecordsOf, principal: PrincipalOf) -> Response:
    """Send a rater to what tells most when it is rated."""
    found = await records.ask(lambda store: queued(store, principal, limit=1))
    if not found.cases:
        return await message_page(request, "Nothing is left to rate", _ALL_RATED, status=200)
    return redirect_to(request, f"/assessments/{found.cases[0].summary.id}/rate")


def _table(title: str, words: str, section: AgreementSection) -> AgreementTable:
    people, program = section.raters, section.program
    named = [(item.label, people.items[item], program.items[item]) for item in Item]
    notes: dict[str, str] = {}
    rows = {
        name: tuple(
            _cell(getattr(figures, measure), notes) for measure, _ in _MEASURES for figures in both
        )
        for name, *both in (("All items", people.all_items, program.all_items), *named)
    }
    return AgreementTable(title=title, words=words, section=section, rows=rows, notes=tuple(notes))


def _cell(figure: FigureResult | Intraclass, notes: dict[str, str]) -> Cell:
    """Return a figure; why something of it is missing is said once below the table."""
    note = ""
    if figure.reason:
        note = notes.setdefault(figure.reason, ascii_lowercase[len(notes) % len(ascii_lowercase)])
    many = f"n {figure.subjects if isinstance(figure, Intraclass) else figure.n}"
    if figure.value is None:
        return Cell(value="–", interval=many, note=note)
    value = f"{figure.value:.2f}"
    if figure.interval is None:
        return Cell(value=value, interval=many, note=note)
    low, high = figure.interval
    return Cell(value=value, interval=f"{low:.2f} to {high:.2f}, {many}", note=note)
