"""The jobs of a tenant: taken by one process at a time, ended once, gone on with where one died."""

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import (
    BindParameter,
    Integer,
    LargeBinary,
    Text,
    bindparam,
    delete,
    func,
    insert,
    select,
    update,
)

from ai_psychiatrist.domain.errors import RequestConflict
from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.store.contents import call_bytes, call_in, transcript_in
from ai_psychiatrist.store.database import Found, TenantDatabase, Value
from ai_psychiatrist.store.deliveries import DeliveryRows
from ai_psychiatrist.store.jobs import (
    DANGER,
    GIVEN_UP,
    MOST_TAKEN,
    JobEnd,
    JobRef,
    LeftByFailure,
    NewJob,
    TakenJob,
)
from ai_psychiatrist.store.keys import Seal
from ai_psychiatrist.store.records import WHOLE, Figures, StageEvent, columns_of
from ai_psychiatrist.store.rows import (
    IS_OWN,
    IS_RECORD,
    NOT_ERASED,
    OF_RECORD,
    REQUEST,
    RESULT,
    TRANSCRIPT,
    RecordRows,
)
from ai_psychiatrist.store.schema import OF_TENANT, calls, events, jobs, queue, records

_CALL: Final = "call"

_OF_RUNNER: Final[BindParameter[str]] = bindparam("of_runner")
_IS_RUNNING: Final = records.c.state == RecordState.RUNNING.value
_IS_WAITING: Final = records.c.state == RecordState.WAITING.value
_IS_JOB: Final = (jobs.c.tenant == OF_TENANT) & (jobs.c.record_id == OF_RECORD)
_IS_QUEUED: Final = (queue.c.tenant == OF_TENANT) & (queue.c.record_id == OF_RECORD)
_IS_CLAIMED: Final = _IS_QUEUED & (queue.c.runner == _OF_RUNNER)
_HAS: Final = select(records.c.id).where(IS_RECORD)
_IS_RUN: Final = _HAS.where(_IS_RUNNING)
_IS_RUN_BY: Final = _IS_RUN.where(select(queue).where(_IS_CLAIMED).exists(), NOT_ERASED)
_CHANGE: Final = update(records).where(IS_RECORD)
_TAKE: Final = _CHANGE.where(_IS_WAITING, select(queue).where(_IS_CLAIMED).exists())
_WAITS_AGAIN: Final = _CHANGE.where(_IS_RUNNING)
_FREED: Final = update(queue).where(_IS_CLAIMED).values(runner=None)
_LEFT_QUEUE: Final = delete(queue).where(_IS_QUEUED)
_HIDDEN_LEFT: Final = delete(queue).where(
    queue.c.tenant == OF_TENANT,
    select(records)
    .where(
        records.c.tenant == queue.c.tenant,
        records.c.id == queue.c.record_id,
        records.c.swept_at.is_not(None),
    )
    .exists(),
)
_LEFT_OUT: Final = (
    select(jobs.c.record_id, jobs.c.asked_by)
    .join_from(records, jobs, jobs.c.record_id == records.c.id)
    .where(
        IS_OWN,
        jobs.c.tenant == OF_TENANT,
        _IS_WAITING | _IS_RUNNING,
        ~select(queue)
        .where(queue.c.tenant == records.c.tenant, queue.c.record_id == records.c.id)
        .exists(),
    )
    .order_by(records.c.seq)
)
"""Jobs without an end that nobody will do: they were hidden, and are not any more."""
LAST_TURNS: Final = select(
    *(
        func.coalesce(
            select(func.max(queue.c.turn))
            .where(queue.c.tenant == OF_TENANT, condition)
            .scalar_subquery(),
            0,
        )
        for condition in (queue.c.asked_by == bindparam("of_caller"), queue.c.runner.is_not(None))
    )
)
"""Of what a caller has waiting, and of what is under way in the tenant."""
_COUNT_TAKEN: Final = update(jobs).where(_IS_JOB).values(taken=jobs.c.taken + bindparam("further"))
_ENDED: Final = update(jobs).where(_IS_JOB)
_LEFT_BY: Final = (
    select(records, jobs.c.taken)
    .join_from(records, queue, queue.c.record_id == records.c.id)
    .join(jobs, jobs.c.record_id == records.c.id)
    .where(
        IS_OWN,
        queue.c.tenant == OF_TENANT,
        jobs.c.tenant == OF_TENANT,
        queue.c.runner == _OF_RUNNER,
    )
)
_EVENTS: Final = (
    select(events)
    .where(events.c.tenant == OF_TENANT, events.c.record_id == OF_RECORD)
    .order_by(events.c.number)
)
_IS_CALL: Final = (calls.c.tenant == OF_TENANT) & (calls.c.record_id == OF_RECORD)
_CALLS: Final = select(calls).where(_IS_CALL)
_CALLS_GONE: Final = delete(calls).where(_IS_CALL)
_KEPT: Final = insert(calls).from_select(
    [calls.c.tenant, calls.c.record_id, calls.c.digest, calls.c.occurrence, calls.c.body],
    select(
        records.c.tenant,
        records.c.id,
        bindparam("of_digest", type_=Text),
        bindparam("of_occurrence", type_=Integer),
        bindparam("of_body", type_=LargeBinary),
    )
    .where(IS_RECORD, _IS_RUNNING)
    .with_for_update(read=True)
    .suffix_with("ON CONFLICT DO NOTHING"),
)
"""One statement, since each call that a model answers waits for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedCall:
    """A model call as it is written."""

    record_id: str
    digest: str
    occurrence: int
    body: bytes


def sealed_call(record_id: str, call: ModelCall, seal: Seal) -> SealedCall:
    """Return a call as it is written."""
    return SealedCall(
        record_id=record_id,
        digest=call.digest,
        occurrence=call.occurrence,
        body=seal.put(call_bytes(call), *call_place(record_id, call.digest, call.occurrence)),
    )


def call_place(record_id: str, digest: str, occurrence: int) -> tuple[str, ...]:
    """Return what a call is sealed for."""
    return record_id, _CALL, digest, str(occurrence)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRows:
    """Those of a tenant; every change is one transaction."""

    database: TenantDatabase
    rows: RecordRows
    deliveries: DeliveryRows
    now: Callable[[], str]

    def insert(self, new: NewJob, subject_id: str, *, seq: int, runner: str | None = None) -> None:
        """Write a job that waits, inside the store's transaction.

        `runner`: the process that does it; else it waits for its turn.
        """
        record_id = new.record.id
        seal = self.rows.insert(new.record, subject_id, seq=seq, now=self.now())
        caller = {"record_id": record_id, "asked_by": new.asked_by}
        self.database.add(jobs, {**caller, "batch_id": new.batch_id, "place": new.place})
        self.enqueue(record_id, new.asked_by, runner=runner)
        self.rows.put(record_id, REQUEST, new.request, seal)
        if new.callback is not None:
            self.deliveries.expect_end(record_id, new.callback, seal)
        self.tell(record_id, WHOLE, RecordState.WAITING.value)
        if new.record.figures.danger is not None:
            self.tell(record_id, DANGER, new.record.figures.danger.value)

    def enqueue(self, record_id: str, asked_by: str, *, runner: str | None = None) -> None:
        """Put a job that waits into the queue, inside the store's transaction.

        Its turn comes after what its caller has waiting and what is under way: whoever has many
        jobs waiting is not held up by those who come later, one at a time.
        """
        turn = 1 + max(self.database.one(LAST_TURNS, of_caller=asked_by) or (0,))
        asked = {"id": record_id, "record_id": record_id, "asked_by": asked_by, "at": self.now()}
        self.database.add(queue, {**asked, "turn": turn, "runner": runner})

    def leave_hidden(self) -> None:
        """Leave hidden jobs and their webhooks undone, inside the transaction that hides them."""
        self.database.run(_HIDDEN_LEFT)
        self.deliveries.note_next()

    def take_up_hidden(self) -> None:
        """Have jobs and webhooks done again that were hidden, inside the transaction."""
        self.deliveries.note_next()
        for row in self.database.all(_LEFT_OUT):
            self.database.run(
                _WAITS_AGAIN, of_record=row.record_id, state=RecordState.WAITING.value
            )
            self.enqueue(row.record_id, row.asked_by)

    def take(self, record_id: str, runner: str) -> TakenJob | RecordState:
        """Take a job that waits and that the queue gave to a process, or return how far it is.

        Raises `NotFound`, and `ArtifactMismatch` once it is taken.
        """
        with self.database.writing():
            row = self.rows.row(record_id)
            state = RecordState.RUNNING.value
            if not self.database.run(_TAKE, of_record=record_id, of_runner=runner, state=state):
                return RecordState(row.state)
            self.database.run(_COUNT_TAKEN, of_record=record_id, further=1)
            self.tell(record_id, WHOLE, "begun")
        with self.rows.readable(record_id):
            seal = self.rows.keys.seal(row.subject_id)
            return TakenJob(
                id=record_id,
                transcript=transcript_in(self.rows.take(record_id, TRANSCRIPT, seal)),
                request=self.rows.take(record_id, REQUEST, seal),
            )

    def is_run_by(self, record_id: str, runner: str) -> bool:
        """Return whether a job is still that process's: not cancelled, and not erased."""
        found = self.database.one(_IS_RUN_BY, of_record=record_id, of_runner=runner)
        return found is not None

    def put_back(self, record_id: str, runner: str) -> None:
        """Let a job wait again that its process has to leave; it counts as never taken."""
        with self.database.writing():
            if self._put_back(record_id, runner):
                self.database.run(_COUNT_TAKEN, of_record=record_id, further=-1)

    def finish(self, record_id: str, runner: str, result: bytes, figures: Figures) -> JobEnd | None:
        """Give a job its result; `None` where it was this process's no more, and has none of it."""
        seal = self.rows.seal_of(record_id)
        with self.database.writing():
            row = self.rows.row(record_id)
            if not self.is_run_by(record_id, runner):
                return None
            self.rows.put(record_id, RESULT, result, seal)
            return self._end(row, RecordState.FINISHED, columns=columns_of(figures))

    def fail(
        self, record_id: str, runner: str, reason: str, left: LeftByFailure | None = None
    ) -> JobEnd | None:
        """Say why a job has no result; `None` where it was this process's no more."""
        with self.database.writing():
            if not self.is_run_by(record_id, runner):
                return None
            row = self.rows.row(record_id)
            if left is None:
                return self._end(row, RecordState.FAILED, reason)
            self.rows.put(record_id, RESULT, left.account, self.rows.keys.seal(row.subject_id))
            danger = {"danger": left.danger.rank, "danger_group": left.danger_group}
            return self._end(row, RecordState.FAILED, reason, danger)

    def request(self, record_id: str) -> bytes:
        """Return how a job was to be made; raises `ArtifactMismatch`."""
        with self.rows.readable(record_id):
            return self.rows.take(record_id, REQUEST, self.rows.seal_of(record_id))

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
                    raise RequestConflict("job_over")

    def take_from(self, runner: str, *, but: Container[str] = ()) -> tuple[JobEnd, ...]:
        """Let wait again what a process claimed or took, all `but` what it still does.

        Returns those that were given up instead, because their process died each time.
        """
        given_up: list[JobEnd] = []
        with self.database.writing():
            for row in self.database.all(_LEFT_BY, of_runner=runner):
                if row.id in but:
                    continue
                if row.taken >= MOST_TAKEN:
                    given_up.append(self._end(row, RecordState.FAILED, GIVEN_UP))
                else:
                    self._put_back(row.id, runner)
        return tuple(given_up)

    def tell(self, record_id: str, stage: str, outcome: str) -> None:
        """Tell of a step, once; of a record that is deleted, of none.

        Who goes on with what was broken off does it anew, and tells of it again.
        """
        with self.database.writing():
            told = self.database.all(_EVENTS, of_record=record_id)
            is_told = any((one.stage, one.outcome) == (stage, outcome) for one in told)
            if is_told or self.database.one(_HAS, of_record=record_id) is None:
                return
            step = {"stage": stage, "outcome": outcome, "at": self.now()}
            self.database.add(events, {"record_id": record_id, "number": 1 + len(told), **step})

    def events(self, record_id: str, *, after: int = 0) -> tuple[StageEvent, ...]:
        """Return the steps of a record after a number."""
        return tuple(
            StageEvent(number=row.number, stage=row.stage, outcome=row.outcome)
            for row in self.database.all(_EVENTS, of_record=record_id)
            if row.number > after
        )

    def calls(self, record_id: str) -> tuple[dict[tuple[str, int], ModelCall], Seal]:
        """Return the kept calls of a job by digest and occurrence, and what seals further ones.

        Raises `NotFound` and `ArtifactMismatch`.
        """
        seal = self.rows.seal_of(record_id)
        known = {
            (str(row.digest), int(row.occurrence)): call_in(
                seal.take(row.body, *call_place(record_id, row.digest, row.occurrence))
            )
            for row in self.database.all(_CALLS, of_record=record_id)
        }
        return known, seal

    def keep(self, call: SealedCall) -> None:
        """Keep a call once; of a job that has its end, or is erased, none."""
        self.database.run_beside(
            _KEPT,
            of_record=call.record_id,
            of_digest=call.digest,
            of_occurrence=call.occurrence,
            of_body=call.body,
        )

    def _put_back(self, record_id: str, runner: str) -> bool:
        """Let a job wait again; returns whether it had been taken."""
        if not self.database.run(_FREED, of_record=record_id, of_runner=runner):
            return False
        state = RecordState.WAITING.value
        return self.database.run(_WAITS_AGAIN, of_record=record_id, state=state) > 0

    def _end(
        self,
        row: Found,
        state: RecordState,
        reason: str | None = None,
        columns: Mapping[str, Value] = {},
    ) -> JobEnd:
        record_id, now = str(row.id), self.now()
        ended = {"state": state.value, "reason": reason, **columns}
        self.database.run(_CHANGE, of_record=record_id, **ended)
        self.database.run(_LEFT_QUEUE, of_record=record_id)
        self.database.run(_ENDED, of_record=record_id, ended_at=now)
        # Nobody goes on with it any more.
        self.database.run(_CALLS_GONE, of_record=record_id)
        self.tell(record_id, WHOLE, state.value)
        self.deliveries.make_due(record_id, now)
        return JobEnd(
            job=JobRef(self.database.tenant, record_id),
            state=state,
            reason=reason,
            created_at=datetime.fromisoformat(row.created_at),
            ended_at=datetime.fromisoformat(now),
        )
