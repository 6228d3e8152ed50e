"""A rater's queue of chosen assessments, which stands in the address of each page on its way."""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Self
from urllib.parse import urlencode
from uuid import UUID

from fastapi import Request

from ai_psychiatrist.domain.access import Principal
from ai_psychiatrist.domain.errors import NotFound
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.domain.review import ReviewPhase
from ai_psychiatrist.reviews.queue import queue
from ai_psychiatrist.store.listing import RecordListRequest
from ai_psychiatrist.store.store import Store

MOST_IN_QUEUE: Final = 100
"""Assessments: an address of more would be too long for some proxies."""
LIST_FILTERS: Final = frozenset({"danger", "unread", "state", "rated", "subject_id"})
"""Filters of the list by which no score chooses what is rated, as its address names them."""
_NAME: Final = "queue"
_ID_BYTES: Final = 16
_ANY_MANY: Final = 100_000
"""Lines of a list, as good as all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingQueue:
    """Assessments to be rated one after another, by random ids that say nothing of anybody."""

    ids: tuple[str, ...] = ()
    """Empty: there is no such queue, and the usual one counts."""

    @classmethod
    def of(cls, request: Request) -> Self:
        """Return the queue in the address of a page; what cannot be read is none."""
        given = request.query_params.get(_NAME, "")
        try:
            content = urlsafe_b64decode(given + "=" * (-len(given) % 4))
        except (ValueError, binascii.Error):
            return cls()
        places = range(0, len(content), _ID_BYTES)
        if len(content) % _ID_BYTES or len(places) > MOST_IN_QUEUE:
            return cls()
        return cls(ids=tuple(str(UUID(bytes=content[at : at + _ID_BYTES])) for at in places))

    @classmethod
    def to_rate(cls, ids: Iterable[str]) -> Self:
        """Return a queue of assessments in their order, the first of them where there are more."""
        return cls(ids=tuple(ids)[:MOST_IN_QUEUE])

    @property
    def query(self) -> str:
        """The end of an address that keeps the queue; empty without one."""
        if not self.ids:
            return ""
        content = b"".join(UUID(one).bytes for one in self.ids)
        return f"?{urlencode({_NAME: urlsafe_b64encode(content).decode().rstrip('=')})}"

    def number(self, record_id: str) -> int | None:
        """Return which case of the queue an assessment is, from 1; `None` for another one."""
        return self.ids.index(record_id) + 1 if record_id in self.ids else None

    def next_in(self, store: Store, principal: Principal) -> str | None:
        """Return the first assessment that the rater has not rated, `None` where none is left.

        One that was erased in the meantime, or has no result, is passed over.
        """
        return next((one for one in self.ids if _is_to_rate(store, one, principal)), None)


def _is_to_rate(store: Store, record_id: str, principal: Principal) -> bool:
    try:
        is_finished = store.summary(record_id).state is RecordState.FINISHED
        phase = store.reviews.standing(record_id, principal.id)
    except NotFound:
        return False
    return is_finished and phase is not ReviewPhase.REVEALED


def filtered_queue(store: Store, principal: Principal, wanted: RecordListRequest) -> RatingQueue:
    """Return what a rater has still to rate of a list, the most informative one first.

    Scores that the rater has not seen choose nothing: a filter by scores finds none of these.
    """
    if wanted.state not in {None, RecordState.FINISHED}:
        return RatingQueue()
    hidden = frozenset(ReviewPhase) - {ReviewPhase.REVEALED}
    page = store.lists.page(replace(wanted, limit=_ANY_MANY, cursor=None, hidden=hidden))
    listed = {line.summary.id for line in page.records}
    in_order: Sequence[str] = [
        case.summary.id for case in queue(store.lists.finished(principal.id), seed=principal.tenant)
    ]
    return RatingQueue.to_rate(one for one in in_order if one in listed)
