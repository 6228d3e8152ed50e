"""The rows of records and their sealed parts: each opens in its own place alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import BindParameter, bindparam, not_, select

from ai_psychiatrist.domain.errors import ArtifactMismatch, NotFound
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.store.contents import transcript_bytes
from ai_psychiatrist.store.database import Found, TenantDatabase
from ai_psychiatrist.store.keys import Seal, TenantKeys
from ai_psychiatrist.store.records import NewRecord, columns_of
from ai_psychiatrist.store.schema import OF_TENANT, bodies, erased, records

REQUEST: Final = "request"
RESULT: Final = "result"
TRANSCRIPT: Final = "transcript"

OF_RECORD: Final[BindParameter[str]] = bindparam("of_record")
IS_STORED: Final = (records.c.tenant == OF_TENANT) & (records.c.id == OF_RECORD)
"""Also for a record that a sweep has hidden."""
IS_KEPT: Final = records.c.swept_at.is_(None)
"""A record that a sweep has hidden counts as gone."""
IS_OWN: Final = (records.c.tenant == OF_TENANT) & IS_KEPT
IS_RECORD: Final = IS_STORED & IS_KEPT
NOT_ERASED: Final = not_(
    select(erased)
    .where(erased.c.tenant == records.c.tenant, erased.c.subject_id == records.c.subject_id)
    .exists()
)
"""The erasing of a subject begins with its row there and ends with its records."""
_ROW: Final = select(records).where(IS_RECORD, NOT_ERASED)
_BODY: Final = select(bodies.c.body).where(
    bodies.c.tenant == OF_TENANT,
    bodies.c.record_id == OF_RECORD,
    bodies.c.part == bindparam("of_part"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRows:
    """The rows of a tenant."""

    database: TenantDatabase
    keys: TenantKeys = field(repr=False)

    def insert(self, new: NewRecord, subject_id: str, *, seq: int, now: str) -> Seal:
        """Write a record with its parts, and return what seals more of them.

        One without a result waits to be made.
        """
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

    def put(self, record_id: str, part: str, content: bytes, seal: Seal) -> None:
        """Write a part of a record."""
        body = seal.put(content, record_id, part)
        self.database.add(bodies, {"record_id": record_id, "part": part, "body": body})

    def take(self, record_id: str, part: str, seal: Seal) -> bytes:
        """Return a part of a record; raises `ArtifactMismatch`."""
        row = self.database.one(_BODY, of_record=record_id, of_part=part)
        return seal.take(None if row is None else row.body, record_id, part)

    def has(self, record_id: str, part: str) -> bool:
        """Return whether a record has a part."""
        return self.database.one(_BODY, of_record=record_id, of_part=part) is not None

    def row(self, record_id: str) -> Found:
        """Return what stands in the clear; raises `NotFound`, also once its erasing began."""
        row = self.database.one(_ROW, of_record=record_id)
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
