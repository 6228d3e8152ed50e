"""Gold scores: what is decided where raters differ, by an adjudicator who gives the reasons."""

from collections.abc import Iterable, Mapping, Sequence

from ai_psychiatrist.domain.access import Principal
from ai_psychiatrist.domain.errors import ArtifactMismatch, InputError, NotFound, RequestConflict
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.review import Adjudicated, GoldRating, ReviewPhase, ReviewRow
from ai_psychiatrist.reviews.blindness import give_scores
from ai_psychiatrist.reviews.ratings import committed_of
from ai_psychiatrist.store.store import Store

Scores = Mapping[Item, int | None]


def rows_to_adjudicate(store: Store, record_id: str, principal: Principal) -> tuple[ReviewRow, ...]:
    """Return all that raters said of a record to an adjudicator, who has seen its scores then.

    The caller makes sure of the scope `admin`. Raises `RequestConflict` while the adjudicator
    rates the record blind, and where fewer than two raters have committed scores.
    """
    rows = store.reviews.of(record_id)
    if len(committed_scores(rows)) < 2:
        raise RequestConflict("too_few_raters")
    give_scores(store, record_id, principal)
    return rows


def to_adjudicate(store: Store, principal: Principal) -> tuple[str, ...]:
    """Return the records on which raters differ and that have no gold scores, the oldest first.

    Without those that the adjudicator rates blind, and those that cannot be read. The caller makes
    sure of the scope `admin`.
    """
    rated = [
        one.summary.id
        for one in store.lists.finished(principal.id)
        if one.summary.raters > 1 and one.phase is not ReviewPhase.BLIND
    ]
    return tuple(one for one in rated if _is_open(store, one))


def _is_open(store: Store, record_id: str) -> bool:
    try:
        rows = store.reviews.of(record_id)
    except (NotFound, ArtifactMismatch):
        return False
    return gold_of(rows) is None and bool(differing(rows))


def adjudicate(
    store: Store, record_id: str, principal: Principal, decided: Iterable[GoldRating]
) -> ReviewRow:
    """Add gold scores of a record; those that were added last count.

    `decided`: of items without one of which all raters say the same, that is taken. Raises as
    `rows_to_adjudicate`, and `InputError` for an item that is decided against a rater without a
    reason, or on which raters differ and nothing is decided.
    """
    scores = committed_scores(rows_to_adjudicate(store, record_id, principal))
    given = {one.item: one for one in decided}
    items = tuple(_gold(item, list(scores.values()), given.get(item)) for item in Item)
    said = Adjudicated(items=items, raters=tuple(scores))
    return store.reviews.append(record_id, principal.id, said)


def committed_scores(rows: Iterable[ReviewRow]) -> dict[str, Scores]:
    """Return the scores that each rater committed."""
    return {
        rater: {one.item: one.score for one in said.items}
        for rater, said in committed_of(rows).items()
        if said.has_scores
    }


def differing(rows: Iterable[ReviewRow]) -> frozenset[Item]:
    """Return the items that raters scored differently, "cannot tell" counted as an answer."""
    scores = committed_scores(rows).values()
    return frozenset(item for item in Item if len({one[item] for one in scores}) > 1)


def gold_of(rows: Iterable[ReviewRow]) -> Adjudicated | None:
    """Return the gold scores that count."""
    found = [row.said for row in rows if isinstance(row.said, Adjudicated)]
    return found[-1] if found else None


def _gold(item: Item, scores: Sequence[Scores], decided: GoldRating | None) -> GoldRating:
    given = {one[item] for one in scores}
    if decided is None:
        if len(given) > 1:
            msg = f"{item.value}: the raters differ; give a gold score and its reason"
            raise InputError(msg, field="items")
        return GoldRating(item=item, score=given.pop())
    if given != {decided.score} and not decided.reason.strip():
        msg = f"{item.value}: a rater says something else; give the reason of the gold score"
        raise InputError(msg, field="items")
    return decided
