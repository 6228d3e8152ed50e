"""What is removed, and how nothing of it is left: keys before rows."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import BindParameter, and_, bindparam, delete, not_, select, update

from ai_psychiatrist.domain.errors import NotFound
from ai_psychiatrist.store.database import TenantDatabase
from ai_psychiatrist.store.keys import TenantKeys
from ai_psychiatrist.store.rows import IS_RECORD, RecordRows
from ai_psychiatrist.store.schema import OF_TENANT, erased, interviews, records, subjects

_OF_SUBJECT: Final[BindParameter[str]] = bindparam("of_subject")
_IS_OWN: Final = records.c.tenant == OF_TENANT
_IS_SUBJECTS: Final = and_(_IS_OWN, records.c.subject_id == _OF_SUBJECT)
_IS_ERASED: Final = and_(erased.c.tenant == OF_TENANT, erased.c.subject_id == _OF_SUBJECT)
_IDS_OF: Final = select(records.c.id).where(_IS_SUBJECTS)
_DELETE: Final = delete(records).where(IS_RECORD)
_DELETE_OF: Final = delete(records).where(_IS_SUBJECTS)
_IS_EXPIRED: Final = and_(_IS_OWN, records.c.created_at <= bindparam("oldest"))
_EXPIRED: Final = select(records.c.subject_id).distinct().where(_IS_EXPIRED)
_DELETE_EXPIRED: Final = delete(records).where(_IS_EXPIRED)
_BEGUN: Final = select(erased).where(_IS_ERASED)
_COUNTED: Final = (
    update(erased).where(_IS_ERASED).values(records=erased.c.records + bindparam("further"))
)
_BROKEN_OFF: Final = select(erased.c.subject_id).where(
    erased.c.tenant == OF_TENANT,
    select(records)
    .where(records.c.tenant == erased.c.tenant, records.c.subject_id == erased.c.subject_id)
    .exists(),
)
_WITHOUT_RECORDS: Final = select(subjects.c.id).where(
    subjects.c.tenant == OF_TENANT,
    subjects.c.created_at <= bindparam("before"),
    not_(
        select(records)
        .where(records.c.tenant == subjects.c.tenant, records.c.subject_id == subjects.c.id)
        .exists()
    ),
    not_(
        select(interviews)
        .where(interviews.c.tenant == subjects.c.tenant, interviews.c.subject_id == subjects.c.id)
        .exists()
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasing:
    """Removes records of a tenant; every step can break off and is gone on with later."""

    database: TenantDatabase
    keys: TenantKeys = field(repr=False)
    rows: RecordRows
    now: Callable[[], str]

    def ids_of(self, subject_id: str) -> tuple[str, ...]:
        """Return the records of a subject that are stored."""
        return tuple(str(row.id) for row in self.database.all(_IDS_OF, of_subject=subject_id))

    def erase(self, record_id: str) -> None:
        """Remove a record, and its subject's key with the last record of that subject."""
        with self.database.writing():
            subject_id = self.rows.row(record_id).subject_id
            self.database.run(_DELETE, of_record=record_id)
            self._forget_unused({subject_id})
        self.keys.wipe()

    def erase_subject(self, subject_id: str) -> int:
        """Destroy a subject's key, then what it opened; returns how many records that were.

        What is in copies of the rows cannot be read any more. Raises `NotFound`.
        """
        with self.database.writing():
            if not self.keys.has_all([subject_id]):
                raise NotFound("subject_not_found")
            # First, so that an erasing which breaks off is gone on with by the next sweep.
            if self.database.one(_BEGUN, of_subject=subject_id) is None:
                begun = {"subject_id": subject_id, "erased_at": self.now()}
                self.database.add(erased, {**begun, "records": 0})
        return self._go_on_erasing(subject_id)

    def sweep(self, oldest: str, *, before: str) -> int:
        """Remove what was begun at `oldest` or earlier, and what a broken erasing left.

        Keys that were made at `before` or earlier and open nothing go as well.
        """
        with self.database.writing():
            expired = {str(row.subject_id) for row in self.database.all(_EXPIRED, oldest=oldest)}
            removed = self.database.run(_DELETE_EXPIRED, oldest=oldest)
            self._forget_unused(expired)
            for row in self.database.all(_WITHOUT_RECORDS, before=before):
                self.keys.forget(row.id)
        self.keys.wipe()
        broken_off = self.database.all(_BROKEN_OFF)
        return removed + sum(self._go_on_erasing(str(row.subject_id)) for row in broken_off)

    def _go_on_erasing(self, subject_id: str) -> int:
        self.keys.forget(subject_id)
        self.keys.wipe()
        with self.database.writing():
            removed = self.database.run(_DELETE_OF, of_subject=subject_id)
            self.database.run(_COUNTED, of_subject=subject_id, further=removed)
        self.keys.wipe()
        return removed

    def _forget_unused(self, subject_ids: set[str]) -> None:
        for subject_id in subject_ids:
            if not self.ids_of(subject_id):
                self.keys.forget(subject_id)
