"""A stored assessment with its scores, for whoever may have them."""

from ai_psychiatrist.domain.access import Principal
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.reviews.archive.archive import Archive
from ai_psychiatrist.reviews.archive.errors import RecordFailed, RecordRunning
from ai_psychiatrist.reviews.archive.records import Record
from ai_psychiatrist.reviews.archives import Records
from ai_psychiatrist.reviews.blindness import give_scores


async def scored(record_id: str, records: Records, principal: Principal) -> Record:
    """Return a record that has a result.

    Raises `RecordNotFound`, `StillBlind`, and `RecordRunning` or `RecordFailed` for one without.
    """

    def read(archive: Archive) -> Record:
        match archive.summary(record_id).state:
            case RecordState.WAITING | RecordState.RUNNING:
                raise RecordRunning
            case RecordState.FAILED | RecordState.CANCELLED:
                raise RecordFailed
            case RecordState.FINISHED:
                give_scores(archive, record_id, principal)
                return archive.get(record_id)

    return await records.ask(read)
