"""What raters said of records: rows that are added, each rater's ratings once."""

import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from ai_psychiatrist.domain.review import Committed, ReviewPhase, ReviewRow, Said
from ai_psychiatrist.ledger.store.database import Database, Row
from ai_psychiatrist.reviews.archive.contents import kind_of, said_bytes, said_in
from ai_psychiatrist.reviews.archive.errors import (
    AlreadyCommitted,
    NotCommitted,
    RecordNotFound,
    ReviewNotBegun,
)
from ai_psychiatrist.reviews.archive.pages import JOINED, STANDING
from ai_psychiatrist.reviews.archive.seals import Seal, Seals

_PLACE_BYTES: Final = 16
_STANDING: Final = f"SELECT {STANDING} AS mine FROM records {JOINED} WHERE records.id = :id"  # noqa: S608  our names
_ALL_SHOWN: Final = (
    "INSERT OR IGNORE INTO shown (rater, record_id) SELECT :rater, id FROM"  # noqa: S608  our names
    f" (SELECT records.id, status, raters, {STANDING} AS mine FROM records {JOINED})"
    " WHERE mine = 'unseen' AND status IS NOT NULL AND raters >= :fewest"
)
_ROWS: Final = "SELECT reviews.*, subject_id FROM reviews JOIN records ON records.id = record_id"


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedRecord:
    """All that was said of one record."""

    record_id: str
    rows: tuple[ReviewRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRows:
    """The rows of a tenant; every method that writes runs inside the archive's transaction."""

    database: Database
    seals: Seals

    def standing(self, record_id: str, rater: str) -> ReviewPhase:
        """Return how far a rater is with a record; raises `RecordNotFound`."""
        rows = self.database.fetch(_STANDING, {"id": record_id, "rater": rater})
        if not rows:
            raise RecordNotFound
        return ReviewPhase(rows[0]["mine"])

    def is_begun(self, record_id: str, rater: str) -> bool:
        """Return whether a rater has begun, committed or not."""
        query = "SELECT 1 FROM begun WHERE record_id = ? AND rater = ?"
        return bool(self.database.fetch(query, (record_id, rater)))

    def begun(self, rater: str) -> int:
        """Return how many reviews a rater has begun."""
        query = "SELECT COUNT(*) FROM begun WHERE rater = ?"
        return int(self.database.fetch(query, (rater,))[0][0])

    def mark(self) -> str:
        """Return how many rows there are, and the highest number that any ever had."""
        query = "SELECT COUNT(*), IFNULL(MAX(number), 0) FROM reviews"
        ((count, last),) = self.database.fetch(query)
        return f"{count}-{last}"

    def begin(self, record_id: str, rater: str, now: str) -> ReviewPhase:
        """Begin a rater's review, once; return how far it is."""
        standing = self.standing(record_id, rater)
        if not self.is_begun(record_id, rater):
            is_seen = standing is ReviewPhase.SEEN
            standing = ReviewPhase.SEEN if is_seen else ReviewPhase.BLIND
            self.database.execute(
                "INSERT INTO begun VALUES (?, ?, ?, ?, 0)", (record_id, rater, standing.value, now)
            )
        return standing

    def note_shown(self, record_id: str, rater: str) -> None:
        """Keep in mind that a rater was given scores of a record, if it is still there."""
        self.database.execute(
            "INSERT OR IGNORE INTO shown (rater, record_id) SELECT ?, id FROM records WHERE id = ?",
            (rater, record_id),
        )

    def note_all_shown(self, rater: str, *, only_rated: bool) -> None:
        """Keep in mind that a rater was told of the scores of all that are not begun."""
        self.database.execute(_ALL_SHOWN, {"rater": rater, "fewest": int(only_rated)})

    def append(self, record_id: str, rater: str, *, said: Said, seal: Seal, now: str) -> ReviewRow:
        """Add a row; ratings are committed once, and everything else comes after them."""
        standing = self.standing(record_id, rater)
        if isinstance(said, Committed):
            said = self._commit(record_id, rater, said, standing)
        elif standing is not ReviewPhase.REVEALED:
            raise NotCommitted
        kind, place = kind_of(said), secrets.token_hex(_PLACE_BYTES)
        sealed = seal.put(said_bytes(said), record_id, rater, kind, place)
        self.database.execute(
            "INSERT INTO reviews (record_id, rater, at, kind, place, body)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (record_id, rater, now, kind, place, sealed),
        )
        ((number,),) = self.database.fetch("SELECT last_insert_rowid()")
        return ReviewRow(number=number, rater=rater, at=datetime.fromisoformat(now), said=said)

    def of(self, record_id: str) -> tuple[ReviewRow, ...]:
        """Return all rows of a record in their order."""
        rows = self.database.fetch(f"{_ROWS} WHERE record_id = ? ORDER BY number", (record_id,))
        return tuple(_row(row, self.seals.of(row["subject_id"])) for row in rows)

    def all(self) -> tuple[RatedRecord, ...]:
        """Return the rows of all records that have any, in the order of the records."""
        found: dict[str, list[ReviewRow]] = {}
        for row in self.database.fetch(f"{_ROWS} ORDER BY records.seq, number"):
            seal = self.seals.of(row["subject_id"])
            found.setdefault(row["record_id"], []).append(_row(row, seal))
        return tuple(RatedRecord(record_id=key, rows=tuple(rows)) for key, rows in found.items())

    def _commit(
        self, record_id: str, rater: str, said: Committed, standing: ReviewPhase
    ) -> Committed:
        """Take the phase from what is known of the rater, and count one more who has rated."""
        if standing is ReviewPhase.REVEALED:
            raise AlreadyCommitted
        if not self.is_begun(record_id, rater):
            raise ReviewNotBegun
        self.database.execute(
            "UPDATE begun SET is_committed = 1 WHERE record_id = ? AND rater = ?",
            (record_id, rater),
        )
        self.database.execute("UPDATE records SET raters = raters + 1 WHERE id = ?", (record_id,))
        return Committed(items=said.items, phase=standing)


def _row(row: Row, seal: Seal) -> ReviewRow:
    place = (row["record_id"], row["rater"], row["kind"], row["place"])
    return ReviewRow(
        number=row["number"],
        rater=row["rater"],
        at=datetime.fromisoformat(row["at"]),
        said=said_in(row["kind"], seal.take(row["body"], *place)),
    )
