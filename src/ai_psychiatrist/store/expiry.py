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

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Table,
    and_,
    bindparam,
    delete,
    or_,
    select,
    union,
    update,
)

from ai_psychiatrist.domain.errors import NotFound
from ai_psychiatrist.store.database import TenantDatabase, written
from ai_psychiatrist.store.erasing import Erasing
from ai_psychiatrist.store.interviews import id_hash
from ai_psychiatrist.store.key_schema import subjects
from ai_psychiatrist.store.schema import OF_TENANT, interviews, records, tenants

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
_OLDEST: Final[BindParameter[str]] = bindparam("of_oldest")
_BEFORE: Final[BindParameter[str]] = bindparam("of_before")
_NOW: Final[BindParameter[str]] = bindparam("of_now")
_OF_IDS: Final[BindParameter[list[str]]] = bindparam("of_ids", expanding=True)
_OWN: Final = {table: table.c.tenant == OF_TENANT for table in _IDS}
_IS_DUE: Final = {
    table: and_(own, table.c.swept_at.is_(None), table.c.kept_from <= _OLDEST)
    for table, own in _OWN.items()
}
_IS_OVER: Final = {table: and_(own, table.c.swept_at <= _BEFORE) for table, own in _OWN.items()}
_ANYTHING: Final = {
    table: select(_IDS[table]).where(or_(_IS_DUE[table], _IS_OVER[table])).limit(1)
    for table in _IDS
}
_HIDE: Final = {
    table: update(table).where(
        own,
        _IDS[table].in_(
            select(_IDS[table]).where(_IS_DUE[table]).order_by(table.c.kept_from).limit(MOST_SWEPT)
        ),
    )
    for table, own in _OWN.items()
}
_OVER: Final = {
    table: select(_IDS[table].label("id"), table.c.subject_id)
    .where(_IS_OVER[table])
    .order_by(table.c.swept_at)
    .limit(MOST_SWEPT)
    for table in _IDS
}
_REMOVE: Final = {
    table: delete(table).where(_IS_OVER[table], _IDS[table].in_(_OF_IDS)) for table in _IDS
}
_BRING_BACK: Final = {
    table: update(table).where(
        own,
        table.c.swept_at.is_not(None),
        table.c.subject_id.in_(select(subjects.c.id).where(subjects.c.tenant == OF_TENANT)),
    )
    for table, own in _OWN.items()
}
_HIDDEN: Final = {
    table: select(_IDS[table]).where(own, table.c.swept_at.is_not(None))
    for table, own in _OWN.items()
}
_LAST: Final = select(tenants.c.last_sweep).where(tenants.c.tenant == OF_TENANT)
_SINCE: Final = union(
    *(
        select(table.c.kept_from).where(own, table.c.kept_from > bindparam("of_last"))
        for table, own in _OWN.items()
    )
)
_KEPT_FROM_NOW: Final = [
    update(table).where(own, table.c.kept_from > _NOW) for table, own in _OWN.items()
]
_SWEPT: Final = update(tenants).where(tenants.c.tenant == OF_TENANT)


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
    clock: Callable[[], datetime]

    def clock_fault(self) -> ClockFault | None:
        """Return what is wrong with the clock, by all that was stored since the last sweep.

        No two of these moments, the last sweep and now may lie further apart than
        `LONGEST_SILENCE`: so rows that were stored after a jump do not vouch for it.
        """
        now = self.clock()
        with self.database.reading():
            row = self.database.one(_LAST)
            if row is None:
                return None
            stored = self.database.all(_SINCE, of_last=row.last_sweep)
        moments = sorted(
            map(datetime.fromisoformat, [row.last_sweep, *(one.kept_from for one in stored)])
        )
        if now < moments[-1] - _DRIFT:
            return ClockFault.BEHIND
        steps = pairwise([*moments, now])
        if any(later - earlier > LONGEST_SILENCE for earlier, later in steps):
            return ClockFault.AHEAD
        return None

    def trust_clock(self) -> None:
        """Take the clock for right; what a wrong one has stored in the future is kept from now."""
        now = written(self.clock())
        with self.database.writing():
            for statement in _KEPT_FROM_NOW:
                self.database.run(statement, of_now=now, kept_from=now)
            self.database.run(_SWEPT, last_sweep=now)

    def is_due(self, oldest: Mapping[Table, datetime], before: datetime) -> bool:
        """Return whether a sweep has anything to hide or to remove."""
        return any(
            self.database.one(
                _ANYTHING[table], of_oldest=written(moment), of_before=written(before)
            )
            for table, moment in oldest.items()
        )

    def hide(self, oldest: Mapping[Table, datetime], now: datetime) -> dict[Table, int]:
        """Hide what was kept from `oldest` or earlier on; returns how many of each table."""
        with self.database.writing():
            self.database.run(_SWEPT, last_sweep=written(now))
            return {
                table: self.database.run(
                    _HIDE[table], of_oldest=written(moment), swept_at=written(now)
                )
                for table, moment in oldest.items()
            }

    def remove(self, before: datetime) -> dict[Table, int]:
        """Remove what was hidden at `before` or earlier, with the keys; returns how many.

        Nothing of a key is left in the files after `TenantKeys.wipe`.
        """
        removed: dict[Table, int] = {}
        with self.database.writing():
            for table, query in _OVER.items():
                rows = self.database.all(query, of_before=written(before))
                ids = [str(row.id) for row in rows]
                removed[table] = self.database.run(
                    _REMOVE[table], of_before=written(before), of_ids=ids
                )
                self.erasing.forget_unused({str(row.subject_id) for row in rows})
        return removed

    def undelete(self, given: str) -> int:
        """Bring back an assessment or an interview that was hidden, to be kept from now on.

        Returns how many that were, which is 1; raises `NotFound` where there is none of this id, or
        its key is gone.
        """
        names = {records: given, interviews: id_hash(given)}
        found = self._bring_back({table: _IDS[table] == name for table, name in names.items()})
        if not any(found.values()):
            raise NotFound("assessment_not_found")
        return sum(found.values())

    def undelete_since(self, since: datetime) -> int:
        """Bring back what was hidden since a moment; returns how many assessments and interviews.

        What its key does not open any more stays hidden.
        """
        found = self._bring_back({table: table.c.swept_at >= written(since) for table in _IDS})
        return sum(found.values())

    def hidden(self) -> int:
        """Return how many assessments and interviews are hidden."""
        return sum(len(self.database.all(query)) for query in _HIDDEN.values())

    def _bring_back(self, which: Mapping[Table, ColumnElement[bool]]) -> dict[Table, int]:
        with self.database.writing():
            # What was read of all reviews before does not fit any more.
            self.database.numbers("last_review")
            kept = {"swept_at": None, "kept_from": written(self.clock())}
            return {
                table: self.database.run(_BRING_BACK[table].where(one), **kept)
                for table, one in which.items()
            }
