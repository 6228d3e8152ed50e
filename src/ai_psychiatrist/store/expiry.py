"""Expiry: what was kept as long as it may be is hidden first, and removed after a grace.

What is hidden counts as gone, but its key is there and brings it back. A wrong clock must not
destroy anything, so nothing is swept while the clock does not fit what was stored, and few rows at
a time.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import pairwise
from typing import Final

from sqlalchemy import ColumnElement, Table, and_, delete, or_, select, union, update

from ai_psychiatrist.domain.errors import NotFound
from ai_psychiatrist.store.database import TenantDatabase, own, written
from ai_psychiatrist.store.erasing import Erasing
from ai_psychiatrist.store.interviews import id_hash
from ai_psychiatrist.store.key_schema import subjects
from ai_psychiatrist.store.schema import interviews, records, tenants

MOST_SWEPT: Final = 1_000
"""Assessments, or interviews, that one sweep hides or removes."""
LONGEST_SILENCE: Final = timedelta(days=7)
"""For how long nothing may have been stored or swept: after more the clock may have jumped."""
_DRIFT: Final = timedelta(hours=1)
"""By how much the clocks of several machines may differ."""
_IDS: Final[Mapping[Table, ColumnElement[str]]] = {
    records: records.c.id,
    interviews: interviews.c.id_hash,
}


class ClockFault(StrEnum):
    """Why the clock of the machine is not trusted."""

    BEHIND = "the clock shows an earlier time than what was stored or swept last"
    AHEAD = "the clock is more than 7 days after what was stored or swept last"


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What a sweep did."""

    assessments: int = 0
    """How many it removed."""
    interviews: int = 0
    """How many it removed."""
    hidden_assessments: int = 0
    hidden_interviews: int = 0
    clock_fault: ClockFault | None = None
    """Why it did nothing."""

    @property
    def counts(self) -> dict[str, int]:
        """What was done to how many, without what was done to none."""
        found = {
            "records_hidden": self.hidden_assessments,
            "interviews_hidden": self.hidden_interviews,
            "records_removed": self.assessments,
            "interviews_expired": self.interviews,
        }
        return {event: count for event, count in found.items() if count}


@dataclass(frozen=True, slots=True, kw_only=True)
class Expiry:
    """That of a tenant's assessments and interviews; every change is one transaction."""

    database: TenantDatabase
    erasing: Erasing = field(repr=False)

    def clock_fault(self) -> ClockFault | None:
        """Return what is wrong with the clock, by all that was stored since the last sweep.

        No two of these moments, the last sweep and now may lie further apart than
        `LONGEST_SILENCE`: so rows that were stored after a jump do not vouch for it.
        """
        now = self.database.clock()
        with self.database.reading():
            row = self.database.one(select(tenants.c.last_sweep).where(own(tenants)))
            if row is None:
                return None
            last = str(row.last_sweep)
            kept = (select(table.c.kept_from).where(own(table)) for table in _IDS)
            since = union(*(one.where(one.selected_columns.kept_from > last) for one in kept))
            stored = [str(one.kept_from) for one in self.database.all(since)]
        moments = sorted(map(datetime.fromisoformat, [last, *stored]))
        if now < moments[-1] - _DRIFT:
            return ClockFault.BEHIND
        steps = pairwise([*moments, now])
        if any(later - earlier > LONGEST_SILENCE for earlier, later in steps):
            return ClockFault.AHEAD
        return None

    def trust_clock(self) -> None:
        """Take the clock for right; what a wrong one has stored in the future is kept from now."""
        now = self.database.now()
        with self.database.writing():
            for table in _IDS:
                in_future = update(table).where(own(table), table.c.kept_from > now)
                self.database.run(in_future, kept_from=now)
            self._note_sweep(now)

    def is_due(self, oldest: Mapping[Table, datetime], before: datetime) -> bool:
        """Return whether a sweep has anything to hide or to remove."""
        for table, moment in oldest.items():
            any_due = or_(_is_due(table, moment), _is_over(table, before))
            if self.database.one(select(_IDS[table]).where(any_due).limit(1)) is not None:
                return True
        return False

    def hide(self, oldest: Mapping[Table, datetime], now: datetime) -> dict[Table, int]:
        """Hide what was kept from `oldest` or earlier on; returns how many of each table."""
        hidden: dict[Table, int] = {}
        with self.database.writing():
            self._note_sweep(written(now))
            for table, moment in oldest.items():
                due = select(_IDS[table]).where(_is_due(table, moment)).order_by(table.c.kept_from)
                is_first = _IDS[table].in_(due.limit(MOST_SWEPT))
                first = update(table).where(own(table), is_first)
                hidden[table] = self.database.run(first, swept_at=written(now))
        return hidden

    def remove(self, before: datetime) -> dict[Table, int]:
        """Remove what was hidden at `before` or earlier, with the keys; returns how many.

        Nothing of a key is left in the files after `TenantKeys.wipe`.
        """
        removed: dict[Table, int] = {}
        with self.database.writing():
            for table, identity in _IDS.items():
                columns = select(identity.label("id"), table.c.subject_id)
                over = columns.where(_is_over(table, before)).order_by(table.c.swept_at)
                rows = self.database.all(over.limit(MOST_SWEPT))
                is_one = identity.in_([str(row.id) for row in rows])
                removed[table] = self.database.run(delete(table).where(own(table), is_one))
                self.erasing.forget_unused({str(row.subject_id) for row in rows})
        return removed

    def undelete(self, given: str) -> int:
        """Bring back an assessment or an interview that was hidden, to be kept from now on.

        Returns how many that were, which is 1; raises `NotFound` where there is none of this id, or
        its key is gone.
        """
        names = {records: given, interviews: id_hash(given)}
        found = self._bring_back(lambda table: _IDS[table] == names[table])
        if not found:
            raise NotFound("assessment_not_found")
        return found

    def undelete_since(self, since: datetime) -> int:
        """Bring back what was hidden since a moment; returns how many assessments and interviews.

        What its key does not open any more stays hidden.
        """
        return self._bring_back(lambda table: table.c.swept_at >= written(since))

    def hidden(self) -> int:
        """Return how many assessments and interviews are hidden."""
        is_hidden = ((table, table.c.swept_at.is_not(None)) for table in _IDS)
        counted = (select(_IDS[table]).where(own(table), one) for table, one in is_hidden)
        return sum(map(self.database.count, counted))

    def _note_sweep(self, now: str) -> None:
        self.database.run(update(tenants).where(own(tenants)), last_sweep=now)

    def _bring_back(self, which: Callable[[Table], ColumnElement[bool]]) -> int:
        with self.database.writing():
            # What was read of all reviews before does not fit any more.
            self.database.numbers("last_review")
            kept = {"swept_at": None, "kept_from": self.database.now()}
            opens = select(subjects.c.id).where(own(subjects))
            found = 0
            for table in _IDS:
                is_hidden = and_(table.c.swept_at.is_not(None), table.c.subject_id.in_(opens))
                found += self.database.run(
                    update(table).where(own(table), is_hidden, which(table)), **kept
                )
        return found


def _is_due(table: Table, oldest: datetime) -> ColumnElement[bool]:
    is_shown, kept_from = table.c.swept_at.is_(None), table.c.kept_from
    return and_(own(table), is_shown, kept_from <= written(oldest))


def _is_over(table: Table, before: datetime) -> ColumnElement[bool]:
    return and_(own(table), table.c.swept_at <= written(before))
