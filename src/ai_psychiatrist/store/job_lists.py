"""How far jobs are, one or many at once; nothing is opened for them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import and_, func, literal, select

from ai_psychiatrist.domain.errors import NotFound
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.store.database import Found, TenantDatabase
from ai_psychiatrist.store.jobs import JobPage, JobSummary, JobsWanted
from ai_psychiatrist.store.listing import Sort, paged, read_cursor
from ai_psychiatrist.store.records import level_of
from ai_psychiatrist.store.rows import IS_OWN, is_record
from ai_psychiatrist.store.schema import jobs, records

_OF_ONE: Final = and_(jobs.c.tenant == records.c.tenant, jobs.c.record_id == records.c.id)
_BEFORE: Final = records.alias("before")
_POSITION: Final = select(func.count()).where(
    _BEFORE.c.swept_at.is_(None),
    _BEFORE.c.tenant == records.c.tenant,
    _BEFORE.c.state == RecordState.WAITING.value,
    _BEFORE.c.seq <= records.c.seq,
)
_SHOWN: Final = select(
    records,
    *jobs.c["batch_id", "place", "ended_at"],
    _POSITION.scalar_subquery().label("position"),
    literal(0).label("sort_key"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLists:
    """Those of a tenant."""

    database: TenantDatabase

    def one(self, record_id: str) -> JobSummary:
        """Return how far a record is, also one that nobody waits for; raises `NotFound`."""
        query = _SHOWN.join_from(records, jobs, _OF_ONE, isouter=True).where(is_record(record_id))
        row = self.database.one(query)
        if row is None:
            raise NotFound("assessment_not_found")
        return _summary(row)

    def page(self, wanted: JobsWanted) -> JobPage:
        """Return a part of the list; raises `InputError` for a cursor of another list."""
        query = _SHOWN.join_from(records, jobs, _OF_ONE).where(IS_OWN)
        is_batch = wanted.batch_id is not None
        if is_batch:
            query = query.where(jobs.c.batch_id == wanted.batch_id)
        if wanted.state is not None:
            query = query.where(records.c.state == wanted.state.value)
        if wanted.cursor is not None:
            after = read_cursor(wanted.cursor, Sort.CREATED).seq
            query = query.where(records.c.seq > after if is_batch else records.c.seq < after)
        query = query.order_by(records.c.seq if is_batch else records.c.seq.desc())
        rows = self.database.all(query.limit(wanted.limit + 1))
        shown, cursor = paged(rows, wanted.limit, Sort.CREATED)
        return JobPage(jobs=tuple(map(_summary, shown)), next=cursor)

    def counts(self, batch_id: str) -> dict[RecordState, int]:
        """Return how many jobs of a batch are how far; raises `NotFound`.

        What was erased since is not counted.
        """
        counted = select(records.c.state, func.count().label("how_many"))
        of_batch = counted.join_from(records, jobs, _OF_ONE).where(
            IS_OWN, jobs.c.batch_id == batch_id
        )
        rows = self.database.all(of_batch.group_by(records.c.state))
        if not rows:
            raise NotFound("batch_not_found")
        found = {RecordState(row.state): int(row.how_many) for row in rows}
        return {state: found.get(state, 0) for state in RecordState}


def _summary(row: Found) -> JobSummary:
    state = RecordState(row.state)
    return JobSummary(
        job_id=row.id,
        created_at=datetime.fromisoformat(row.created_at),
        state=state,
        reason=row.reason,
        danger=level_of(row.danger),
        position=row.position if state is RecordState.WAITING else None,
        batch_id=row.batch_id,
        place=row.place,
        ended_at=None if row.ended_at is None else datetime.fromisoformat(row.ended_at),
    )
