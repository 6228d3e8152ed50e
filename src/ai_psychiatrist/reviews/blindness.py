"""Who is given scores, and who judges without them: the one place where that is decided."""

from typing import Final

from ai_psychiatrist.domain.access import LOCAL, Principal, Scope
from ai_psychiatrist.domain.review import ReviewPhase, ReviewRow
from ai_psychiatrist.store.listing import RecordListRequest, RecordPage
from ai_psychiatrist.store.store import Store

_WHILE_RATING: Final = frozenset({ReviewPhase.BLIND})
_BEFORE_RATING: Final = frozenset({ReviewPhase.UNSEEN, ReviewPhase.BLIND, ReviewPhase.SEEN})


def hidden_phases(principal: Principal, *, stays_blind: bool = False) -> frozenset[ReviewPhase]:
    """Return the review phases in which a caller receives no scores.

    `stays_blind`: asked for by whoever wants to rate later, so that a list tells no scores of what
    they have not rated yet. Signs of danger are never hidden.
    """
    if Scope.READ not in principal.scopes:
        return _BEFORE_RATING
    return _WHILE_RATING | {ReviewPhase.UNSEEN} if stays_blind else _WHILE_RATING


def give_scores(store: Store, record_id: str, principal: Principal) -> None:
    """Record that a caller receives scores from now on; raises `RequestConflict`.

    Whatever tells scores, evidence or narrative of a record calls it first.
    """
    store.reviews.give_scores(record_id, principal.id, hidden_phases(principal))


def name_late(store: Store, principal: Principal) -> None:
    """Record that a caller, who gave no name before, receives what callers without one received.

    Which of them it was is not known, so that all scores that any of them received count.
    """
    store.reviews.pass_on(LOCAL.id, principal.id)


def list_for(store: Store, wanted: RecordListRequest) -> RecordPage:
    """Return a page of the list; a caller who receives scores in it is no blind rater later.

    A list that is sorted or filtered by scores tells of those that are not in it as well.
    """
    # At once: a review that begins in between would be blind beside a list with its scores.
    with store.database.writing():
        page = store.lists.page(wanted)
        if wanted.is_steered_by_scores and ReviewPhase.UNSEEN not in wanted.hidden:
            store.reviews.note_all_shown(wanted.rater)
        else:
            store.reviews.note_shown(wanted.rater, _given_first(page))
    return page


def _given_first(page: RecordPage) -> tuple[str, ...]:
    """Return the records whose scores a list gives to a caller for the first time."""
    return tuple(
        line.summary.id
        for line in page.records
        if line.phase is ReviewPhase.UNSEEN
        and not line.is_hidden
        and line.summary.figures.status is not None
    )


def visible_rows(store: Store, record_id: str, rater: str) -> tuple[ReviewRow, ...]:
    """Return a rater's own rows, and after they commit those of other raters."""
    rows = store.reviews.of(record_id)
    if store.reviews.standing(record_id, rater) is ReviewPhase.REVEALED:
        return rows
    return tuple(row for row in rows if row.rater == rater)


def is_rater(store: Store, principal: Principal) -> bool:
    """Return whether figures could reveal cases that the caller still rates blind.

    Whoever only reads, or looks after the installation, rates when a review of theirs has begun.
    """
    if store.reviews.begun(principal.id) > 0:
        return True
    return Scope.REVIEW in principal.scopes and Scope.ADMIN not in principal.scopes


def is_asked_first(principal: Principal) -> bool:
    """Return whether a caller who may rate has to ask before pages show scores.

    Whoever works alone on a machine of their own has not.
    """
    return Scope.REVIEW in principal.scopes and principal.id != LOCAL.id
