"""What raters said of records: rows that are added, each rater's ratings once."""

import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from ai_psychiatrist.domain.errors import NotFound, RequestConflict
from ai_psychiatrist.domain.review import Committed, ReviewPhase, ReviewRow, Said
from ai_psychiatrist.ledger.store.database import Row
from ai_psychiatrist.reviews.archive.contents import kind_of, said_bytes, said_in
from ai_psychiatrist.reviews.archive.pages import JOINED, STANDING
from ai_psychiatrist.reviews.archive.private_database import PrivateDatabase
from ai_psychiatrist.reviews.archive.record_rows import RecordRows
from ai_psychiatrist.reviews.archive.seals import Seal

_PLACE_BYTES: Final = 16
_STANDING: Final = f"SELECT {STANDING} AS mine FROM records {JOINED} WHERE records.id = :id"  # noqa: S608  our names
_SHOWN: Final = (
    "INSERT OR IGNORE INTO shown (rater, record_id) SELECT ?, id FROM records WHERE id = ?"
)
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
    """Those of a tenant; every change is one transaction."""

    database: PrivateDatabase
    rows: RecordRows
    now: Callable[[], str]

    def standing(self, record_id: str, rater: str) -> ReviewPhase:
        """Return how far a rater is with a record; raises `NotFound`."""
        rows = self.database.fetch(_STANDING, {"id": record_id, "rater": rater})
        if not rows:
            raise NotFound("assessment_not_found")
        return ReviewPhase(rows[0]["mine"])

    def is_begun(self, record_id: str, rater: str) -> bool:
        """Return whether a rater has begun to review a record, committed or not."""
        query = "SELECT 1 FROM begun WHERE record_id = ? AND rater = ?"
        return bool(self.database.fetch(query, (record_id, rater)))

    def begun(self, rater: str) -> int:
        """Return how many reviews a rater has begun, committed or not."""
        query = "SELECT COUNT(*) FROM begun WHERE rater = ?"
        return int(self.database.fetch(query, (rater,))[0][0])

    def mark(self) -> str:
        """Return a text that is another one after any row was added or removed.

        It says how many there are, and the highest number that any ever had.
        """
        query = "SELECT COUNT(*), IFNULL(MAX(number), 0) FROM reviews"
        ((count, last),) = self.database.fetch(query)
        return f"{count}-{last}"

    def begin(self, record_id: str, rater: str) -> ReviewPhase:
        """Begin a rater's review, once: blind, or seen where scores were given before."""
        with self.database.transaction():
            standing = self.standing(record_id, rater)
            if not self.is_begun(record_id, rater):
                is_seen = standing is ReviewPhase.SEEN
                standing = ReviewPhase.SEEN if is_seen else ReviewPhase.BLIND
                self.database.execute(
                    "INSERT INTO begun VALUES (?, ?, ?, ?, 0)",
                    (record_id, rater, standing.value, self.now()),
                )
            return standing

    def give_scores(self, record_id: str, rater: str, hidden: frozenset[ReviewPhase]) -> None:
        """Keep in mind that a rater is given scores; raises `RequestConflict` for hidden ones."""
        with self.database.transaction():
            standing = self.standing(record_id, rater)
            if standing in hidden:
                raise RequestConflict("still_blind")
            if standing is ReviewPhase.UNSEEN:
                self.note_shown(rater, (record_id,))

    def note_shown(self, rater: str, record_ids: Iterable[str]) -> None:
        """Keep in mind that a rater was given scores of these records, if they are still there."""
        given = tuple(record_ids)
        if given:
            with self.database.transaction():
                for record_id in given:
                    self.database.execute(_SHOWN, (rater, record_id))

    def note_all_shown(self, rater: str, *, only_rated: bool = False) -> None:
        """Keep in mind that a rater was told of the scores of all that are not begun."""
        with self.database.transaction():
            self.database.execute(_ALL_SHOWN, {"rater": rater, "fewest": int(only_rated)})

    def append(self, record_id: str, rater: str, said: Said) -> ReviewRow:
        """Add what a rater says: ratings are committed once, and everything else comes after them.

        Raises `RequestConflict` in another phase of the review.
        """
        seal = self.rows.seal_of(record_id)
        with self.database.transaction():
            standing = self.standing(record_id, rater)
            if isinstance(said, Committed):
                said = self._commit(record_id, rater, said, standing)
            elif standing is not ReviewPhase.REVEALED:
                raise RequestConflict("not_committed")
            return self._insert(record_id, rater, said, seal)

    def of(self, record_id: str) -> tuple[ReviewRow, ...]:
        """Return all that was said of a record in its order, whoever said it."""
        self.rows.row(record_id)
        rows = self.database.fetch(f"{_ROWS} WHERE record_id = ? ORDER BY number", (record_id,))
        with self.rows.readable(record_id):
            return tuple(_row(row, self.rows.seals.of(row["subject_id"])) for row in rows)

    def sealed(self) -> Sequence[Row]:
        """Return all that was said of all records, in the order of the records, for `opened`."""
        return self.database.fetch(f"{_ROWS} ORDER BY records.seq, number")

    def opened(self, sealed: Sequence[Row]) -> tuple[RatedRecord, ...]:
        """Return what was said, without what is erased by now; raises `ArtifactMismatch`."""
        found: dict[str, list[ReviewRow]] = {}
        for row in sealed:
            try:
                with self.rows.readable(row["record_id"]):
                    seal = self.rows.seals.of(row["subject_id"])
            except NotFound:
                continue
            found.setdefault(row["record_id"], []).append(_row(row, seal))
        return tuple(RatedRecord(record_id=key, rows=tuple(rows)) for key, rows in found.items())

    def _insert(self, record_id: str, rater: str, said: Said, seal: Seal) -> ReviewRow:
        now, kind, place = self.now(), kind_of(said), secrets.token_hex(_PLACE_BYTES)
        sealed = seal.put(said_bytes(said), record_id, rater, kind, place)
        self.database.execute(
            "INSERT INTO reviews (record_id, rater, at, kind, place, body)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (record_id, rater, now, kind, place, sealed),
        )
        ((number,),) = self.database.fetch("SELECT last_insert_rowid()")
        return ReviewRow(number=number, rater=rater, at=datetime.fromisoformat(now), said=said)

    def _commit(
        self, record_id: str, rater: str, said: Committed, standing: ReviewPhase
    ) -> Committed:
        """Take the phase from what is known of the rater, and count one more who has rated."""
        if standing is ReviewPhase.REVEALED:
            raise RequestConflict("already_committed")
        if not self.is_begun(record_id, rater):
            raise RequestConflict("review_not_begun")
        self.database.execute(
            "UPDATE begun SET is_committed = 1 WHERE record_id = ? AND rater = ?",
            (record_id, rater),
        )
        self.database.execute("UPDATE records SET raters = raters + 1 WHERE id = ?", (record_id,))
        return Committed(items=said.items, phase=standing)


def _row(row: Row, seal: Seal) -> ReviewRow:
    return ReviewRow(
        number=row["number"],
        rater=row["rater"],
        at=datetime.fromisoformat(row["at"]),
        said=said_in(row["kind"], seal.take(row["body"], *said_place(row))),
    )


def said_place(row: Row) -> tuple[str, ...]:
    """Return what a thing that a rater said is sealed for."""
    return row["record_id"], row["rater"], row["kind"], row["place"]
