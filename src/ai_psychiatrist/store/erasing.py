"""What is removed, and how nothing of it is left: keys before rows."""

from collections.abc import Collection
from dataclasses import dataclass, field

from sqlalchemy import ColumnElement, Table, delete, not_, select, update

from ai_psychiatrist.domain.errors import NotFound
from ai_psychiatrist.store.database import TenantDatabase, own
from ai_psychiatrist.store.key_schema import subjects
from ai_psychiatrist.store.keys import TenantKeys
from ai_psychiatrist.store.rows import NOT_ERASED
from ai_psychiatrist.store.schema import erased, interviews, records


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasing:
    """Removes records of a tenant; every step can break off and is gone on with later."""

    database: TenantDatabase
    keys: TenantKeys = field(repr=False)

    def erase(self, record_id: str) -> None:
        """Remove a record, hidden or not, and its subject's key with the last of that subject."""
        stored = own(records, id=record_id)
        with self.database.writing():
            row = self.database.one(select(records.c.subject_id).where(stored, NOT_ERASED))
            if row is None:
                raise NotFound("assessment_not_found")
            self.database.run(delete(records).where(stored))
            self.forget_unused({str(row.subject_id)})
        self.keys.wipe()

    def erase_subject(self, subject_id: str) -> int:
        """Destroy a subject's key, then what it opened; returns how many records that were.

        What is in copies of the rows cannot be read any more. Raises `NotFound`.
        """
        with self.database.writing():
            if not self.keys.has_all([subject_id]):
                raise NotFound("subject_not_found")
            # First, so that an erasing which breaks off is gone on with by the next sweep.
            if self.database.one(select(erased).where(own(erased, subject_id=subject_id))) is None:
                begun = {"subject_id": subject_id, "erased_at": self.database.now()}
                self.database.add(erased, {**begun, "records": 0})
        return self._go_on_erasing(subject_id)

    def finish(self, *, before: str) -> int:
        """Remove what a broken erasing left, and return how many records that were.

        Keys that were made at `before` or earlier and open nothing go as well.
        """
        with self.database.writing():
            self._forget_unused(subjects.c.created_at <= before)
        self.keys.wipe()
        has_records = _of_subject(records, erased.c.subject_id)
        broken_off = self.database.all(select(erased).where(own(erased), has_records))
        return sum(self._go_on_erasing(str(row.subject_id)) for row in broken_off)

    def forget_unused(self, subject_ids: Collection[str]) -> None:
        """Destroy the keys of those subjects of which nothing is stored any more."""
        self._forget_unused(subjects.c.id.in_(subject_ids))

    def _forget_unused(self, which: ColumnElement[bool]) -> None:
        is_used = (not_(_of_subject(table, subjects.c.id)) for table in (records, interviews))
        for row in self.database.all(select(subjects.c.id).where(own(subjects), which, *is_used)):
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


def _of_subject(table: Table, subject_id: ColumnElement[str]) -> ColumnElement[bool]:
    """Return whether there are rows of a subject."""
    return select(table.c.tenant).where(own(table), table.c.subject_id == subject_id).exists()
