"""The rows of records and their sealed parts: each opens in its own place alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import BindParameter, ColumnElement, and_, bindparam, not_, select

from ai_psychiatrist.domain.errors import ArtifactMismatch, NotFound
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.store.contents import transcript_bytes
from ai_psychiatrist.store.database import Found, TenantDatabase, own
from ai_psychiatrist.store.keys import TenantKeys
from ai_psychiatrist.store.records import NewRecord, columns_of
from ai_psychiatrist.store.schema import bodies, erased, records
from ai_psychiatrist.store.seals import Seal

REQUEST: Final = "request"
RESULT: Final = "result"
TRANSCRIPT: Final = "transcript"

OF_RECORD: Final[BindParameter[str]] = bindparam("of_record")
IS_OWN: Final = and_(own(records), records.c.swept_at.is_(None))
"""A record that a sweep has hidden counts as gone."""
NOT_ERASED: Final = not_(
    select(erased)
    .where(erased.c.tenant == records.c.tenant, erased.c.subject_id == records.c.subject_id)
    .exists()
)
"""The erasing of a subject begins with its row there and ends with its records."""


def is_record(record_id: str) -> ColumnElement[bool]:
    """Return the condition of one record that no sweep has hidden."""
    return and_(IS_OWN, records.c.id == record_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRows:
    """The rows of a tenant."""

    database: TenantDatabase
    keys: TenantKeys = field(repr=False)

    def insert(self, new: NewRecord, subject_id: str, *, seq: int) -> Seal:
        """Write a record with its parts, and return what seals more of them.

        One without a result waits to be made.
        """
        now = self.database.now()
        state = RecordState.WAITING if new.result is None else RecordState.FINISHED
        row = columns_of(new.figures) | {
            "seq": seq,
            "id": new.id,
            "subject_id": subject_id,
            "created_at": now,
            "kept_from": now,
            "state": state.value,
        }
        self.database.add(records, row)
        seal = self.keys.seal(subject_id)
        self.put(new.id, TRANSCRIPT, transcript_bytes(new.transcript), seal)
        if new.result is not None:
            self.put(new.id, RESULT, new.result, seal)
        return seal

    def put(self, record_id: str, part: str, content: str | bytes, seal: Seal) -> None:
        """Write a part of a record."""
        row = {"record_id": record_id, "part": part}
        self.database.add(bodies, seal.sealed(bodies, row, content))

    def take(self, record_id: str, part: str, seal: Seal) -> bytes:
        """Return a part of a record; raises `ArtifactMismatch`."""
        query = select(bodies).where(own(bodies, record_id=record_id, part=part))
        return seal.opened(bodies, self.database.one(query))

    def row(self, record_id: str) -> Found:
        """Return what stands in the clear; raises `NotFound`, also once its erasing began."""
        row = self.database.one(select(records).where(is_record(record_id), NOT_ERASED))
        if row is None:
            raise NotFound("assessment_not_found")
        return row

    def seal_of(self, record_id: str) -> Seal:
        """Return what seals a record; raises `NotFound` and `ArtifactMismatch`."""
        subject_id = self.row(record_id).subject_id
        with self.readable(record_id):
            return self.keys.seal(subject_id)

    @contextmanager
    def readable(self, record_id: str) -> Iterator[None]:
        """Raise `NotFound` for a record that cannot be read inside since it is erased."""
        try:
            yield
        except ArtifactMismatch:
            self.row(record_id)
            raise
