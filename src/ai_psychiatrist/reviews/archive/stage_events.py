"""The steps of records that are being made, as they are told to whoever follows."""

from dataclasses import dataclass

from ai_psychiatrist.reviews.archive.private_database import PrivateDatabase
from ai_psychiatrist.reviews.archive.records import StageEvent

_TELL = """
    INSERT INTO events
    SELECT id, 1 + (SELECT COUNT(*) FROM events WHERE record_id = records.id), :at, :stage, :outcome
    FROM records WHERE id = :id AND NOT EXISTS (
        SELECT 1 FROM events WHERE record_id = :id AND stage = :stage AND outcome = :outcome
    )
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageEvents:
    """Those of a tenant."""

    database: PrivateDatabase

    def tell(self, record_id: str, stage: str, outcome: str, *, now: str) -> None:
        """Add a step, inside the archive's transaction; a record that is deleted takes none.

        A step that was told is not told again: who goes on with what was broken off does it anew.
        """
        self.database.execute(
            _TELL, {"id": record_id, "at": now, "stage": stage, "outcome": outcome}
        )

    def of(self, record_id: str, *, after: int = 0) -> tuple[StageEvent, ...]:
        """Return the steps of a record after a number."""
        query = "SELECT * FROM events WHERE record_id = ? AND number > ? ORDER BY number"
        rows = self.database.fetch(query, (record_id, after))
        return tuple(
            StageEvent(number=row["number"], stage=row["stage"], outcome=row["outcome"])
            for row in rows
        )
