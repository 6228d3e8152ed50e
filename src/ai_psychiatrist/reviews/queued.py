"""The queue of somebody, over what is stored."""

from dataclasses import dataclass

from ai_psychiatrist.domain.access import Principal
from ai_psychiatrist.reviews.queue import queue
from ai_psychiatrist.store.records import ListedRecord
from ai_psychiatrist.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """The beginning of a queue."""

    cases: tuple[ListedRecord, ...]
    waiting: int
    """How many there are in all."""


def queued(store: Store, principal: Principal, *, limit: int) -> Queued:
    """Return the first finished assessments that somebody has not rated, the next one first."""
    order = queue(store.lists.finished(principal.id), seed=principal.tenant)
    return Queued(cases=order[:limit], waiting=len(order))
