"""What one tenant stores, assessments and interviews: every change is one transaction."""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import select

from ai_psychiatrist.domain.errors import ConfigurationError, RequestConflict
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.store.acknowledgement_rows import AcknowledgementRows
from ai_psychiatrist.store.cipher import StoreKeys
from ai_psychiatrist.store.contents import transcript_in
from ai_psychiatrist.store.database import (
    Database,
    StoreLimits,
    TenantDatabase,
    own,
    utc_now,
    written,
)
from ai_psychiatrist.store.deliveries import DeliveryRows
from ai_psychiatrist.store.errors import store_full
from ai_psychiatrist.store.idempotency import Answered, IdempotencyKey, IdempotencyRows
from ai_psychiatrist.store.interviews import InterviewRows
from ai_psychiatrist.store.job_rows import JobRows
from ai_psychiatrist.store.jobs import NewJob
from ai_psychiatrist.store.key_schema import tenant_keys
from ai_psychiatrist.store.keys import TenantKeys
from ai_psychiatrist.store.listing import RecordLists
from ai_psychiatrist.store.moving import OpenedRecords
from ai_psychiatrist.store.opening import KEYS_NAME
from ai_psychiatrist.store.person_names import PersonNames, person_names
from ai_psychiatrist.store.records import (
    RESULT,
    TRANSCRIPT,
    NewRecord,
    Record,
    RecordRows,
    RecordSummary,
    summary_in,
)
from ai_psychiatrist.store.removal import Removal, Swept
from ai_psychiatrist.store.review_rows import ReviewRows
from ai_psychiatrist.store.schema import bodies, interviews, records
from ai_psychiatrist.store.tenant_runs import TenantRuns

_TRIES: Final = 3


class Store:
    """Assessments at rest; any thread may call it, and any number of processes.

    Every method may raise `StoreUnusable`; those that read words, `ArtifactMismatch`; those that
    are given an id, `NotFound`.
    """

    def __init__(
        self,
        database: Database,
        keys: StoreKeys,
        tenant: str,
        *,
        limits: StoreLimits | None = None,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        """Make a key of the tenant where there is none.

        Raises `ConfigurationError` where no key of the installation opens what is stored.
        """
        self.database = TenantDatabase(database, tenant, limits or StoreLimits(), clock)
        """Transactions of the tenant, and how much it stores."""
        self._trusts_clock = self.database.limits.sweep_after_jump
        self.database.open()
        # The key last: a process that starts at the same time writes it before any words.
        *has_words, has_key = (
            self.database.one(select(table.c.tenant).where(own(table))) is not None
            for table in (records, interviews, tenant_keys)
        )
        if not has_key and any(has_words):
            msg = f"{KEYS_NAME} has no keys of {tenant!r}: put it back, or nothing can be read"
            raise ConfigurationError(msg)
        self.keys = TenantKeys(self.database, keys)
        """What opens the words."""
        self._rows = RecordRows(database=self.database, keys=self.keys)
        self.lists = RecordLists(database=self.database)
        """Lines of many records, without their words."""
        self.deliveries = DeliveryRows(database=self.database, keys=self.keys)
        """Webhooks of jobs, and of interviews that are held."""
        self.jobs = JobRows(database=self.database, rows=self._rows, deliveries=self.deliveries)
        """Those that are being made, or are to be, with their steps and model calls."""
        self.idempotency = IdempotencyRows(database=self.database)
        """Which request came with which key."""
        self.reviews = ReviewRows(database=self.database, rows=self._rows)
        """What raters said."""
        self.acknowledgements = AcknowledgementRows(
            database=self.database, rows=self._rows, deliveries=self.deliveries
        )
        """Who has read statements of danger."""
        self.interviews = InterviewRows(
            database=self.database, keys=self.keys, deliveries=self.deliveries
        )
        """Interviews, from their first question to their report."""
        self.runs = TenantRuns(database=self.database, keys=self.keys)
        """Runs of datasets in PostgreSQL, and their units in the queue."""
        self.removal = Removal(
            database=self.database, keys=self.keys, jobs=self.jobs, interviews=self.interviews
        )
        """What is erased, and what is hidden and removed because it was kept long enough."""
        self.opened = OpenedRecords(database=self.database, rows=self._rows, queued=self.jobs)
        """Everything that is stored, for another store."""

    def refuse_full(self, *, further: int = 1) -> None:
        """Raise `StoreUnusable` when there is no room for so many further records."""
        stored = self.database.count(select(records.c.seq).where(own(records)))
        if stored + further > self.database.limits.max_records:
            raise store_full()
        self.database.require_room(further)

    def refuse_taken(self, subjects: Sequence[str | None], *, is_batch: bool = False) -> None:
        """Raise `RequestConflict` for a study id of another assessment, where ids are unique.

        `subjects`: of assessments that are to be stored together, `None` for one without. An
        assessment that failed or was cancelled takes no id. The error names the assessment that
        does, and of a batch the place of the request that is refused.
        """
        if not self.database.limits.unique_subjects:
            return
        seen: dict[bytes, int] = {}
        for place, name in enumerate(subjects):
            if name is None:
                continue
            subject_id = self.keys.find(name)
            taken_by = None if subject_id is None else self.lists.one_of_subject(subject_id)
            first = seen.setdefault(self.keys.digest(name), place)
            if taken_by is None and first == place:
                continue
            other = f"assessment {taken_by}" if taken_by else f"requests.{first} of this batch"
            msg = (
                f"{other} has this study id already: send another study id, or erase that "
                "assessment first; with STORE_UNIQUE_SUBJECTS=false an id may have several"
            )
            field = f"requests.{place}.subject" if is_batch else "subject"
            raise RequestConflict("subject_taken", msg, field=field)

    def add(self, new: NewRecord) -> RecordSummary:
        """Store an assessment; raises `StoreUnusable`."""
        self._add([new])
        return self.summary(new.id)

    def add_jobs(
        self,
        new: Sequence[NewJob],
        *,
        key: IdempotencyKey | None = None,
        runner: str | None = None,
    ) -> None:
        """Store jobs that wait, all or none, the answer of a request with that key.

        Those of a batch name it. `runner`: the process that does them at once. Raises
        `StoreUnusable`.
        """
        first = new[0]
        record_id = first.record.id if first.batch_id is None else None
        self._add(new, key, Answered(record_id=record_id, batch_id=first.batch_id), runner)

    def _add(
        self,
        new: Sequence[NewRecord | NewJob],
        key: IdempotencyKey | None = None,
        answered: Answered | None = None,
        runner: str | None = None,
    ) -> None:
        names = [one.record.subject if isinstance(one, NewJob) else one.subject for one in new]
        is_batch = answered is not None and answered.batch_id is not None
        for _ in range(_TRIES):
            self.refuse_full(further=len(new))
            self.refuse_taken(names, is_batch=is_batch)
            # Keys first: a power cut may leave behind either of SQLite's two files.
            with self.database.writing():
                subject_ids = list(map(self.keys.subject, names))
            with self.database.writing():
                if self.keys.has_all(subject_ids):
                    # Somebody else may have stored one of these since.
                    self.refuse_taken(names, is_batch=is_batch)
                    numbers = self.database.numbers("last_record", len(new))
                    for one, subject_id, seq in zip(new, subject_ids, numbers, strict=True):
                        if isinstance(one, NewJob):
                            self.jobs.insert(one, subject_id, seq=seq, runner=runner)
                        else:
                            self._rows.insert(one, subject_id, seq=seq)
                    if key is not None and answered is not None:
                        self.idempotency.answer(key, answered)
                    self.database.require_room()
                    return
            # Erased in between: they are other subjects from now on.
        raise store_full()

    def summary(self, record_id: str) -> RecordSummary:
        """Return what of a record stands in clear."""
        return summary_in(self._rows.row(record_id))

    def subject_of(self, record_id: str) -> str | None:
        """Return the study id of a record, `None` without one or where it cannot be read."""
        subject_id = self.summary(record_id).subject_id
        return self.keys.names([subject_id]).get(subject_id)

    def person_names(self, people: Collection[str] | None = None) -> PersonNames:
        """Return what the people are called who rate, adjudicate and confirm.

        `people`: those who are named, `None` for any; where nobody is, nothing is read.
        """
        return person_names(self.database, people)

    def get(self, record_id: str) -> Record:
        """Return a record with its words."""
        summary = self.summary(record_id)
        with self._rows.opening(record_id) as seal:
            found = self.database.all(select(bodies).where(own(bodies, record_id=record_id)))
            parts = {row.part: row for row in found}
            text = seal.opened(bodies, parts.get(TRANSCRIPT))
            result = b""
            if RESULT in parts or summary.state is RecordState.FINISHED:
                result = seal.opened(bodies, parts.get(RESULT))
        return Record(summary=summary, result=result, transcript=transcript_in(text))

    def sweep(
        self, *, after_jump: bool = False, announce: Callable[[], None] = lambda: None
    ) -> Swept:
        """Hide what was kept as long as it may be, and remove what was hidden as long.

        What a broken erasing left is removed as well. Nothing is done while the clock is not to be
        trusted. `after_jump`: the clock is right, an operator says so. `announce`: called before
        anything is hidden or removed; where it raises, nothing is.
        """
        now = self.database.clock()
        if after_jump or self._trusts_clock:
            self._trusts_clock = False
            self.removal.trust_clock()
        fault = self.removal.clock_fault()
        if fault is not None:
            return Swept(clock_fault=fault)
        swept = self.removal.sweep(now, announce)
        self.idempotency.sweep(written(now - self.database.limits.keep_keys))
        self.deliveries.sweep(written(now - self.database.limits.keep_deliveries))
        return swept
