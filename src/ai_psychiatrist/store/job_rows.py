"""The jobs of a tenant: taken by one process at a time, ended once, continued after a crash."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, delete, func, insert, literal, not_, select, update

from ai_psychiatrist.domain.assessment import AssessmentStatus
from ai_psychiatrist.domain.errors import ArtifactMismatch, NotFound, RequestConflict
from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.store.contents import call_bytes, call_in, transcript_in
from ai_psychiatrist.store.database import Found, TenantDatabase, Value, own
from ai_psychiatrist.store.deliveries import DeliveryRows
from ai_psychiatrist.store.events import BEGUN, StageEvent, events_of, tell
from ai_psychiatrist.store.jobs import (
    DANGER,
    GIVEN_UP,
    MOST_TAKEN,
    JobEnd,
    JobListRequest,
    JobPage,
    JobRef,
    JobSummary,
    NewJob,
    TakenJob,
)
from ai_psychiatrist.store.keys import Seal
from ai_psychiatrist.store.listing import Sort, paged, read_cursor
from ai_psychiatrist.store.records import (
    HAS_JOB,
    IS_OWN,
    IS_UNREAD,
    RECORD,
    REQUEST,
    RESULT,
    TRANSCRIPT,
    WHOLE,
    WITH_INTERVIEWS,
    Figures,
    RecordRows,
    columns_of,
    is_record,
    level_of,
)
from ai_psychiatrist.store.schema import bodies, calls, jobs, queue, records

_CALL: Final = ("record_id", "digest", "occurrence", "body")
_IS_RUNNING: Final = records.c.state == RecordState.RUNNING.value
_IN_QUEUE: Final = (
    select(queue.c.id)
    .where(queue.c.tenant == records.c.tenant, queue.c.record_id == records.c.id)
    .exists()
)
_BEFORE: Final = records.alias("before")
_POSITION: Final = select(func.count()).where(
    _BEFORE.c.swept_at.is_(None),
    _BEFORE.c.tenant == records.c.tenant,
    _BEFORE.c.state == RecordState.WAITING.value,
    _BEFORE.c.seq <= records.c.seq,
)
_KEEP: Final = insert(calls).from_select(
    ["tenant", *_CALL],
    select(
        records.c.tenant,
        *(bindparam(f"of_{name}", type_=calls.c[name].type).label(name) for name in _CALL),
    )
    .where(IS_OWN, records.c.id == bindparam("of_record_id"), _IS_RUNNING)
    .suffix_with("ON CONFLICT DO NOTHING"),
)
"""One statement, and made once, since each call that a model answers waits for it."""
_LOCKED: Final = RECORD.with_for_update()
_CLAIMABLE: Final = RECORD.add_columns(
    select(queue.c.id)
    .where(own(queue), queue.c.record_id == records.c.id, queue.c.runner == bindparam("of_runner"))
    .exists()
    .label("is_claimed")
)
_SHOWN: Final = select(
    records,
    *jobs.c["batch_id", "place", "ended_at", "asked_by"],
    _POSITION.scalar_subquery().label("position"),
    literal(0).label("sort_key"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptJobCall:
    """A finished model call of a job, and what seals it."""

    record_id: str
    call: ModelCall
    seal: Seal = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRows:
    """Those of a tenant; every change is one transaction.

    What a process writes of a job that it does may overlap with what others write of theirs.
    """

    database: TenantDatabase
    rows: RecordRows
    deliveries: DeliveryRows

    def insert(self, new: NewJob, subject_id: str, *, seq: int, runner: str | None = None) -> None:
        """Write a job that waits, inside the store's transaction.

        `runner`: the process that does it; else it waits for its turn.
        """
        record_id = new.record.id
        seal = self.rows.insert(new.record, subject_id, seq=seq)
        caller = {"record_id": record_id, "asked_by": new.asked_by}
        self.database.add(jobs, {**caller, "batch_id": new.batch_id, "place": new.place})
        self.enqueue(record_id, new.asked_by, runner=runner)
        self.rows.put(record_id, REQUEST, new.request, seal)
        if new.callback is not None:
            self.deliveries.expect_end(record_id, new.callback, seal)
        tell(self.database, record_id, WHOLE, RecordState.WAITING.value)
        if new.record.figures.danger is not None:
            tell(self.database, record_id, DANGER, new.record.figures.danger.value)

    def enqueue(self, record_id: str, asked_by: str, *, runner: str | None = None) -> None:
        """Put a job that waits into the queue, inside the store's transaction.

        Its turn comes after what its caller has waiting and what is under way: whoever has many
        jobs waiting is not held up by those who come later, one at a time.
        """
        turn = next_turn(self.database, asked_by)
        asked = {"id": record_id, "record_id": record_id, "asked_by": asked_by}
        asked["at"] = self.database.now()
        self.database.add(queue, {**asked, "turn": turn, "runner": runner})

    def leave_hidden(self) -> None:
        """Leave hidden jobs and their webhooks undone, inside the transaction that hides them."""
        hidden = select(records.c.id).where(own(records), records.c.swept_at.is_not(None))
        self.database.run(delete(queue).where(own(queue), queue.c.record_id.in_(hidden)))
        self.deliveries.note_next()

    def take_up_hidden(self) -> None:
        """Have jobs and webhooks done again that were hidden, inside the transaction."""
        self.deliveries.note_next()
        waits = (RecordState.WAITING.value, RecordState.RUNNING.value)
        left_out = (
            select(jobs.c.record_id, jobs.c.asked_by)
            .join_from(records, jobs, HAS_JOB)
            .where(IS_OWN, records.c.state.in_(waits), not_(_IN_QUEUE))
            .order_by(records.c.seq)
        )
        for row in self.database.all(left_out):
            self._change(row.record_id, state=RecordState.WAITING.value)
            self.enqueue(row.record_id, row.asked_by)

    def take(self, record_id: str, runner: str) -> TakenJob | RecordState:
        """Take a job that waits and that the queue gave to a process, or return how far it is.

        Raises `NotFound`, and `ArtifactMismatch` once it is taken.
        """
        with self.database.writing(is_alone=False):
            row = self._row(record_id, runner)
            if row is None:
                raise NotFound("assessment_not_found")
            if not row.is_claimed or row.state != RecordState.WAITING:
                return RecordState(row.state)
            self._change(record_id, state=RecordState.RUNNING.value)
            self._count_taken(record_id, 1)
            tell(self.database, record_id, WHOLE, BEGUN)
            try:
                return self._opened(row)
            except ArtifactMismatch as error:
                unreadable = error
        raise unreadable

    def put_back(self, record_id: str, runner: str) -> None:
        """Let a job wait again that its process has to leave; it counts as never taken."""
        with self.database.writing():
            if self._put_back(record_id, runner):
                self._count_taken(record_id, -1)

    def finish(self, record_id: str, runner: str, result: bytes, figures: Figures) -> JobEnd | None:
        """Give a job its result; `None` where it was this process's no more, and has none of it."""
        return self._end_run(record_id, runner, None, result=result, figures=figures)

    def fail(
        self,
        record_id: str,
        runner: str,
        reason: str,
        *,
        account: bytes | None = None,
        figures: Figures | None = None,
    ) -> JobEnd | None:
        """Say why a job has no result; `None` where it was this process's no more.

        `account`: JSON of a result without parts: its calls, its failures and its signs of danger,
        of which `figures` have the level.
        """
        return self._end_run(record_id, runner, reason, result=account, figures=figures)

    def request(self, record_id: str) -> bytes:
        """Return how a job was to be made; raises `ArtifactMismatch`."""
        with self.rows.opening(record_id) as seal:
            return self.rows.take(record_id, REQUEST, seal)

    def cancel(self, record_id: str) -> JobEnd | None:
        """End a job; `None` where that was done before.

        Raises `RequestConflict` for one that has ended.
        """
        with self.database.writing():
            row = self.rows.row(record_id)
            match RecordState(row.state):
                case RecordState.CANCELLED:
                    return None
                case RecordState.WAITING | RecordState.RUNNING:
                    return self._end(row, RecordState.CANCELLED)
                case _:
                    raise RequestConflict("job_over", known_id=record_id)

    def take_from(self, runner: str, *, but: Container[str] = ()) -> tuple[JobEnd, ...]:
        """Let wait again what a process claimed or took, all `but` what it still does.

        Returns those that were given up instead, because their process died each time.
        """
        left = (
            select(records, jobs.c.taken)
            .join_from(records, queue, queue.c.record_id == records.c.id)
            .join(jobs, jobs.c.record_id == records.c.id)
            .where(IS_OWN, own(queue, runner=runner), own(jobs))
        )
        given_up: list[JobEnd] = []
        with self.database.writing():
            for row in self.database.all(left):
                if row.id in but:
                    continue
                if row.taken >= MOST_TAKEN:
                    given_up.append(self._end(row, RecordState.FAILED, GIVEN_UP))
                else:
                    self._put_back(row.id, runner)
        return tuple(given_up)

    def tell(self, record_id: str, stage: str, outcome: str) -> None:
        """Record a step of a job once; of a record that is deleted, none.

        A process that continues what another one began repeats steps that are recorded already.
        """
        with self.database.writing(is_alone=False):
            # A process that was taken for dead may tell of the same job.
            self.database.one(_LOCKED, of_record=record_id)
            tell(self.database, record_id, stage, outcome)

    def events(self, record_id: str, *, after: int = 0) -> tuple[StageEvent, ...]:
        """Return the steps of a record after a number."""
        return events_of(self.database, record_id, after=after)

    def keep(self, kept: Sequence[KeptJobCall]) -> None:
        """Keep calls, each once; of a job that has its end, or is erased, none."""
        self.database.run_each(_KEEP, [_bound(one) for one in kept])

    def summary(self, record_id: str) -> JobSummary:
        """Return how far a record is, also one that no job made; raises `NotFound`."""
        query = _SHOWN.join_from(records, jobs, HAS_JOB, isouter=True).where(is_record(record_id))
        row = self.database.one(query)
        if row is None:
            raise NotFound("assessment_not_found")
        return _summary(row)

    def page(self, wanted: JobListRequest) -> JobPage:
        """Return a part of the list; raises `InputError` for a cursor of another list."""
        query = _SHOWN.join_from(records, jobs, HAS_JOB).where(IS_OWN)
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
        of_batch = counted.join_from(records, jobs, HAS_JOB).where(
            IS_OWN, jobs.c.batch_id == batch_id
        )
        rows = self.database.all(of_batch.group_by(records.c.state))
        if not rows:
            raise NotFound("batch_not_found")
        found = {RecordState(row.state): int(row.how_many) for row in rows}
        return {state: found.get(state, 0) for state in RecordState}

    def unread(self, batch_id: str) -> int:
        """Return how many jobs of a batch have unread statements of danger."""
        of_batch = select(records.c.seq).select_from(
            records.join(jobs, HAS_JOB).outerjoin(*WITH_INTERVIEWS)
        )
        return self.database.count(of_batch.where(IS_OWN, jobs.c.batch_id == batch_id, IS_UNREAD))

    def _row(self, record_id: str, runner: str) -> Found | None:
        """Return a job's row, with whether the queue gave it to a process."""
        return self.database.one(_CLAIMABLE, of_record=record_id, of_runner=runner)

    def _opened(self, row: Found) -> TakenJob:
        """Return a job with what it needs; raises `ArtifactMismatch`."""
        seal = self.rows.keys.seal(row.subject_id)
        mine = {"record_id": row.id}
        words = {
            one.part: one for one in self.database.all(select(bodies).where(own(bodies, **mine)))
        }
        kept = self.database.all(select(calls).where(own(calls, **mine)))
        return TakenJob(
            id=row.id,
            transcript=transcript_in(seal.opened(bodies, words.get(TRANSCRIPT))),
            request=seal.opened(bodies, words.get(REQUEST)),
            calls={(one.digest, one.occurrence): call_in(seal.opened(calls, one)) for one in kept},
            seal=seal,
        )

    def _put_back(self, record_id: str, runner: str) -> bool:
        """Let a job wait again; returns whether it had been taken."""
        claimed = own(queue, record_id=record_id, runner=runner)
        if not self.database.run(update(queue).where(claimed).values(runner=None)):
            return False
        waits = update(records).where(is_record(record_id), _IS_RUNNING)
        return self.database.run(waits.values(state=RecordState.WAITING.value)) > 0

    def _count_taken(self, record_id: str, further: int) -> None:
        job = update(jobs).where(own(jobs, record_id=record_id))
        self.database.run(job.values(taken=jobs.c.taken + further))

    def _change(self, record_id: str, **columns: Value) -> None:
        self.database.run(update(records).where(is_record(record_id)), **columns)

    def _end_run(
        self,
        record_id: str,
        runner: str,
        reason: str | None,
        *,
        result: bytes | None,
        figures: Figures | None,
    ) -> JobEnd | None:
        with self.database.writing(is_alone=False):
            row = self._row(record_id, runner)
            if row is None or not row.is_claimed or row.state != RecordState.RUNNING:
                return None
            if result is not None:
                self.rows.put(record_id, RESULT, result, self.rows.keys.seal(row.subject_id))
            state = RecordState.FINISHED if reason is None else RecordState.FAILED
            return self._end(row, state, reason, {} if figures is None else columns_of(figures))

    def _end(
        self,
        row: Found,
        state: RecordState,
        reason: str | None = None,
        columns: Mapping[str, Value] = {},
    ) -> JobEnd:
        record_id, now = str(row.id), self.database.now()
        self._change(record_id, state=state.value, reason=reason, **columns)
        self.database.run(update(jobs).where(own(jobs, record_id=record_id)), ended_at=now)
        # No process continues it any more.
        for table in (queue, calls):
            self.database.run(delete(table).where(own(table, record_id=record_id)))
        tell(self.database, record_id, WHOLE, state.value)
        self.deliveries.make_due(record_id, now)
        self.deliveries.remind_unread(record_id)
        return JobEnd(
            job=JobRef(self.database.tenant, record_id),
            state=state,
            reason=reason,
            created_at=datetime.fromisoformat(row.created_at),
            ended_at=datetime.fromisoformat(now),
        )


def _bound(kept: KeptJobCall) -> dict[str, Value]:
    """Return the values of the row of a call, sealed, by the names that the statement binds."""
    call = kept.call
    place: dict[str, Value] = {"record_id": kept.record_id, "digest": call.digest}
    place["occurrence"] = call.occurrence
    row = kept.seal.sealed(calls, place, call_bytes(call))
    return {f"of_{name}": value for name, value in row.items()}


def _summary(row: Found) -> JobSummary:
    state = RecordState(row.state)
    return JobSummary(
        job_id=row.id,
        created_at=datetime.fromisoformat(row.created_at),
        state=state,
        status=None if row.status is None else AssessmentStatus(row.status),
        reason=row.reason,
        danger=level_of(row.danger),
        position=row.position if state is RecordState.WAITING else None,
        batch_id=row.batch_id,
        place=row.place,
        asked_by=row.asked_by,
        ended_at=None if row.ended_at is None else datetime.fromisoformat(row.ended_at),
    )


def next_turn(database: TenantDatabase, asked_by: str) -> int:
    """Return which turn comes after what a caller has waiting, and what is under way."""
    before = (queue.c.asked_by == asked_by, queue.c.runner.is_not(None))
    last = (select(func.max(queue.c.turn)).where(own(queue), one) for one in before)
    turns = database.one(select(*(one.scalar_subquery() for one in last)))
    return 1 + max(one or 0 for one in turns or (0,))
