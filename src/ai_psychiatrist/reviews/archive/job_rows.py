"""The jobs of a tenant: taken by one process at a time, ended once, gone on with where one died."""

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from ai_psychiatrist.domain.errors import RequestConflict
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.ledger.store.database import Row
from ai_psychiatrist.reviews.archive.columns import columns_of
from ai_psychiatrist.reviews.archive.contents import transcript_in
from ai_psychiatrist.reviews.archive.jobs import (
    DANGER,
    GIVEN_UP,
    MOST_TAKEN,
    EndedJob,
    LeftByFailure,
    NewJob,
    TakenJob,
)
from ai_psychiatrist.reviews.archive.private_database import PrivateDatabase
from ai_psychiatrist.reviews.archive.record_rows import (
    NOT_ERASED,
    REQUEST,
    RESULT,
    TRANSCRIPT,
    RecordRows,
)
from ai_psychiatrist.reviews.archive.records import WHOLE, Figures
from ai_psychiatrist.reviews.archive.stage_events import StageEvents

_TAKE: Final = """
    UPDATE records SET state = 'running', runner = :runner WHERE id = :id AND state = 'waiting'
"""
_PUT_BACK: Final = """
    UPDATE records SET state = 'waiting', runner = NULL
    WHERE id = :id AND state = 'running' AND runner = :runner
"""
_LEFT_BY: Final = """
    SELECT id, created_at, taken FROM records JOIN jobs ON record_id = id
    WHERE state = 'running' AND runner = ?
"""
_WAITING: Final = (
    "SELECT id, COALESCE(asked_by, '') FROM records LEFT JOIN jobs ON record_id = id"  # noqa: S608
    f" WHERE state = 'waiting' AND {NOT_ERASED} ORDER BY seq LIMIT ?"
)
_IS_RUN_BY: Final = (
    "SELECT 1 FROM records WHERE id = ? AND state = 'running' AND runner = ?"  # noqa: S608  our names
    f" AND {NOT_ERASED}"
)
_MOST_WAITING: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRows:
    """Those of a tenant; every change is one transaction."""

    database: PrivateDatabase
    rows: RecordRows
    events: StageEvents
    now: Callable[[], str]

    def insert(self, new: NewJob, subject_id: str) -> None:
        """Write a job that waits, inside the archive's transaction."""
        now, record_id = self.now(), new.record.id
        self.rows.insert(new.record, subject_id, now=now)
        self.database.execute(
            "INSERT INTO jobs (record_id, asked_by, batch_id, place) VALUES (?, ?, ?, ?)",
            (record_id, new.asked_by, new.batch_id, new.place),
        )
        seal = self.rows.seals.of(subject_id)
        self.rows.put(record_id, REQUEST, seal.put(new.request, record_id, REQUEST))
        self.events.tell(record_id, WHOLE, RecordState.WAITING.value, now=now)
        if new.record.figures.danger is not None:
            self.events.tell(record_id, DANGER, new.record.figures.danger.value, now=now)

    def take(self, record_id: str, runner: str) -> TakenJob | RecordState:
        """Take a job that waits, or return how far it is.

        Raises `NotFound`, and `ArtifactMismatch` once it is taken.
        """
        row = self.rows.row(record_id)
        with self.database.transaction():
            if not self.database.execute(_TAKE, {"id": record_id, "runner": runner}):
                return RecordState(self.rows.row(record_id)["state"])
            self.database.execute(
                "UPDATE jobs SET taken = taken + 1 WHERE record_id = ?", (record_id,)
            )
            self._tell(record_id, "begun")
        with self.rows.readable(record_id):
            seal = self.rows.seals.of(row["subject_id"])
            return TakenJob(
                id=record_id,
                transcript=transcript_in(self.rows.take(record_id, TRANSCRIPT, seal)),
                request=self.rows.take(record_id, REQUEST, seal),
            )

    def is_run_by(self, record_id: str, runner: str) -> bool:
        """Return whether a job is still that process's: not cancelled, and not erased."""
        return bool(self.database.fetch(_IS_RUN_BY, (record_id, runner)))

    def put_back(self, record_id: str, runner: str) -> None:
        """Let a job wait again that its process has to leave; it counts as never taken."""
        with self.database.transaction():
            if self.database.execute(_PUT_BACK, {"id": record_id, "runner": runner}):
                self.database.execute(
                    "UPDATE jobs SET taken = taken - 1 WHERE record_id = ?", (record_id,)
                )

    def finish(
        self, record_id: str, runner: str, result: bytes, figures: Figures
    ) -> EndedJob | None:
        """Give a job its result; `None` where it was this process's no more, and has none of it."""
        row = self.rows.row(record_id)
        sealed = self.rows.seal_of(record_id).put(result, record_id, RESULT)
        with self.database.transaction():
            if not self.is_run_by(record_id, runner):
                return None
            self.rows.put(record_id, RESULT, sealed)
            columns = columns_of(figures)
            assigned = ", ".join(f"{name} = :{name}" for name in columns)
            self.database.execute(
                f"UPDATE records SET {assigned} WHERE id = :id",  # noqa: S608  our names
                columns | {"id": record_id},
            )
            return self._end(row, RecordState.FINISHED)

    def fail(
        self, record_id: str, runner: str, reason: str, left: LeftByFailure | None = None
    ) -> EndedJob | None:
        """Say why a job has no result; `None` where it was this process's no more."""
        # Before the transaction: keys are always taken first.
        seal = None if left is None else self.rows.seal_of(record_id)
        with self.database.transaction():
            if not self.is_run_by(record_id, runner):
                return None
            if left is not None and seal is not None:
                self.rows.put(record_id, RESULT, seal.put(left.account, record_id, RESULT))
                change = "UPDATE records SET danger = ? WHERE id = ?"
                self.database.execute(change, (left.danger.rank, record_id))
            return self._end(self.rows.row(record_id), RecordState.FAILED, reason)

    def request(self, record_id: str) -> bytes:
        """Return how a job was to be made; raises `ArtifactMismatch`."""
        with self.rows.readable(record_id):
            return self.rows.take(record_id, REQUEST, self.rows.seal_of(record_id))

    def cancel(self, record_id: str) -> EndedJob | None:
        """End a job; `None` where that was done before.

        Raises `RequestConflict` for one that has ended.
        """
        with self.database.transaction():
            row = self.rows.row(record_id)
            match RecordState(row["state"]):
                case RecordState.CANCELLED:
                    return None
                case RecordState.WAITING | RecordState.RUNNING:
                    return self._end(row, RecordState.CANCELLED)
                case _:
                    raise RequestConflict("job_over")

    def waiting(self) -> dict[str, str]:
        """Return jobs that wait, the oldest first, and who asked for each."""
        rows = self.database.fetch(_WAITING, (_MOST_WAITING,))
        return {str(record_id): str(asked_by) for record_id, asked_by in rows}

    def runners(self) -> frozenset[str]:
        """Return the processes that say they are doing a job."""
        query = "SELECT DISTINCT runner FROM records WHERE state = 'running'"
        return frozenset(str(row[0]) for row in self.database.fetch(query))

    def take_from(self, runner: str, *, but: Container[str] = ()) -> tuple[EndedJob, ...]:
        """Let wait again what a process left, all `but` what it still does.

        Returns those that were given up instead, because their process died each time.
        """
        given_up: list[EndedJob] = []
        with self.database.transaction():
            for row in self._left_by(runner, but):
                if row["taken"] >= MOST_TAKEN:
                    given_up.append(self._end(row, RecordState.FAILED, GIVEN_UP))
                else:
                    self.database.execute(_PUT_BACK, {"id": row["id"], "runner": runner})
        return tuple(given_up)

    def tell(self, record_id: str, stage: str, outcome: str) -> None:
        """Tell of a step."""
        with self.database.transaction():
            self.events.tell(record_id, stage, outcome, now=self.now())

    def _left_by(self, runner: str, but: Container[str]) -> Sequence[Row]:
        return [row for row in self.database.fetch(_LEFT_BY, (runner,)) if row["id"] not in but]

    def _end(self, row: Row, state: RecordState, reason: str | None = None) -> EndedJob:
        record_id, now = str(row["id"]), self.now()
        self.database.execute(
            "UPDATE records SET state = ?, reason = ?, runner = NULL WHERE id = ?",
            (state.value, reason, record_id),
        )
        self.database.execute("UPDATE jobs SET ended_at = ? WHERE record_id = ?", (now, record_id))
        # Nobody goes on with it any more.
        self.database.execute("DELETE FROM calls WHERE record_id = ?", (record_id,))
        self.events.tell(record_id, WHOLE, state.value, now=now)
        return EndedJob(
            id=record_id,
            state=state,
            reason=reason,
            created_at=datetime.fromisoformat(row["created_at"]),
            ended_at=datetime.fromisoformat(now),
        )

    def _tell(self, record_id: str, outcome: str) -> None:
        self.events.tell(record_id, WHOLE, outcome, now=self.now())
