"""What is removed, and how nothing of it is left: keys before rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.ledger.store.private_database import empty_journal
from ai_psychiatrist.reviews.archive.private_database import PrivateDatabase
from ai_psychiatrist.reviews.archive.record_rows import RecordRows
from ai_psychiatrist.reviews.archive.tenant_keys import TenantKeys

_BROKEN_OFF: Final = """
    SELECT subject_id FROM erased WHERE subject_id IN (SELECT subject_id FROM records)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasing:
    """Removes records of a tenant; every step can break off and is gone on with later."""

    database: PrivateDatabase
    keys: TenantKeys
    rows: RecordRows
    now: Callable[[], str]

    def erase(self, record_id: str) -> None:
        """Remove a record, and its subject's key with the last record of that subject."""
        with self.keys.still():
            with self.database.transaction():
                subject_id = self.rows.row(record_id)["subject_id"]
                self.database.execute("DELETE FROM records WHERE id = ?", (record_id,))
            self._forget_unused({subject_id})
        self._wipe()

    def erase_subject(self, subject_id: str) -> int:
        """Destroy a subject's key, then what it opened; returns how many records that were.

        What is in copies of the assessments' file cannot be read any more. Raises
        `NotFound`.
        """
        with self.keys.held(subject_id), self.database.transaction():
            # First, so that an erasing which breaks off is gone on with by the next sweep.
            self.database.execute(
                "INSERT OR IGNORE INTO erased VALUES (?, ?, 0)", (subject_id, self.now())
            )
        return self._go_on_erasing(subject_id)

    def sweep(self, oldest: str) -> int:
        """Remove what was begun then or before, and what a broken erasing left."""
        with self.keys.still():
            with self.database.transaction():
                query = "SELECT DISTINCT subject_id FROM records WHERE created_at <= ?"
                expired = {str(row[0]) for row in self.database.fetch(query, (oldest,))}
                removed = self.database.execute(
                    "DELETE FROM records WHERE created_at <= ?", (oldest,)
                )
            self._forget_unused(expired)
        self._wipe()
        broken_off = self.database.fetch(_BROKEN_OFF)
        return removed + sum(self._go_on_erasing(str(row[0])) for row in broken_off)

    def _go_on_erasing(self, subject_id: str) -> int:
        self.keys.forget(subject_id)
        self.keys.wipe()
        with self.database.transaction():
            removed = self.database.execute(
                "DELETE FROM records WHERE subject_id = ?", (subject_id,)
            )
            self.database.execute(
                "UPDATE erased SET records = records + ? WHERE subject_id = ?",
                (removed, subject_id),
            )
        self._wipe()
        return removed

    def _forget_unused(self, subject_ids: set[str]) -> None:
        for subject_id in subject_ids:
            query = "SELECT 1 FROM records WHERE subject_id = ? LIMIT 1"
            if not self.database.fetch(query, (subject_id,)):
                self.keys.forget(subject_id)

    def _wipe(self) -> None:
        empty_journal(self.database)
        self.keys.wipe()
