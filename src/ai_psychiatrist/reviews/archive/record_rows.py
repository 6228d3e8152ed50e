"""The rows of records and their sealed parts."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.errors import ArtifactMismatch, NotFound
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.ledger.store.database import Row, Value
from ai_psychiatrist.reviews.archive.columns import columns_of
from ai_psychiatrist.reviews.archive.contents import transcript_bytes
from ai_psychiatrist.reviews.archive.private_database import PrivateDatabase
from ai_psychiatrist.reviews.archive.records import NewRecord
from ai_psychiatrist.reviews.archive.seals import Seal, Seals

REQUEST: Final = "request"
RESULT: Final = "result"
TRANSCRIPT: Final = "transcript"
NOT_ERASED: Final = "subject_id NOT IN (SELECT subject_id FROM erased)"
"""The erasing of a subject begins with its row there and ends with its records."""
_ROW: Final = f"SELECT * FROM records WHERE id = ? AND {NOT_ERASED}"  # noqa: S608  our names


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRows:
    """The rows of a tenant; what writes runs inside the archive's transaction."""

    database: PrivateDatabase
    seals: Seals

    def insert(self, new: NewRecord, subject_id: str, *, now: str) -> None:
        """Write a record with its parts; one without a result waits to be made."""
        state = RecordState.WAITING if new.result is None else RecordState.FINISHED
        row = columns_of(new.figures) | {
            "id": new.id,
            "subject_id": subject_id,
            "created_at": now,
            "state": state.value,
        }
        places = ", ".join(f":{name}" for name in row)
        self.database.execute(
            f"INSERT INTO records ({', '.join(row)}) VALUES ({places})",  # noqa: S608  our names
            row,
        )
        seal = self.seals.of(subject_id)
        parts = {TRANSCRIPT: transcript_bytes(new.transcript), RESULT: new.result}
        for part, content in parts.items():
            if content is not None:
                self.put(new.id, part, seal.put(content, new.id, part))

    def put(self, record_id: str, part: str, sealed: bytes) -> None:
        """Write a part of a record as it is sealed."""
        self.database.execute("INSERT INTO bodies VALUES (?, ?, ?)", (record_id, part, sealed))

    def take(self, record_id: str, part: str, seal: Seal) -> bytes:
        """Return a part of a record; raises `ArtifactMismatch`."""
        query = "SELECT body FROM bodies WHERE record_id = ? AND part = ?"
        rows = self.database.fetch(query, (record_id, part))
        body: Value = rows[0]["body"] if rows else None
        return seal.take(body, record_id, part)

    def has(self, record_id: str, part: str) -> bool:
        """Return whether a record has a part."""
        query = "SELECT 1 FROM bodies WHERE record_id = ? AND part = ?"
        return bool(self.database.fetch(query, (record_id, part)))

    def row(self, record_id: str) -> Row:
        """Return what stands in the clear; raises `NotFound`, also once its erasing began."""
        rows = self.database.fetch(_ROW, (record_id,))
        if not rows:
            raise NotFound("assessment_not_found")
        return rows[0]

    def seal_of(self, record_id: str) -> Seal:
        """Return what seals a record; raises `NotFound` and `ArtifactMismatch`."""
        subject_id = self.row(record_id)["subject_id"]
        with self.readable(record_id):
            return self.seals.of(subject_id)

    @contextmanager
    def readable(self, record_id: str) -> Iterator[None]:
        """Raise `NotFound` for a record that cannot be read inside since it is erased."""
        try:
            yield
        except ArtifactMismatch:
            self.row(record_id)
            raise
