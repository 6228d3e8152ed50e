"""The stored assessments of one tenant: every change is one transaction."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Self

from ai_psychiatrist.domain.review import ReviewPhase, ReviewRow, Said
from ai_psychiatrist.ledger.keys.store_keys import StoreKeys
from ai_psychiatrist.ledger.store.database import Database, Row, Value
from ai_psychiatrist.reviews.archive.columns import columns_of, summary_in
from ai_psychiatrist.reviews.archive.contents import transcript_bytes, transcript_in
from ai_psychiatrist.reviews.archive.errors import (
    ArchiveFull,
    RecordNotFound,
    StillBlind,
    SubjectNotFound,
)
from ai_psychiatrist.reviews.archive.pages import (
    Cursor,
    PageWanted,
    RecordPage,
    count_query,
    page_query,
)
from ai_psychiatrist.reviews.archive.private_database import (
    empty_journal,
    open_private,
    translated,
)
from ai_psychiatrist.reviews.archive.records import (
    WHOLE,
    Figures,
    ListedRecord,
    NewRecord,
    Record,
    RecordState,
    RecordSummary,
    StageEvent,
)
from ai_psychiatrist.reviews.archive.review_rows import RatedRecord, ReviewRows
from ai_psychiatrist.reviews.archive.seals import Seals
from ai_psychiatrist.reviews.archive.tables import RECORDS
from ai_psychiatrist.reviews.archive.tenant_keys import TenantKeys

_FILE_NAME: Final = "assessments.sqlite"
_TRIES: Final = 3
_RESULT: Final = "result"
_TRANSCRIPT: Final = "transcript"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveLimits:
    """Bounds of what a tenant stores."""

    keep: timedelta = timedelta(days=365)
    """How long an assessment is kept after it was begun."""
    max_records: int = 100_000


class Archive:
    """Assessments at rest; any thread may call it, and any number of processes.

    Every method may raise `ArchiveUnusable`; those that read words, `RecordUnreadable`; those that
    are given an id, `RecordNotFound`.
    """

    def __init__(
        self,
        database: Database,
        keys: TenantKeys,
        tenant: str,
        *,
        limits: ArchiveLimits,
        clock: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._keys = keys
        self._seals = Seals(keys=keys, tenant=tenant)
        self._reviews = ReviewRows(database=database, seals=self._seals)
        self._limits = limits
        self._clock = clock

    @classmethod
    def open(
        cls,
        folder: Path,
        keys: StoreKeys,
        *,
        tenant: str,
        limits: ArchiveLimits | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> Self:
        """Open a tenant's files, and make them where there are none.

        Raises `ConfigurationError` when they cannot be made, others can read them, or they were
        written with another key.
        """
        # Its parents, too: without this they would take the rights that are usual.
        folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        opened = TenantKeys.open(folder, keys, tenant)
        try:
            database = open_private(folder / _FILE_NAME, RECORDS)
        except BaseException:
            opened.close()
            raise
        return cls(database, opened, tenant, limits=limits or ArchiveLimits(), clock=clock)

    def close(self) -> None:
        """Close the files."""
        with translated():
            self._database.close()
        self._keys.close()

    @property
    def keys(self) -> TenantKeys:
        """What opens the words."""
        return self._keys

    def refuse_full(self) -> None:
        """Raise `ArchiveFull` when there is no room for another record."""
        with translated():
            ((stored,),) = self._database.fetch("SELECT COUNT(*) FROM records")
        if stored >= self._limits.max_records:
            raise ArchiveFull

    def add(self, new: NewRecord, *, runner: str | None = None) -> RecordSummary:
        """Store an assessment, or one that a process is about to make: its runner.

        Raises `ArchiveFull`.
        """
        self.refuse_full()
        now = self._now()
        for _ in range(_TRIES):
            subject_id = self._keys.subject(new.subject, now=now)
            try:
                with self._keys.held(subject_id), self._transaction():
                    self._insert(new, subject_id, runner, now)
                return self.summary(new.id)
            except SubjectNotFound:
                # Erased in between: it is another subject from now on.
                continue
        raise ArchiveFull

    def finish(self, record_id: str, result: bytes, figures: Figures) -> None:
        """Give a record that was begun its result."""
        seal = self._seals.of(self._row(record_id)["subject_id"])
        sealed = seal.put(result, record_id, _RESULT)
        with self._transaction():
            self._row(record_id)
            self._put(record_id, _RESULT, sealed)
            columns = columns_of(figures) | {"state": RecordState.FINISHED.value, "runner": None}
            assigned = ", ".join(f"{name} = :{name}" for name in columns)
            self._database.execute(
                f"UPDATE records SET {assigned} WHERE id = :id",  # noqa: S608  our names
                columns | {"id": record_id},
            )
            self._tell(record_id, WHOLE, RecordState.FINISHED.value)

    def fail(self, record_id: str, reason: str) -> None:
        """Say why a record that was begun has no result; one that has an end keeps it."""
        with self._transaction():
            is_written = self._database.execute(
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
            return frozenset(str(row[0]) for row in self._database.fetch(query))

    def fail_all_of(self, runner: str, reason: str) -> int:
        """Say that a process is gone without having finished; returns how many it left."""
        query = "SELECT id FROM records WHERE state = 'running' AND runner = ?"
        with self._transaction():
            left = self._database.fetch(query, (runner,))
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
            rows = self._database.fetch(query, (record_id, after))
        return tuple(
            StageEvent(
                number=row["number"],
                at=datetime.fromisoformat(row["at"]),
                stage=row["stage"],
                outcome=row["outcome"],
            )
            for row in rows
        )

    def summary(self, record_id: str) -> RecordSummary:
        """Return what of a record stands in clear."""
        return summary_in(self._row(record_id))

    def get(self, record_id: str) -> Record:
        """Return a record with its words."""
        summary = self.summary(record_id)
        seal = self._seals.of(summary.subject_id)
        text = seal.take(self._taken(record_id, _TRANSCRIPT), record_id, _TRANSCRIPT)
        result = b""
        if summary.state is RecordState.FINISHED:
            result = seal.take(self._taken(record_id, _RESULT), record_id, _RESULT)
        return Record(
            id=record_id,
            created_at=summary.created_at,
            subject_id=summary.subject_id,
            summary=summary,
            result=result,
            transcript=transcript_in(text),
        )

    def count_of(self, subject_id: str) -> int:
        """Return how many records of a subject are stored."""
        query = "SELECT COUNT(*) FROM records WHERE subject_id = ?"
        with translated():
            return int(self._database.fetch(query, (subject_id,))[0][0])

    def page(self, wanted: PageWanted) -> RecordPage:
        """Return a part of the list; nothing is opened for it."""
        query, count = page_query(wanted), count_query(wanted)
        with translated():
            rows = self._database.fetch(query.text, query.values)
            ((total,),) = self._database.fetch(count.text, count.values)
        shown = rows[: wanted.limit]
        cursor = None
        if len(rows) > wanted.limit:
            last = shown[-1]
            cursor = Cursor(sort=wanted.sort, value=last["sort_key"], seq=last["seq"]).written()
        return RecordPage(records=tuple(map(_listed, shown)), next=cursor, total=total)

    def delete(self, record_id: str) -> None:
        """Remove a record, and its subject's key with the last record of that subject."""
        with self._keys.still():
            with self._transaction():
                subject_id = self._row(record_id)["subject_id"]
                self._database.execute("DELETE FROM records WHERE id = ?", (record_id,))
            self._forget_unused({subject_id})
        self._wipe()

    def erase_subject(self, subject_id: str) -> int:
        """Destroy a subject's key, then what it opened; returns how many records that were.

        What is in copies of the assessments' file cannot be read any more. Raises
        `SubjectNotFound`.
        """
        if not self._keys.forget(subject_id):
            raise SubjectNotFound
        self._keys.wipe()
        with self._transaction():
            removed = self._remove_erased(subject_id)
        self._wipe()
        return removed

    def sweep(self) -> int:
        """Remove what was kept as long as it may be, and what a broken erasing left."""
        oldest = _written(self._clock() - self._limits.keep)
        with self._keys.still():
            with self._transaction():
                query = "SELECT DISTINCT subject_id FROM records WHERE created_at <= ?"
                expired = {str(row[0]) for row in self._database.fetch(query, (oldest,))}
                removed = self._database.execute(
                    "DELETE FROM records WHERE created_at <= ?", (oldest,)
                )
                known = self._keys.ids()
                rows = self._database.fetch("SELECT DISTINCT subject_id FROM records")
                for subject_id in {str(row[0]) for row in rows} - known:
                    removed += self._remove_erased(subject_id)
            self._forget_unused(expired)
        self._wipe()
        return removed

    def standing(self, record_id: str, rater: str) -> ReviewPhase:
        """Return how far a rater is with a record."""
        with translated():
            return self._reviews.standing(record_id, rater)

    def is_begun(self, record_id: str, rater: str) -> bool:
        """Return whether a rater has begun to review a record."""
        with translated():
            return self._reviews.is_begun(record_id, rater)

    def give_scores(self, record_id: str, rater: str, hidden: frozenset[ReviewPhase]) -> None:
        """Keep in mind that a rater is given scores; raises `StillBlind` where they are hidden."""
        with self._transaction():
            standing = self._reviews.standing(record_id, rater)
            if standing in hidden:
                raise StillBlind
            if standing is ReviewPhase.UNSEEN:
                self._reviews.note_shown(record_id, rater)

    def note_shown(self, rater: str, record_ids: Iterable[str]) -> None:
        """Keep in mind that a rater was given scores of these records."""
        given = tuple(record_ids)
        if given:
            with self._transaction():
                for record_id in given:
                    self._reviews.note_shown(record_id, rater)

    def note_all_shown(self, rater: str) -> None:
        """Keep in mind that a rater was told of the scores of all that are not begun."""
        with self._transaction():
            self._reviews.note_all_shown(rater)

    def begin_review(self, record_id: str, rater: str) -> ReviewPhase:
        """Begin a rater's review, once: blind, or seen where scores were given before."""
        with self._transaction():
            return self._reviews.begin(record_id, rater, self._now())

    def append(self, record_id: str, rater: str, said: Said) -> ReviewRow:
        """Add what a rater says; raises `AlreadyCommitted`, `NotCommitted` and `ReviewNotBegun`."""
        seal = self._seals.of(self._row(record_id)["subject_id"])
        with self._transaction():
            return self._reviews.append(record_id, rater, said=said, seal=seal, now=self._now())

    def rows(self, record_id: str) -> tuple[ReviewRow, ...]:
        """Return all that was said of a record, whoever said it."""
        with translated():
            self._row(record_id)
            return self._reviews.of(record_id)

    def reviews_begun(self, rater: str) -> int:
        """Return how many reviews a rater has begun, committed or not."""
        with translated():
            return self._reviews.begun(rater)

    def reviews_mark(self) -> str:
        """Return a text that is another one after any review was added or removed."""
        with translated():
            return self._reviews.mark()

    def all_rows(self) -> tuple[RatedRecord, ...]:
        """Return all that was said of all records."""
        with translated():
            return self._reviews.all()

    def _insert(self, new: NewRecord, subject_id: str, runner: str | None, now: str) -> None:
        state = RecordState.RUNNING if new.result is None else RecordState.FINISHED
        row = columns_of(new.figures) | {
            "id": new.id,
            "subject_id": subject_id,
            "created_at": now,
            "state": state.value,
            "runner": runner,
        }
        places = ", ".join(f":{name}" for name in row)
        self._database.execute(
            f"INSERT INTO records ({', '.join(row)}) VALUES ({places})",  # noqa: S608  our names
            row,
        )
        seal = self._seals.of(subject_id)
        parts = {_TRANSCRIPT: transcript_bytes(new.transcript), _RESULT: new.result}
        for part, content in parts.items():
            if content is not None:
                self._put(new.id, part, seal.put(content, new.id, part))

    def _put(self, record_id: str, part: str, sealed: bytes) -> None:
        self._database.execute("INSERT INTO bodies VALUES (?, ?, ?)", (record_id, part, sealed))

    def _taken(self, record_id: str, part: str) -> Value:
        query = "SELECT body FROM bodies WHERE record_id = ? AND part = ?"
        with translated():
            rows = self._database.fetch(query, (record_id, part))
        body: Value = rows[0]["body"] if rows else None
        return body

    def _tell(self, record_id: str, stage: str, outcome: str) -> None:
        self._database.execute(
            "INSERT INTO events SELECT id, 1 + (SELECT COUNT(*) FROM events WHERE record_id ="
            " records.id), ?, ?, ? FROM records WHERE id = ?",
            (self._now(), stage, outcome, record_id),
        )

    def _row(self, record_id: str) -> Row:
        with translated():
            rows = self._database.fetch("SELECT * FROM records WHERE id = ?", (record_id,))
        if not rows:
            raise RecordNotFound
        return rows[0]

    def _remove_erased(self, subject_id: str) -> int:
        removed = self._database.execute("DELETE FROM records WHERE subject_id = ?", (subject_id,))
        self._database.execute(
            "INSERT INTO erased VALUES (?, ?, ?)"
            " ON CONFLICT (subject_id) DO UPDATE SET records = records + excluded.records",
            (subject_id, self._now(), removed),
        )
        return removed

    def _forget_unused(self, subject_ids: set[str]) -> None:
        for subject_id in subject_ids:
            query = "SELECT 1 FROM records WHERE subject_id = ? LIMIT 1"
            if not self._database.fetch(query, (subject_id,)):
                self._keys.forget(subject_id)

    def _wipe(self) -> None:
        empty_journal(self._database)
        self._keys.wipe()

    def _now(self) -> str:
        return _written(self._clock())

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with translated(), self._database.transaction():
            yield


def _written(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")


def _listed(row: Row) -> ListedRecord:
    return ListedRecord(
        summary=summary_in(row), mine=ReviewPhase(row["mine"]), is_hidden=bool(row["is_hidden"])
    )
