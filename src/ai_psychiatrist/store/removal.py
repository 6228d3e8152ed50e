"""What is removed, and how nothing of it is left: keys before rows.

What is erased goes at once. What was kept as long as it may be is hidden first, and removed after a
grace: it counts as gone, but its key is there and brings it back. A wrong clock must not destroy
anything, so nothing is swept while the clock does not fit what was stored, and few rows at a time.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import pairwise
from typing import Final

from sqlalchemy import ColumnElement, Table, and_, case, delete, not_, select, union, update

from ai_psychiatrist.domain.errors import NotFound
from ai_psychiatrist.store.access_rows import links_to
from ai_psychiatrist.store.database import TenantDatabase, own, written
from ai_psychiatrist.store.interviews import InterviewRows, id_hash
from ai_psychiatrist.store.job_rows import JobRows
from ai_psychiatrist.store.key_schema import subjects
from ai_psychiatrist.store.keys import TenantKeys
from ai_psychiatrist.store.records import IS_KEPT, NOT_ERASED
from ai_psychiatrist.store.schema import erased, interviews, records, run_files, tenants

MOST_SWEPT: Final = 1_000
"""Assessments, or interviews, that one sweep hides or removes."""
LONGEST_SILENCE: Final = timedelta(days=7)
"""For how long nothing may have been stored or swept: after more the clock may have jumped."""
_DRIFT: Final = timedelta(hours=1)
"""By how much the clocks of several machines may differ."""
_UNUSED: Final = timedelta(hours=1)
"""A younger key that opens nothing may be that of a record which is just being stored."""
_IDS: Final[Mapping[Table, ColumnElement[str]]] = {
    records: records.c.id,
    interviews: interviews.c.id_hash,
}
_HAS_RECORD: Final = (
    select(records.c.id)
    .where(own(records), records.c.id == interviews.c.record_id, IS_KEPT)
    .exists()
)
"""Whether the assessment that an interview is about is kept."""


class ClockFault(StrEnum):
    """Why the clock of the machine is not trusted."""

    BEHIND = "the clock shows an earlier time than what was stored or swept last"
    AHEAD = "the clock is more than 7 days after what was stored or swept last"


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What a sweep did."""

    assessments: int = 0
    """How many it removed."""
    interviews: int = 0
    """How many it removed."""
    hidden_assessments: int = 0
    hidden_interviews: int = 0
    clock_fault: ClockFault | None = None
    """Why it did nothing."""

    @property
    def counts(self) -> dict[str, int]:
        """What was done to how many, without what was done to none."""
        found = {
            "records_hidden": self.hidden_assessments,
            "interviews_hidden": self.hidden_interviews,
            "records_removed": self.assessments,
            "interviews_expired": self.interviews,
        }
        return {event: count for event, count in found.items() if count}


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """Of a tenant's assessments and interviews.

    Every change is one transaction; what breaks off between two is gone on with later.
    """

    database: TenantDatabase
    keys: TenantKeys = field(repr=False)
    jobs: JobRows
    interviews: InterviewRows

    def erase(self, record_id: str) -> None:
        """Remove a record, hidden or not, and its subject's key with the last of that subject.

        The interviews about it go as well.
        """
        stored = own(records, id=record_id)
        self._delete_interviews(records.c.id == record_id)
        with self.database.writing():
            row = self.database.one(select(records.c.subject_id).where(stored, NOT_ERASED))
            if row is None:
                raise NotFound("assessment_not_found")
            self.database.run(delete(records).where(stored))
            self._forget_unused(subjects.c.id == row.subject_id)
        self.keys.wipe()

    def erase_subject(self, subject_id: str) -> int:
        """Destroy a subject's key, then what it opened; returns how many records that were.

        What is in copies of the rows cannot be read any more. Raises `NotFound`.
        """
        self._delete_interviews(records.c.subject_id == subject_id)
        with self.database.writing():
            if not self.keys.has_all([subject_id]):
                raise NotFound("subject_not_found")
            # First, so that an erasing which breaks off is gone on with by the next sweep.
            if self.database.one(select(erased).where(own(erased, subject_id=subject_id))) is None:
                begun = {"subject_id": subject_id, "erased_at": self.database.now()}
                self.database.add(erased, {**begun, "records": 0})
        return self._go_on_erasing(subject_id)

    def clock_fault(self) -> ClockFault | None:
        """Return what is wrong with the clock, by all that was stored since the last sweep.

        No two of these moments, the last sweep and now may lie further apart than
        `LONGEST_SILENCE`: so rows that were stored after a jump do not vouch for it.
        """
        now = self.database.clock()
        last = select(tenants.c.last_sweep).where(own(tenants))
        since = (
            select(table.c.kept_from).where(own(table), table.c.kept_from > last.scalar_subquery())
            for table in _IDS
        )
        found = self.database.all(union(last, *since))
        moments = [*sorted(datetime.fromisoformat(row.last_sweep) for row in found), now]
        if now < max(moments) - _DRIFT:
            return ClockFault.BEHIND
        if any(later - earlier > LONGEST_SILENCE for earlier, later in pairwise(moments)):
            return ClockFault.AHEAD
        return None

    def trust_clock(self) -> None:
        """Take the clock for right; what a wrong one has stored in the future is kept from now."""
        now = self.database.now()
        with self.database.writing():
            for table in _IDS:
                in_future = update(table).where(own(table), table.c.kept_from > now)
                self.database.run(in_future, kept_from=now)
            self._note_sweep(now)

    def sweep(self, now: datetime, announce: Callable[[], None]) -> Swept:
        """Hide what was kept as long as it may be, and remove what was hidden as long.

        What a broken erasing left is removed as well. `announce`: called before anything is hidden
        or removed; where it raises, nothing is.
        """
        limits, swept_at = self.database.limits, written(now)
        before = written(now - limits.grace)
        is_too_old = {
            records: records.c.kept_from <= written(now - limits.keep),
            # One about an assessment is part of it, and goes with it.
            interviews: case(
                (
                    interviews.c.record_id.is_(None),
                    interviews.c.kept_from <= written(now - limits.keep_interviews),
                ),
                else_=not_(_HAS_RECORD),
            ),
        }
        due = {table: own(table, swept_at=None) & one for table, one in is_too_old.items()}
        over = {table: own(table) & (table.c.swept_at <= before) for table in _IDS}
        anything = (select(_IDS[table]).where(due[table] | over[table]) for table in _IDS)
        if any(self.database.one(query.limit(1)) is not None for query in anything):
            announce()
        hidden, removed = dict.fromkeys(_IDS, 0), dict.fromkeys(_IDS, 0)
        with self.database.writing():
            self._note_sweep(swept_at)
            for table, identity in _IDS.items():
                first = select(identity).where(due[table]).order_by(table.c.kept_from)
                which = own(table) & identity.in_(first.limit(MOST_SWEPT))
                hidden[table] = self.database.run(update(table).where(which), swept_at=swept_at)
            self.jobs.leave_hidden()
        with self.database.writing():
            for table, identity in _IDS.items():
                columns = select(identity.label("id"), table.c.subject_id).where(over[table])
                rows = self.database.all(columns.order_by(table.c.swept_at).limit(MOST_SWEPT))
                ids = [row.id for row in rows]
                which = own(table) & identity.in_(ids)
                removed[table] = self.database.run(delete(table).where(which))
                if table is interviews:
                    self.database.run(links_to(ids))
                self._forget_unused(subjects.c.id.in_({row.subject_id for row in rows}))
        return Swept(
            assessments=removed[records] + self._finish_erasing(before=now - _UNUSED),
            interviews=removed[interviews],
            hidden_assessments=hidden[records],
            hidden_interviews=hidden[interviews],
        )

    def undelete(self, given: str) -> int:
        """Bring back an assessment or an interview that was hidden, to be kept from now on.

        With an assessment the interviews about it come back. Returns how many that were; raises
        `NotFound` where there is none of this id, or its key is gone.
        """
        is_meant = {
            records: records.c.id == given,
            interviews: (interviews.c.id_hash == id_hash(given))
            | (interviews.c.record_id == given),
        }
        found = self._bring_back(lambda table: is_meant[table])
        if not found:
            raise NotFound("assessment_not_found")
        return found

    def undelete_since(self, since: datetime) -> int:
        """Bring back what was hidden since a moment; returns how many assessments and interviews.

        What its key does not open any more stays hidden.
        """
        return self._bring_back(lambda table: table.c.swept_at >= written(since))

    def hidden(self) -> int:
        """Return how many assessments and interviews are hidden."""
        is_hidden = ((table, table.c.swept_at.is_not(None)) for table in _IDS)
        counted = (select(_IDS[table]).where(own(table), one) for table, one in is_hidden)
        return sum(map(self.database.count, counted))

    def _finish_erasing(self, *, before: datetime) -> int:
        """Remove what a broken erasing left, and return how many records that were.

        Keys that were made at `before` or earlier and open nothing go as well.
        """
        with self.database.writing():
            self._forget_unused(subjects.c.created_at <= written(before))
        self.keys.wipe()
        has_records = _has_rows(records, erased.c.subject_id)
        broken_off = self.database.all(select(erased).where(own(erased), has_records))
        return sum(self._go_on_erasing(str(row.subject_id)) for row in broken_off)

    def _note_sweep(self, now: str) -> None:
        self.database.run(update(tenants).where(own(tenants)), last_sweep=now)

    def _bring_back(self, which: Callable[[Table], ColumnElement[bool]]) -> int:
        kept = {"swept_at": None, "kept_from": self.database.now()}
        has_key = select(subjects.c.id).where(own(subjects))
        with self.database.writing():
            # What was read of all reviews before does not fit any more.
            self.database.numbers("last_review")
            hidden = (
                and_(own(table), table.c.swept_at.is_not(None), table.c.subject_id.in_(has_key))
                for table in _IDS
            )
            found = sum(
                self.database.run(update(table).where(one, which(table)), **kept)
                for table, one in zip(_IDS, hidden, strict=True)
            )
            self.jobs.take_up_hidden()
        return found

    def _delete_interviews(self, which: ColumnElement[bool]) -> None:
        """Remove the interviews about some records."""
        about = select(records.c.id).where(own(records), which)
        rows = self.database.all(
            select(interviews.c.id_hash).where(own(interviews), interviews.c.record_id.in_(about))
        )
        for row in rows:
            with suppress(NotFound):
                self.interviews.delete(row.id_hash)
        if rows:
            self.keys.wipe()

    def _forget_unused(self, which: ColumnElement[bool]) -> None:
        """Destroy the keys of those subjects of which nothing is stored any more."""
        is_unused = [not_(_has_rows(table, subjects.c.id)) for table in _IDS]
        has_run = select(run_files.c.run).where(own(run_files), run_files.c.run == subjects.c.id)
        unused = own(subjects) & and_(which, *is_unused, not_(has_run.exists()))
        for row in self.database.all(select(subjects.c.id).where(unused)):
            self.keys.forget(row.id)

    def _go_on_erasing(self, subject_id: str) -> int:
        self.keys.forget(subject_id)
        self.keys.wipe()
        with self.database.writing():
            removed = self.database.run(delete(records).where(own(records, subject_id=subject_id)))
            begun = update(erased).where(own(erased, subject_id=subject_id))
            self.database.run(begun.values(records=erased.c.records + removed))
        self.keys.wipe()
        return removed


def _has_rows(table: Table, subject_id: ColumnElement[str]) -> ColumnElement[bool]:
    """Return whether there are rows of a subject."""
    return select(table.c.tenant).where(own(table), table.c.subject_id == subject_id).exists()
