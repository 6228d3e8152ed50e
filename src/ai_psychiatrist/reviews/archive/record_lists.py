"""Lines of many records at once; nothing is opened for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ai_psychiatrist.domain.review import ReviewPhase
from ai_psychiatrist.ledger.store.database import Row
from ai_psychiatrist.reviews.archive.columns import summary_in
from ai_psychiatrist.reviews.archive.pages import (
    CANDIDATES,
    Cursor,
    PageWanted,
    RecordPage,
    count_query,
    lines_query,
    page_query,
)
from ai_psychiatrist.reviews.archive.private_database import PrivateDatabase
from ai_psychiatrist.reviews.archive.records import ListedRecord
from ai_psychiatrist.reviews.queue import Candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordLists:
    """Those of a tenant."""

    database: PrivateDatabase

    def page(self, wanted: PageWanted) -> RecordPage:
        """Return a part of the list."""
        query, count = page_query(wanted), count_query(wanted)
        rows = self.database.fetch(query.text, query.values)
        ((total,),) = self.database.fetch(count.text, count.values)
        shown = rows[: wanted.limit]
        cursor = None
        if len(rows) > wanted.limit:
            last = shown[-1]
            cursor = Cursor(sort=wanted.sort, value=last["sort_key"], seq=last["seq"]).written()
        return RecordPage(records=tuple(map(_listed, shown)), next=cursor, total=total)

    def hidden(self, wanted: PageWanted) -> int:
        """Return of how many in the whole list no score is given."""
        count = count_query(wanted, only_hidden=True)
        ((hidden,),) = self.database.fetch(count.text, count.values)
        return int(hidden)

    def lines(self, record_ids: Sequence[str], rater: str) -> tuple[ListedRecord, ...]:
        """Return the lines of records in the order of their ids; what is gone has none."""
        query = lines_query(record_ids, rater)
        found = {row["id"]: row for row in self.database.fetch(query.text, query.values)}
        return tuple(_listed(found[one]) for one in record_ids if one in found)

    def candidates(self, rater: str) -> tuple[Candidate, ...]:
        """Return all finished records as the queue of a rater sees them."""
        rows = self.database.fetch(CANDIDATES, {"rater": rater})
        return tuple(
            Candidate(
                id=row["id"],
                created_at=datetime.fromisoformat(row["created_at"]),
                phase=ReviewPhase(row["mine"]),
                unknown_items=row["unknown_items"],
                width=row["width"],
            )
            for row in rows
        )


def _listed(row: Row) -> ListedRecord:
    return ListedRecord(
        summary=summary_in(row), phase=ReviewPhase(row["mine"]), is_hidden=bool(row["is_hidden"])
    )
