"""What raters gave, beside what the program gave."""

from collections.abc import Sequence
from dataclasses import dataclass

from ai_psychiatrist.domain.access import Principal
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.review import ChangedScore, Committed, ReviewPhase, ReviewRow
from ai_psychiatrist.results.page.views import ItemView, SheetView


@dataclass(frozen=True, slots=True, kw_only=True)
class Rater:
    """One rater's column."""

    name: str
    is_blind: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenScore:
    """What a rater says of an item."""

    words: str
    differs: bool
    """From what the program says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingRow:
    """One item, as everybody scored it."""

    slug: str
    label: str
    program: str
    given: tuple[GivenScore, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingsView:
    """The ratings of an assessment, side by side."""

    raters: tuple[Rater, ...]
    rows: tuple[RatingRow, ...]


def ratings_view(
    view: SheetView, rows: Sequence[ReviewRow], principal: Principal
) -> RatingsView | None:
    """Return the ratings that the caller may see, one's own first; `None` where there are none."""
    committed = {row.rater: row.said for row in rows if isinstance(row.said, Committed)}
    if not committed:
        return None
    raters = sorted(committed, key=lambda rater: rater != principal.id)
    changed = {
        (row.rater, row.said.item): row.said.score
        for row in rows
        if isinstance(row.said, ChangedScore)
    }
    return RatingsView(
        raters=tuple(
            Rater(
                name="You" if rater == principal.id else rater.partition(":")[2] or rater,
                is_blind=committed[rater].phase is ReviewPhase.BLIND,
            )
            for rater in raters
        ),
        rows=tuple(_row(item, raters, committed, changed) for item in view.items),
    )


def _row(
    item: ItemView,
    raters: Sequence[str],
    committed: dict[str, Committed],
    changed: dict[tuple[str, Item], int | None],
) -> RatingRow:
    own = None if item.found is None else item.found.score
    return RatingRow(
        slug=item.slug,
        label=item.label,
        program="unknown" if own is None else str(own),
        given=tuple(_given(rater, item.item, committed[rater], changed, own) for rater in raters),
    )


def _given(
    rater: str,
    item: Item,
    committed: Committed,
    changed: dict[tuple[str, Item], int | None],
    program: int | None,
) -> GivenScore:
    first = next(one.score for one in committed.items if one.item is item)
    words = _words(first)
    if (rater, item) in changed:
        words = f"{words}, now {_words(changed[rater, item])}"
    return GivenScore(words=words, differs=first != program)


def _words(score: int | None) -> str:
    return "cannot tell" if score is None else str(score)
