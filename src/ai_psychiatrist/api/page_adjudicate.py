"""The page on which raters' differences are decided, and ratings side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fastapi import APIRouter, Request, Response

from ai_psychiatrist.api.authorization import PrincipalOf, requires
from ai_psychiatrist.api.dependencies import RecordId, RecordsOf
from ai_psychiatrist.api.pages import (
    message_page,
    no_assessment_page,
    redirect_to,
    render_page,
)
from ai_psychiatrist.api.records import RESULT_READERS, view_of
from ai_psychiatrist.domain.access import Principal, Scope
from ai_psychiatrist.domain.errors import NotFound, RequestConflict
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.review import (
    ChangedScore,
    Committed,
    ItemRating,
    ReviewPhase,
    ReviewRow,
)
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.results.page.views import (
    TAGS,
    CardView,
    DangerView,
    RaterMark,
    SheetView,
    danger_view,
    slug_of,
)
from ai_psychiatrist.results.page.words import ITEM_QUESTIONS
from ai_psychiatrist.reviews.adjudication import (
    differing,
    gold_of,
    rows_to_adjudicate,
    to_adjudicate,
)
from ai_psychiatrist.reviews.ratings import committed_of
from ai_psychiatrist.store.person_names import PersonNames
from ai_psychiatrist.store.records import Record
from ai_psychiatrist.store.store import Store

router = APIRouter(prefix="/assessments", include_in_schema=False)

_SAVED = "Saved: every item has its gold score."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rated:
    """What the page shows of a record."""

    record: Record
    rows: tuple[ReviewRow, ...]
    names: PersonNames
    """Of the raters."""
    to_adjudicate: tuple[str, ...]
    """Other assessments on which raters differ, without gold scores."""
    subject: str | None = field(repr=False)
    """The study id."""


@router.get("/{assessment_id}/adjudicate", dependencies=[requires(Scope.ADMIN)])
async def adjudicate(
    assessment_id: RecordId, request: Request, records: RecordsOf, principal: PrincipalOf
) -> Response:
    """Show what raters committed side by side, to decide gold scores where they differ."""

    def read(store: Store) -> _Rated:
        rows = rows_to_adjudicate(store, assessment_id, principal)
        others = (one for one in to_adjudicate(store, principal) if one != assessment_id)
        return _Rated(
            record=store.get(assessment_id),
            names=store.person_names({row.rater for row in rows}),
            rows=rows,
            subject=store.subject_of(assessment_id),
            to_adjudicate=tuple(others),
        )

    try:
        found = await records.ask(read)
    except NotFound:
        return await no_assessment_page(request)
    except RequestConflict as error:
        if error.problem_code == "still_blind":
            return redirect_to(request, f"/assessments/{assessment_id}/rate")
        return await message_page(request, "Adjudicate", str(error), status=409)

    def read_ratings() -> tuple[DangerView, tuple[RaterColumn, ...]]:
        view, transcript = view_of(found.record), found.record.transcript
        ratings = ratings_view(view, found.rows, principal, found.names, transcript)
        marks = [card for one in ratings for cards in one.marks.values() for card in cards]
        seconds = view.result.transcript.turn_seconds
        danger = danger_view(view.result.risk, transcript, evidence=marks, seconds=seconds)
        return danger, ratings

    danger, ratings = await RESULT_READERS.run(read_ratings)
    gold = gold_of(found.rows)
    return await render_page(
        request,
        "adjudicate",
        done=_SAVED if gold and "saved" in request.query_params else "",
        id=assessment_id,
        subject=found.subject,
        created_at=found.record.summary.created_at,
        danger=danger,
        questions=ITEM_QUESTIONS,
        ratings=ratings,
        differing=differing(found.rows),
        to_adjudicate=found.to_adjudicate,
        gold={one.item: one for one in gold.items} if gold else {},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemScore:
    """What a rater says of an item."""

    words: str
    differs: bool
    """From what the program says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterColumn:
    """The ratings of one rater, side by side with those of others."""

    name: str
    is_blind: bool
    scores: Mapping[Item, ItemScore]
    marks: Mapping[Item, Sequence[CardView]] = field(default_factory=dict)
    """The words that the rater marked; empty where they are not asked for, and of gold scores."""


def ratings_view(
    view: SheetView,
    rows: Sequence[ReviewRow],
    principal: Principal,
    names: PersonNames,
    transcript: Transcript | None = None,
) -> tuple[RaterColumn, ...]:
    """Return the ratings that the caller may see, one's own first; with a transcript, marks too."""
    program = {one.item: None if one.found is None else one.found.score for one in view.items}
    changed = {
        (row.rater, row.said.item): row.said.score
        for row in rows
        if isinstance(row.said, ChangedScore)
    }

    def score(rater: str, first: ItemRating) -> ItemScore:
        words = _words(first.score)
        if (rater, first.item) in changed:
            words = f"{words}, now {_words(changed[rater, first.item])}"
        return ItemScore(words=words, differs=first.score != program[first.item])

    committed = {name: one for name, one in committed_of(rows).items() if one.has_scores}
    columns = tuple(
        RaterColumn(
            name="You" if rater == principal.id else names.shown(rater),
            is_blind=said.phase is ReviewPhase.BLIND,
            scores={one.item: score(rater, one) for one in said.items},
            marks={} if transcript is None else _marks(said, transcript, number),
        )
        for number, (rater, said) in enumerate(
            sorted(committed.items(), key=lambda one: one[0] != principal.id), start=1
        )
    )
    gold = gold_of(rows)
    if gold is None:
        return columns
    decided = {one.item: ItemScore(words=_words(one.score), differs=False) for one in gold.items}
    return (*columns, RaterColumn(name="Gold", is_blind=True, scores=decided))


def _marks(said: Committed, transcript: Transcript, number: int) -> dict[Item, list[CardView]]:
    """Return what a rater marked, for the column of this number, from 1."""
    found: dict[Item, list[CardView]] = {}
    for one in said.items:
        slug = slug_of(one.item)
        marks = (
            RaterMark(
                turn=turn.index,
                start=span.start,
                end=span.end,
                text=transcript.text[span.start : span.end],
            )
            for span in one.evidence
            for turn in transcript.turns
            if turn.words_start <= span.start < turn.end
        )
        found[one.item] = [
            CardView(
                anchor=f"rater-{number}-{slug}-{place}",
                slug=slug,
                tag=f"{TAGS[one.item]}, {number}",
                said=mark,
            )
            for place, mark in enumerate(marks, start=1)
        ]
    return found


def _words(score: int | None) -> str:
    return "cannot tell" if score is None else str(score)
