"""How far jobs are, one or many at once; nothing is opened for them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from ai_psychiatrist.domain.errors import NotFound
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.ledger.store.database import Row, Value
from ai_psychiatrist.reviews.archive.jobs import JobPage, JobSummary, JobsWanted
from ai_psychiatrist.reviews.archive.pages import Cursor, Sort, read_cursor
from ai_psychiatrist.reviews.archive.private_database import PrivateDatabase

_LEVELS: Final = tuple(RiskLevel)
_POSITION: Final = """
    CASE WHEN state = 'waiting' THEN (
        SELECT COUNT(*) FROM records AS before
        WHERE before.state = 'waiting' AND before.seq <= records.seq
    ) END AS position
"""
_JOBS: Final = f"SELECT records.*, jobs.*, {_POSITION} FROM records"  # noqa: S608  our names
_ONE: Final = f"{_JOBS} LEFT JOIN jobs ON record_id = id WHERE id = ?"
_PAGE: Final = f"{_JOBS} JOIN jobs ON record_id = id WHERE "
_COUNTS: Final = """
    SELECT state, COUNT(*) FROM jobs JOIN records ON id = record_id WHERE batch_id = ?
    GROUP BY state
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLists:
    """Those of a tenant."""

    database: PrivateDatabase

    def one(self, record_id: str) -> JobSummary:
        """Return how far a record is, also one that nobody waits for; raises `NotFound`."""
        rows = self.database.fetch(_ONE, (record_id,))
        if not rows:
            raise NotFound("assessment_not_found")
        return _summary(rows[0])

    def page(self, wanted: JobsWanted) -> JobPage:
        """Return a part of the list."""
        text, values = _query(wanted)
        rows = self.database.fetch(text, values)
        shown = rows[: wanted.limit]
        cursor = None
        if len(rows) > wanted.limit:
            cursor = Cursor(sort=Sort.CREATED, value=0, seq=shown[-1]["seq"]).written()
        return JobPage(jobs=tuple(map(_summary, shown)), next=cursor)

    def counts(self, batch_id: str) -> dict[RecordState, int]:
        """Return how many jobs of a batch are how far; raises `NotFound`.

        What was erased since is not counted.
        """
        found = {
            RecordState(state): int(count)
            for state, count in self.database.fetch(_COUNTS, (batch_id,))
        }
        if not found:
            raise NotFound("batch_not_found")
        return {state: found.get(state, 0) for state in RecordState}


def _query(wanted: JobsWanted) -> tuple[str, Mapping[str, Value]]:
    values: dict[str, Value] = {"lines": wanted.limit + 1}
    conditions = ["1"]
    is_batch = wanted.batch_id is not None
    if is_batch:
        conditions.append("batch_id = :batch_id")
        values["batch_id"] = wanted.batch_id
    if wanted.state is not None:
        conditions.append("state = :state")
        values["state"] = wanted.state.value
    if wanted.cursor is not None:
        conditions.append(f"seq {'>' if is_batch else '<'} :after")
        values["after"] = read_cursor(wanted.cursor, Sort.CREATED).seq
    order = "seq" if is_batch else "seq DESC"
    return f"{_PAGE}{' AND '.join(conditions)} ORDER BY {order} LIMIT :lines", values


def _summary(row: Row) -> JobSummary:
    return JobSummary(
        job_id=row["id"],
        created_at=datetime.fromisoformat(row["created_at"]),
        state=RecordState(row["state"]),
        reason=row["reason"],
        danger=None if row["danger"] is None else _LEVELS[row["danger"]],
        position=row["position"],
        batch_id=row["batch_id"],
        place=row["place"],
        ended_at=None if row["ended_at"] is None else datetime.fromisoformat(row["ended_at"]),
    )
