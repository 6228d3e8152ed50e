"""What is removed, and how nothing of it is left: keys before rows."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import BindParameter, and_, bindparam, delete, not_, select, update

from ai_psychiatrist.domain.errors import NotFound
from ai_psychiatrist.store.database import TenantDatabase
from ai_psychiatrist.store.key_schema import subjects
from ai_psychiatrist.store.keys import TenantKeys
from ai_psychiatrist.store.rows import IS_STORED, NOT_ERASED
from ai_psychiatrist.store.schema import OF_TENANT, erased, interviews, records

_OF_SUBJECT: Final[BindParameter[str]] = bindparam("of_subject")
_IS_OWN: Final = records.c.tenant == OF_TENANT
_IS_SUBJECTS: Final = and_(_IS_OWN, records.c.subject_id == _OF_SUBJECT)
_IS_ERASED: Final = and_(erased.c.tenant == OF_TENANT, erased.c.subject_id == _OF_SUBJECT)
_IDS_OF: Final = select(records.c.id).where(_IS_SUBJECTS)
_SUBJECT_OF: Final = select(records.c.subject_id).where(IS_STORED, NOT_ERASED)
_DELETE: Final = delete(records).where(IS_STORED)
_DELETE_OF: Final = delete(records).where(_IS_SUBJECTS)
_HAS_RECORD: Final = (
    select(records)
    .where(records.c.tenant == subjects.c.tenant, records.c.subject_id == subjects.c.id)
    .exists()
)
_HAS_INTERVIEW: Final = (
    select(interviews)
    .where(interviews.c.tenant == subjects.c.tenant, interviews.c.subject_id == subjects.c.id)
    .exists()
)
_UNUSED: Final = select(subjects.c.id).where(
    subjects.c.tenant == OF_TENANT, not_(_HAS_RECORD), not_(_HAS_INTERVIEW)
)
_UNUSED_OF: Final = _UNUSED.where(subjects.c.id.in_(bindparam("of_subjects", expanding=True)))
_UNUSED_LONG: Final = _UNUSED.where(subjects.c.created_at <= bindparam("before"))
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasing:
    """Removes records of a tenant; every step can break off and is gone on with later."""

    database: TenantDatabase
    keys: TenantKeys = field(repr=False)
    now: Callable[[], str]

    def ids_of(self, subject_id: str) -> tuple[str, ...]:
        """Return the records of a subject that are stored, those included that are hidden."""
        return tuple(str(row.id) for row in self.database.all(_IDS_OF, of_subject=subject_id))

    def erase(self, record_id: str) -> None:
        """Remove a record, hidden or not, and its subject's key with the last of that subject."""
        with self.database.writing():
            row = self.database.one(_SUBJECT_OF, of_record=record_id)
            if row is None:
                raise NotFound("assessment_not_found")
            self.database.run(_DELETE, of_record=record_id)
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
            if self.database.one(_BEGUN, of_subject=subject_id) is None:
                begun = {"subject_id": subject_id, "erased_at": self.now()}
                self.database.add(erased, {**begun, "records": 0})
        return self._go_on_erasing(subject_id)

    def finish(self, *, before: str) -> int:
        """Remove what a broken erasing left, and return how many records that were.

        Keys that were made at `before` or earlier and open nothing go as well.
        """
        with self.database.writing():
            for row in self.database.all(_UNUSED_LONG, before=before):
                self.keys.forget(row.id)
        self.keys.wipe()
        broken_off = self.database.all(_BROKEN_OFF)
        return sum(self._go_on_erasing(str(row.subject_id)) for row in broken_off)

    def forget_unused(self, subject_ids: Collection[str]) -> None:
        """Destroy the keys of those subjects of which nothing is stored any more."""
        for row in self.database.all(_UNUSED_OF, of_subjects=sorted(subject_ids)):
            self.keys.forget(row.id)

    def _go_on_erasing(self, subject_id: str) -> int:
        self.keys.forget(subject_id)
        self.keys.wipe()
        with self.database.writing():
            removed = self.database.run(_DELETE_OF, of_subject=subject_id)
            self.database.run(_COUNTED, of_subject=subject_id, further=removed)
        self.keys.wipe()
        return removed
