"""Records that are being made: how far they are, who makes them, and how they end."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from ai_psychiatrist.ledger.store.database import Database
from ai_psychiatrist.reviews.archive.columns import columns_of
from ai_psychiatrist.reviews.archive.private_database import translated
from ai_psychiatrist.reviews.archive.record_rows import RESULT, RecordRows
from ai_psychiatrist.reviews.archive.records import WHOLE, Figures, RecordState, StageEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningRecords:
    """Those of a tenant; every change is one transaction."""

    database: Database
    rows: RecordRows
    now: Callable[[], str]

    def finish(self, record_id: str, result: bytes, figures: Figures) -> None:
        """Give a record that was begun its result."""
        seal = self.rows.seals.of(self.rows.row(record_id)["subject_id"])
        sealed = seal.put(result, record_id, RESULT)
        with self._transaction():
            self.rows.row(record_id)
            self.rows.put(record_id, RESULT, sealed)
            columns = columns_of(figures) | {"state": RecordState.FINISHED.value, "runner": None}
            assigned = ", ".join(f"{name} = :{name}" for name in columns)
            self.database.execute(
                f"UPDATE records SET {assigned} WHERE id = :id",  # noqa: S608  our names
                columns | {"id": record_id},
            )
            self._tell(record_id, WHOLE, RecordState.FINISHED.value)

    def fail(self, record_id: str, reason: str) -> None:
        """Say why a record that was begun has no result; one that has an end keeps it."""
        with self._transaction():
            is_written = self.database.execute(
                "UPDATE records SET state = 'failed', reason = ?, runner = NULL"
                " WHERE id = ? AND state = 'running'",
                (reason, record_id),
            )
            if is_written:
                self._tell(record_id, WHOLE, RecordState.FAILED.value)

    def runners(self) -> frozenset[str]:
        """Return the processes that say they are making a record."""
        query = "SELECT DISTINCT runner FROM records WHERE state = 'running'"
        with translated():
            return frozenset(str(row[0]) for row in self.database.fetch(query))

    def fail_all_of(self, runner: str, reason: str) -> int:
        """Say that a process is gone without having finished; returns how many it left."""
        query = "SELECT id FROM records WHERE state = 'running' AND runner = ?"
        with self._transaction():
            left = self.database.fetch(query, (runner,))
            for (record_id,) in left:
                self.fail(record_id, reason)
        return len(left)

    def tell(self, record_id: str, stage: str, outcome: str) -> None:
        """Add a step to what is told of a record; one that is deleted takes none."""
        with self._transaction():
            self._tell(record_id, stage, outcome)

    def events(self, record_id: str, *, after: int = 0) -> tuple[StageEvent, ...]:
        """Return the steps of a record after a number."""
        query = "SELECT * FROM events WHERE record_id = ? AND number > ? ORDER BY number"
        with translated():
            rows = self.database.fetch(query, (record_id, after))
        return tuple(
            StageEvent(
                number=row["number"],
                at=datetime.fromisoformat(row["at"]),
                stage=row["stage"],
                outcome=row["outcome"],
            )
            for row in rows
        )

    def _tell(self, record_id: str, stage: str, outcome: str) -> None:
        self.database.execute(
            "INSERT INTO events SELECT id, 1 + (SELECT COUNT(*) FROM events WHERE record_id ="
            " records.id), ?, ?, ? FROM records WHERE id = ?",
            (self.now(), stage, outcome, record_id),
        )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with translated(), self.database.transaction():
            yield
