"""What raters said of records: rows that are added, each rater's ratings once."""

import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Select, and_, bindparam, func, select, update

from ai_psychiatrist.domain.errors import NotFound, RequestConflict
from ai_psychiatrist.domain.review import Committed, ReviewPhase, ReviewRow, Said
from ai_psychiatrist.store.contents import kind_of, said_bytes, said_in
from ai_psychiatrist.store.database import Found, TenantDatabase, Value
from ai_psychiatrist.store.keys import Seal
from ai_psychiatrist.store.listing import SEEN_BY, STANDING
from ai_psychiatrist.store.rows import IS_OWN, IS_RECORD, OF_RECORD, RecordRows
from ai_psychiatrist.store.schema import OF_TENANT, begun, records, reviews, shown

_PLACE_BYTES: Final = 16
_IS_RATERS: Final = and_(begun.c.tenant == OF_TENANT, begun.c.rater == bindparam("of_rater"))
_IS_BEGUN: Final = and_(_IS_RATERS, begun.c.record_id == OF_RECORD)
_BEGUN: Final = select(begun).where(_IS_BEGUN)
_BEGUN_COUNT: Final = select(func.count()).where(_IS_RATERS)
_COMMIT: Final = update(begun).where(_IS_BEGUN).values(is_committed=True)
_ONE_RATER_MORE: Final = update(records).where(IS_RECORD).values(raters=records.c.raters + 1)
_STANDING: Final = select(STANDING).select_from(SEEN_BY).where(IS_RECORD)
_NOT_SHOWN: Final = select(records.c.id).select_from(SEEN_BY).where(IS_OWN, shown.c.rater.is_(None))
_NOT_SHOWN_OF: Final = _NOT_SHOWN.where(records.c.id.in_(bindparam("of_records", expanding=True)))
_UNSEEN_WITH_SCORES: Final = _NOT_SHOWN.where(
    begun.c.rater.is_(None),
    records.c.status.is_not(None),
    records.c.raters >= bindparam("fewest"),
)
_ROWS: Final = (
    select(reviews, records.c.subject_id)
    .join_from(
        reviews,
        records,
        and_(records.c.tenant == reviews.c.tenant, records.c.id == reviews.c.record_id),
    )
    .where(IS_OWN)
)
_COUNT: Final = select(func.count()).select_from(_ROWS.subquery())
_ROWS_OF: Final = _ROWS.where(reviews.c.record_id == OF_RECORD).order_by(reviews.c.number)
_ALL_ROWS: Final = _ROWS.order_by(records.c.seq, reviews.c.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedRecord:
    """All that was said of one record."""

    record_id: str
    rows: tuple[ReviewRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRows:
    """Those of a tenant; every change is one transaction."""

    database: TenantDatabase
    rows: RecordRows
    now: Callable[[], str]

    def standing(self, record_id: str, rater: str) -> ReviewPhase:
        """Return how far a rater is with a record; raises `NotFound`."""
        row = self.database.one(_STANDING, of_record=record_id, of_rater=rater)
        if row is None:
            raise NotFound("assessment_not_found")
        return ReviewPhase(row.mine)

    def is_begun(self, record_id: str, rater: str) -> bool:
        """Return whether a rater has begun to review a record, committed or not."""
        return self.database.one(_BEGUN, of_record=record_id, of_rater=rater) is not None

    def begun(self, rater: str) -> int:
        """Return how many reviews a rater has begun, committed or not."""
        row = self.database.one(_BEGUN_COUNT, of_rater=rater)
        return 0 if row is None else int(row[0])

    def mark(self) -> str:
        """Return a text that is another one after any row was added or removed.

        It says how many there are, and the highest number that any ever had.
        """
        with self.database.reading():
            row = self.database.one(_COUNT)
            last = self.database.counter("last_review")
        return "" if row is None else f"{row[0]}-{last}"

    def begin(self, record_id: str, rater: str) -> ReviewPhase:
        """Begin a rater's review, once: blind, or seen where scores were given before."""
        with self.database.writing():
            standing = self.standing(record_id, rater)
            if not self.is_begun(record_id, rater):
                is_seen = standing is ReviewPhase.SEEN
                standing = ReviewPhase.SEEN if is_seen else ReviewPhase.BLIND
                row = {"record_id": record_id, "rater": rater, "phase": standing.value}
                self.database.add(begun, {**row, "at": self.now(), "is_committed": False})
            return standing

    def give_scores(self, record_id: str, rater: str, hidden: frozenset[ReviewPhase]) -> None:
        """Keep in mind that a rater is given scores; raises `RequestConflict` for hidden ones."""
        with self.database.writing():
            standing = self.standing(record_id, rater)
            if standing in hidden:
                raise RequestConflict("still_blind")
            if standing is ReviewPhase.UNSEEN:
                self.note_shown(rater, (record_id,))

    def note_shown(self, rater: str, record_ids: Iterable[str]) -> None:
        """Keep in mind that a rater was given scores of these records, if they are still there."""
        given = list(record_ids)
        if given:
            with self.database.writing():
                self._show(rater, _NOT_SHOWN_OF, of_records=given)

    def note_all_shown(self, rater: str, *, only_rated: bool = False) -> None:
        """Keep in mind that a rater was told of the scores of all that are not begun."""
        with self.database.writing():
            self._show(rater, _UNSEEN_WITH_SCORES, fewest=int(only_rated))

    def append(self, record_id: str, rater: str, said: Said) -> ReviewRow:
        """Add what a rater says: ratings are committed once, and everything else comes after them.

        Raises `RequestConflict` in another phase of the review.
        """
        seal = self.rows.seal_of(record_id)
        with self.database.writing():
            standing = self.standing(record_id, rater)
            if isinstance(said, Committed):
                said = self._commit(record_id, rater, said, standing)
            elif standing is not ReviewPhase.REVEALED:
                raise RequestConflict("not_committed")
            row = self._insert(record_id, rater, said, seal)
            self.database.require_room()
            return row

    def of(self, record_id: str) -> tuple[ReviewRow, ...]:
        """Return all that was said of a record in its order, whoever said it."""
        self.rows.row(record_id)
        rows = self.database.all(_ROWS_OF, of_record=record_id)
        with self.rows.readable(record_id):
            return tuple(_row(row, self.rows.keys.seal(row.subject_id)) for row in rows)

    def sealed(self) -> Sequence[Found]:
        """Return all that was said of all records, in the order of the records, for `opened`."""
        return self.database.all(_ALL_ROWS)

    def opened(self, sealed: Sequence[Found]) -> tuple[RatedRecord, ...]:
        """Return what was said, without what is erased by now; raises `ArtifactMismatch`."""
        found: dict[str, list[ReviewRow]] = {}
        for row in sealed:
            try:
                with self.rows.readable(row.record_id):
                    seal = self.rows.keys.seal(row.subject_id)
            except NotFound:
                continue
            found.setdefault(row.record_id, []).append(_row(row, seal))
        return tuple(RatedRecord(record_id=key, rows=tuple(rows)) for key, rows in found.items())

    def _show(self, rater: str, query: Select[Any], **values: Value) -> None:
        rows = self.database.all(query, of_rater=rater, **values)
        if rows:
            self.database.add(shown, *({"record_id": row.id, "rater": rater} for row in rows))

    def _insert(self, record_id: str, rater: str, said: Said, seal: Seal) -> ReviewRow:
        (number,) = self.database.numbers("last_review")
        now, kind, place = self.now(), kind_of(said), secrets.token_hex(_PLACE_BYTES)
        body = seal.put(said_bytes(said), record_id, rater, kind, place)
        row = {"record_id": record_id, "rater": rater, "at": now, "kind": kind, "place": place}
        self.database.add(reviews, {"number": number, **row, "body": body})
        return ReviewRow(number=number, rater=rater, at=datetime.fromisoformat(now), said=said)

    def _commit(
        self, record_id: str, rater: str, said: Committed, standing: ReviewPhase
    ) -> Committed:
        """Take the phase from what is known of the rater, and count one more who has rated."""
        if standing is ReviewPhase.REVEALED:
            raise RequestConflict("already_committed")
        if not self.is_begun(record_id, rater):
            raise RequestConflict("review_not_begun")
        self.database.run(_COMMIT, of_record=record_id, of_rater=rater)
        self.database.run(_ONE_RATER_MORE, of_record=record_id)
        return Committed(items=said.items, phase=standing)


def said_place(row: Found) -> tuple[str, ...]:
    """Return what a thing that a rater said is sealed for."""
    return row.record_id, row.rater, row.kind, row.place


def _row(row: Found, seal: Seal) -> ReviewRow:
    return ReviewRow(
        number=row.number,
        rater=row.rater,
        at=datetime.fromisoformat(row.at),
        said=said_in(row.kind, seal.take(row.body, *said_place(row))),
    )
