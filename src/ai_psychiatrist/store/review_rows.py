"""What raters said of records: rows that are added, each rater's ratings once."""

import secrets
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Final

from sqlalchemy import ColumnElement, and_, select, update

from ai_psychiatrist.domain.errors import NotFound, RequestConflict
from ai_psychiatrist.domain.review import Adjudicated, Committed, ReviewPhase, ReviewRow, Said
from ai_psychiatrist.store.contents import kind_of, said_bytes, said_in
from ai_psychiatrist.store.database import Found, TenantDatabase, Value, own
from ai_psychiatrist.store.keys import Seal
from ai_psychiatrist.store.listing import SEEN_BY, STANDING
from ai_psychiatrist.store.records import IS_OWN, RecordRows, is_record
from ai_psychiatrist.store.schema import begun, records, reviews, shown

_PLACE_BYTES: Final = 16
_ROWS: Final = (
    select(reviews, records.c.subject_id)
    .join_from(
        reviews,
        records,
        and_(records.c.tenant == reviews.c.tenant, records.c.id == reviews.c.record_id),
    )
    .where(IS_OWN)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRows:
    """Those of a tenant; every change is one transaction."""

    database: TenantDatabase
    rows: RecordRows

    def standing(self, record_id: str, rater: str) -> ReviewPhase:
        """Return how far a rater is with a record; raises `NotFound`."""
        query = select(STANDING).select_from(SEEN_BY).where(is_record(record_id))
        row = self.database.one(query, of_rater=rater)
        if row is None:
            raise NotFound("assessment_not_found")
        return ReviewPhase(row.mine)

    def is_begun(self, record_id: str, rater: str) -> bool:
        """Return whether a rater has begun to review a record, committed or not."""
        query = select(begun).where(own(begun, record_id=record_id, rater=rater))
        return self.database.one(query) is not None

    def begun(self, rater: str) -> int:
        """Return how many reviews a rater has begun, committed or not."""
        return self.database.count(select(begun.c.record_id).where(own(begun, rater=rater)))

    def mark(self) -> str:
        """Return a text that is another one after any row was added or removed.

        It says how many there are, and the highest number that any ever had.
        """
        with self.database.reading():
            return f"{self.database.count(_ROWS)}-{self.database.counter('last_review')}"

    def begin(self, record_id: str, rater: str) -> ReviewPhase:
        """Begin a rater's review, once: blind, or seen where scores were given before."""
        with self.database.writing():
            standing = self.standing(record_id, rater)
            if not self.is_begun(record_id, rater):
                is_seen = standing is ReviewPhase.SEEN
                standing = ReviewPhase.SEEN if is_seen else ReviewPhase.BLIND
                row = {"record_id": record_id, "rater": rater, "phase": standing.value}
                self.database.add(begun, {**row, "at": self.database.now(), "is_committed": False})
            return standing

    def give_scores(self, record_id: str, rater: str, hidden: frozenset[ReviewPhase]) -> None:
        """Note that a rater is given scores; raises `RequestConflict` for hidden ones."""
        with self.database.writing():
            standing = self.standing(record_id, rater)
            if standing in hidden:
                raise RequestConflict("still_blind")
            if standing is ReviewPhase.UNSEEN:
                self.note_shown(rater, (record_id,))

    def note_shown(self, rater: str, record_ids: Iterable[str]) -> None:
        """Note that a rater was given scores of these records, as far as they are stored."""
        given = list(record_ids)
        if given:
            self._show(rater, records.c.id.in_(given))

    def note_all_shown(self, rater: str, *, only_rated: bool = False) -> None:
        """Note that a rater was given the scores of all records that the rater has not begun."""
        has_scores, is_rated = records.c.status.is_not(None), records.c.raters >= int(only_rated)
        self._show(rater, begun.c.rater.is_(None), has_scores, is_rated)

    def pass_on(self, giver: str, rater: str) -> None:
        """Note that a rater was given all scores that another one was given, or saw by committing.

        A review of them that the rater has begun blind, and not committed, is blind no more.
        """
        given = select(shown.c.record_id).where(own(shown, rater=giver))
        revealed = select(begun.c.record_id).where(own(begun, rater=giver, is_committed=True))
        with self.database.writing():
            self._show(rater, records.c.id.in_(given.union(revealed)))
            of_rater = own(begun, rater=rater, is_committed=False)
            no_more = begun.c.record_id.in_(given.union(revealed))
            self.database.run(update(begun).where(of_rater, no_more), phase=ReviewPhase.SEEN.value)

    def append(self, record_id: str, rater: str, said: Said) -> ReviewRow:
        """Add what a rater says: ratings are committed once, and remarks come after them.

        Gold scores are added by adjudicators, who may have rated or not. Raises `RequestConflict`
        in another phase of the review.
        """
        seal = self.rows.seal_of(record_id)
        with self.database.writing():
            standing = self.standing(record_id, rater)
            if isinstance(said, Committed):
                said = self._commit(record_id, rater, said, standing)
            elif isinstance(said, Adjudicated):
                if standing is ReviewPhase.BLIND:
                    raise RequestConflict("still_blind")
            elif standing is not ReviewPhase.REVEALED:
                raise RequestConflict("not_committed")
            row = self._insert(record_id, rater, said, seal)
            self.database.require_room()
            return row

    def of(self, record_id: str) -> tuple[ReviewRow, ...]:
        """Return all that raters said of a record, in its order."""
        of_record = _ROWS.where(reviews.c.record_id == record_id).order_by(reviews.c.number)
        with self.rows.opening(record_id) as seal:
            return tuple(_row(row, seal) for row in self.database.all(of_record))

    def sealed(self) -> Sequence[Found]:
        """Return all that was said of all records, in the order of the records, for `opened`."""
        return self.database.all(_ROWS.order_by(records.c.seq, reviews.c.number))

    def opened(self, sealed: Sequence[Found]) -> dict[str, list[ReviewRow]]:
        """Return what was said of each record, without what is erased by now.

        Raises `ArtifactMismatch`.
        """
        found: dict[str, list[ReviewRow]] = {}
        for record_id, rows in groupby(sealed, key=attrgetter("record_id")):
            with suppress(NotFound):
                seal = self.rows.seal_of(record_id)
                found[record_id] = [_row(row, seal) for row in rows]
        return found

    def _show(self, rater: str, *which: ColumnElement[bool]) -> None:
        """Note of records that a rater was given their scores, where that is not noted yet."""
        unseen = select(records.c.id).select_from(SEEN_BY).where(IS_OWN, shown.c.rater.is_(None))
        with self.database.writing():
            rows = self.database.all(unseen.where(*which), of_rater=rater)
            if rows:
                self.database.add(shown, *({"record_id": row.id, "rater": rater} for row in rows))

    def _insert(self, record_id: str, rater: str, said: Said, seal: Seal) -> ReviewRow:
        (number,) = self.database.numbers("last_review")
        now, place = self.database.now(), secrets.token_hex(_PLACE_BYTES)
        row: dict[str, Value] = {"number": number, "record_id": record_id, "rater": rater}
        row |= {"at": now, "kind": kind_of(said), "place": place}
        self.database.add(reviews, seal.sealed(reviews, row, said_bytes(said)))
        return ReviewRow(number=number, rater=rater, at=datetime.fromisoformat(now), said=said)

    def _commit(
        self, record_id: str, rater: str, said: Committed, standing: ReviewPhase
    ) -> Committed:
        """Take the phase from what is known of the rater, and count one more who has rated."""
        if standing is ReviewPhase.REVEALED:
            raise RequestConflict("already_committed")
        if not self.is_begun(record_id, rater):
            raise RequestConflict("review_not_begun")
        review = update(begun).where(own(begun, record_id=record_id, rater=rater))
        self.database.run(review, is_committed=True)
        rated = update(records).where(is_record(record_id)).values(raters=records.c.raters + 1)
        self.database.run(rated)
        return replace(said, phase=standing)


def _row(row: Found, seal: Seal) -> ReviewRow:
    said = said_in(row.kind, seal.opened(reviews, row))
    at = datetime.fromisoformat(row.at)
    return ReviewRow(number=row.number, rater=row.rater, at=at, said=said)
