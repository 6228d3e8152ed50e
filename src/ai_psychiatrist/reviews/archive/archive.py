"""The stored assessments of one tenant: every change is one transaction."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Self

from ai_psychiatrist.domain.errors import (
    ConfigurationError,
)
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.ledger.keys.store_keys import StoreKeys
from ai_psychiatrist.reviews.archive.columns import summary_in
from ai_psychiatrist.reviews.archive.contents import transcript_in
from ai_psychiatrist.reviews.archive.erasing import Erasing
from ai_psychiatrist.reviews.archive.errors import archive_full
from ai_psychiatrist.reviews.archive.idempotency import Answered, IdempotencyKey, IdempotencyRows
from ai_psychiatrist.reviews.archive.job_lists import JobLists
from ai_psychiatrist.reviews.archive.job_rows import JobRows
from ai_psychiatrist.reviews.archive.jobs import NewJob
from ai_psychiatrist.reviews.archive.kept_calls import KeptCalls
from ai_psychiatrist.reviews.archive.opened_records import OpenedRecords
from ai_psychiatrist.reviews.archive.private_database import (
    PrivateDatabase,
    open_private,
)
from ai_psychiatrist.reviews.archive.record_lists import RecordLists
from ai_psychiatrist.reviews.archive.record_rows import RESULT, TRANSCRIPT, RecordRows
from ai_psychiatrist.reviews.archive.records import (
    NewRecord,
    Record,
    RecordSummary,
    StageEvent,
)
from ai_psychiatrist.reviews.archive.review_rows import ReviewRows
from ai_psychiatrist.reviews.archive.seals import Seals
from ai_psychiatrist.reviews.archive.stage_events import StageEvents
from ai_psychiatrist.reviews.archive.tables import RECORDS
from ai_psychiatrist.reviews.archive.tenant_keys import KEYS_NAME, TenantKeys

_FILE_NAME: Final = "assessments.sqlite"
_TRIES: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveLimits:
    """Bounds of what a tenant stores."""

    keep: timedelta = timedelta(days=365)
    """How long an assessment is kept after it was begun."""
    max_records: int = 100_000
    keep_keys: timedelta = timedelta(hours=25)
    """How long a key of a request is known after it came; a sweep comes each hour."""


class Archive:
    """Assessments at rest; any thread may call it, and any number of processes.

    Every method may raise `StoreUnusable`; those that read words, `ArtifactMismatch`; those that
    are given an id, `NotFound`.
    """

    def __init__(
        self,
        database: PrivateDatabase,
        keys: TenantKeys,
        tenant: str,
        *,
        limits: ArchiveLimits,
        clock: Callable[[], datetime],
    ) -> None:
        self._database = database
        self.keys = keys
        """What opens the words."""
        self._seals = Seals(keys=keys, tenant=tenant)
        self.lists = RecordLists(database=database)
        """Lines of many records, without their words."""
        self._rows = RecordRows(database=database, seals=self._seals)
        self._events = StageEvents(database=database)
        self.jobs = JobRows(database=database, rows=self._rows, events=self._events, now=self._now)
        """Those that are being made, or are to be."""
        self.job_lists = JobLists(database=database)
        """How far jobs are."""
        self.calls = KeptCalls(database=database, rows=self._rows)
        """The model calls of jobs that are under way."""
        self.idempotency = IdempotencyRows(database=database, now=self._now)
        """Which request came with which key."""
        self._erasing = Erasing(database=database, keys=keys, rows=self._rows, now=self._now)
        self.reviews = ReviewRows(database=database, rows=self._rows, now=self._now)
        """What raters said."""
        self.opened = OpenedRecords(database=database, keys=keys, rows=self._rows)
        """Everything that is stored, for another store."""
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
        if (folder / _FILE_NAME).exists() and not (folder / KEYS_NAME).exists():
            msg = f"{KEYS_NAME} is gone from {str(folder)!r}: put it back, or nothing can be read"
            raise ConfigurationError(msg)
        opened = TenantKeys.open(folder, keys, tenant)
        try:
            database = open_private(folder / _FILE_NAME, RECORDS)
        except BaseException:
            opened.close()
            raise
        opened.come_before(database)
        return cls(database, opened, tenant, limits=limits or ArchiveLimits(), clock=clock)

    def close(self) -> None:
        """Close the files."""
        self._database.close()
        self.keys.close()

    def events(self, record_id: str, *, after: int = 0) -> tuple[StageEvent, ...]:
        """Return the steps of a record after a number."""
        return self._events.of(record_id, after=after)

    def refuse_full(self, *, further: int = 1) -> None:
        """Raise `StoreUnusable` when there is no room for so many further records."""
        ((stored,),) = self._database.fetch("SELECT COUNT(*) FROM records")
        if stored + further > self._limits.max_records:
            raise archive_full()

    def add(self, new: NewRecord, *, key: IdempotencyKey | None = None) -> RecordSummary:
        """Store an assessment, the answer of a request with that key; raises `StoreUnusable`."""
        self.refuse_full()

        def write(subject_ids: Sequence[str]) -> None:
            self._rows.insert(new, subject_ids[0], now=self._now())
            if key is not None:
                self.idempotency.answer(key, Answered(record_id=new.id))

        self._add([new], write)
        return self.summary(new.id)

    def add_jobs(self, new: Sequence[NewJob], *, key: IdempotencyKey | None = None) -> None:
        """Store jobs that wait, all or none, the answer of a request with that key.

        Those of a batch name it. Raises `StoreUnusable`.
        """
        self.refuse_full(further=len(new))

        def write(subject_ids: Sequence[str]) -> None:
            for job, subject_id in zip(new, subject_ids, strict=True):
                self.jobs.insert(job, subject_id)
            if key is not None:
                batch_id = new[0].batch_id
                record_id = new[0].record.id if batch_id is None else None
                self.idempotency.answer(key, Answered(record_id=record_id, batch_id=batch_id))

        self._add([job.record for job in new], write)

    def _add(self, new: Sequence[NewRecord], write: Callable[[Sequence[str]], None]) -> None:
        now = self._now()
        for _ in range(_TRIES):
            with self.keys.still():
                subject_ids = [self.keys.subject(one.subject, now=now) for one in new]
            with self.keys.still():
                if self.keys.has_all(subject_ids):
                    with self._database.transaction():
                        write(subject_ids)
                    return
            # Erased in between: they are other subjects from now on.
        raise archive_full()

    def summary(self, record_id: str) -> RecordSummary:
        """Return what of a record stands in clear."""
        return summary_in(self._rows.row(record_id))

    def get(self, record_id: str) -> Record:
        """Return a record with its words."""
        summary = self.summary(record_id)
        result = b""
        with self._rows.readable(record_id):
            seal = self._seals.of(summary.subject_id)
            text = self._rows.take(record_id, TRANSCRIPT, seal)
            has_failed = summary.state is RecordState.FAILED
            if summary.state is RecordState.FINISHED or (
                has_failed and self._rows.has(record_id, RESULT)
            ):
                result = self._rows.take(record_id, RESULT, seal)
        return Record(summary=summary, result=result, transcript=transcript_in(text))

    def count_of(self, subject_id: str) -> int:
        """Return how many records of a subject are stored."""
        query = "SELECT COUNT(*) FROM records WHERE subject_id = ?"
        return int(self._database.fetch(query, (subject_id,))[0][0])

    def ids_of(self, subject_id: str) -> tuple[str, ...]:
        """Return the records of a subject that are stored."""
        query = "SELECT id FROM records WHERE subject_id = ?"
        return tuple(str(row[0]) for row in self._database.fetch(query, (subject_id,)))

    def erase(self, record_id: str) -> None:
        """Remove a record, and its subject's key with the last record of that subject."""
        self._erasing.erase(record_id)

    def erase_subject(self, subject_id: str) -> int:
        """Destroy a subject's key, then what it opened; returns how many records that were.

        What is in copies of the assessments' file cannot be read any more. Raises
        `NotFound`.
        """
        return self._erasing.erase_subject(subject_id)

    def sweep(self) -> int:
        """Remove what was kept as long as it may be, and what a broken erasing left."""
        now = self._clock()
        self.idempotency.sweep(_written(now - self._limits.keep_keys))
        return self._erasing.sweep(_written(now - self._limits.keep))

    def at_once(self) -> AbstractContextManager[None]:
        """Let nothing else happen to the records between what is done inside."""
        return self._database.transaction()

    def _now(self) -> str:
        return _written(self._clock())


def _written(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")
