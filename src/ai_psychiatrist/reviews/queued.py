"""The queue of somebody, over what is stored."""

from ai_psychiatrist.domain.access import Principal
from ai_psychiatrist.reviews.archive.archive import Archive
from ai_psychiatrist.reviews.archive.pages import PageWanted
from ai_psychiatrist.reviews.archive.records import ListedRecord, RecordState
from ai_psychiatrist.reviews.queue import Candidate, queue

_ALL = 1_000_000


def queued(archive: Archive, principal: Principal) -> tuple[ListedRecord, ...]:
    """Return all finished assessments that somebody has not rated, the next one first."""
    wanted = PageWanted(rater=principal.id, limit=_ALL, state=RecordState.FINISHED)
    listed = {one.summary.id: one for one in archive.page(wanted).records}
    order = queue([_candidate(one) for one in listed.values()], seed=principal.tenant)
    return tuple(listed[one.id] for one in order)


def _candidate(one: ListedRecord) -> Candidate:
    summary = one.summary
    return Candidate(
        id=summary.id,
        created_at=summary.created_at,
        phase=one.phase,
        unknown_items=summary.figures.unknown_items,
        width=summary.figures.width,
    )
