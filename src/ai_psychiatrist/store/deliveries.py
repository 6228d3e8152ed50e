"""Webhooks of a tenant: of a job that ended, unread danger, an interview that is held or over.

Each is due with what it tells of, and tried by one process at a time. Hosts, codes and ids of jobs
stand in the clear. An address is sealed with the key of what it belongs to until it is not needed
any longer, with it the id of an interview, and all goes with the job or the interview.
"""

import json
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from sqlalchemy import Executable, and_, bindparam, case, delete, func, not_, or_, select, update

from ai_psychiatrist.domain.callback import Callback
from ai_psychiatrist.domain.errors import ArtifactMismatch, NotFound
from ai_psychiatrist.domain.shape import Shape
from ai_psychiatrist.store.database import Found, TenantDatabase, Value, own, written
from ai_psychiatrist.store.keys import Seal, TenantKeys
from ai_psychiatrist.store.records import HAS_JOB, IS_KEPT, NOT_ERASED, OF_RECORD, level_of
from ai_psychiatrist.store.schema import OF_TENANT, deliveries, interviews, jobs, records, tenants

MOST_TRIES: Final = 12
TRY_TIME: Final = timedelta(minutes=1)
"""A try that has not ended after this was broken off; several times what one may take."""
UNNAMED_TIME: Final = timedelta(days=1)
"""How long a webhook waits for its host to be named in the settings again."""


class DeliveryEvent(StrEnum):
    """The events that a webhook reports."""

    JOB_ENDED = "job.ended"
    """Its `type` names the end: `job.finished`, `job.failed` or `job.cancelled`."""
    ASSESSMENT_UNREAD = "assessment.unread"
    INTERVIEW_HELD = "interview.held"
    INTERVIEW_UNREAD = "interview.unread"
    INTERVIEW_FINISHED = "interview.finished"


class DeliveryState(StrEnum):
    """How far a webhook is."""

    EXPECTED = "expected"
    """The job has no end yet."""
    PENDING = "pending"
    DELIVERED = "delivered"
    GIVEN_UP = "given_up"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Delivery(Shape):
    """How far the webhook of one job is."""

    state: DeliveryState
    """`expected` while the job has no end, then `pending`, and `delivered` or `given_up`."""
    tries: int
    """How often it was tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InterviewNotice:
    """An event of an interview, and who is told of it; no words of the person."""

    event: DeliveryEvent
    callback: Callback | None
    """Of the interview, if it has one; a hold is reported to the operator's as well."""
    data: Mapping[str, object] = field(repr=False)
    """By the names that the receiver gets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DueDelivery:
    """A webhook that this process is to send now."""

    id: str
    """The same at each try."""
    tenant: str
    job_id: str | None
    """`None` for one of an interview."""
    interview_id: str | None = field(repr=False)
    """`None` for one of a job."""
    callback: Callback
    body: bytes = field(repr=False)
    """JSON of the event, without words; the same at each try."""
    tries: int
    """With the one that is to be made now."""


_IS_OWN: Final = deliveries.c.tenant == OF_TENANT
_IS_PENDING: Final = _IS_OWN & (deliveries.c.state == DeliveryState.PENDING)
_IS_GIVEN_UP: Final = _IS_OWN & (deliveries.c.state == DeliveryState.GIVEN_UP)
_IS_ONE: Final = _IS_OWN & (deliveries.c.id == bindparam("of_event"))
_IS_OF_RECORD: Final = _IS_OWN & (deliveries.c.record_id == OF_RECORD)
_IS_OF_JOB: Final = _IS_OF_RECORD & (deliveries.c.event == DeliveryEvent.JOB_ENDED)
_REMINDERS: Final = (DeliveryEvent.ASSESSMENT_UNREAD, DeliveryEvent.INTERVIEW_UNREAD)
_WITH_RECORD: Final = (records.c.tenant == deliveries.c.tenant) & (
    records.c.id == deliveries.c.record_id
)
_WITH_INTERVIEW: Final = (interviews.c.tenant == deliveries.c.tenant) & (
    interviews.c.id_hash == deliveries.c.id_hash
)
_WITH_OWNER: Final = deliveries.outerjoin(records, _WITH_RECORD).outerjoin(
    interviews, _WITH_INTERVIEW
)
_WITH_JOB: Final = _WITH_OWNER.outerjoin(jobs, HAS_JOB)
_IS_SHOWN: Final = or_(
    and_(records.c.id.is_not(None), IS_KEPT),
    and_(interviews.c.id_hash.is_not(None), interviews.c.swept_at.is_(None)),
)
_IS_UNNAMED: Final = deliveries.c.host.not_in(bindparam("of_hosts", expanding=True))
_MAKE_DUE: Final = update(deliveries).where(
    _IS_OF_JOB, deliveries.c.state == DeliveryState.EXPECTED
)
_AFTER_TRY: Final = update(deliveries).where(
    _IS_PENDING, _IS_ONE, deliveries.c.tries == bindparam("of_tries")
)
_GIVE_UP: Final = (
    update(deliveries)
    .where(
        _IS_PENDING,
        ((deliveries.c.due <= bindparam("of_now")) & (deliveries.c.tries >= MOST_TRIES))
        | ((deliveries.c.due <= bindparam("of_day_before")) & _IS_UNNAMED),
    )
    .values(
        state=DeliveryState.GIVEN_UP,
        reason=case((_IS_UNNAMED, "host_not_named"), else_=deliveries.c.reason),
    )
)
_DUE: Final = (
    select(
        *deliveries.c["record_id", "id_hash", "event", "host", "body", "tries"],
        deliveries.c.id.label("event_id"),
        *records.c["state", "status", "reason", "created_at", "danger", "danger_group"],
        *jobs.c["batch_id", "ended_at"],
        func.coalesce(records.c.subject_id, interviews.c.subject_id).label("subject_id"),
    )
    .select_from(_WITH_JOB)
    .where(
        _IS_PENDING,
        _IS_SHOWN,
        NOT_ERASED,
        deliveries.c.due <= bindparam("of_now"),
        deliveries.c.host.in_(bindparam("of_free", expanding=True)),
    )
    .order_by(deliveries.c.due)
    .limit(1)
)
_UNREAD_AT_END: Final = (
    select(
        *deliveries.c["host", "body"],
        *records.c["state", "subject_id", "danger", "danger_group", "to_read"],
        *jobs.c["batch_id", "ended_at"],
    )
    .select_from(
        records.join(jobs, HAS_JOB).outerjoin(
            deliveries, _WITH_RECORD & (deliveries.c.event == DeliveryEvent.JOB_ENDED)
        )
    )
    .where(own(records), records.c.id == OF_RECORD, records.c.unread > 0)
)
_NEXT: Final = (
    update(tenants)
    .where(tenants.c.tenant == OF_TENANT)
    .values(
        next_delivery=select(func.min(deliveries.c.due))
        .select_from(_WITH_OWNER)
        .where(_IS_PENDING, _IS_SHOWN)
        .scalar_subquery()
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryRows:
    """Those of a tenant; every change is one transaction."""

    database: TenantDatabase
    keys: TenantKeys = field(repr=False)

    def expect_end(self, record_id: str, callback: Callback, seal: Seal) -> None:
        """Note who is notified of the end of a job, inside the transaction that stores it."""
        row: dict[str, Value] = {
            "record_id": record_id,
            "id": _new_id(),
            "event": DeliveryEvent.JOB_ENDED,
            "host": callback.host,
            "body": seal.put(callback.url.encode(), record_id, deliveries.name),
            "state": DeliveryState.EXPECTED,
        }
        self.database.add(deliveries, row)

    def make_due(self, record_id: str, now: str) -> None:
        """Make the webhook of a job due, where one is wanted, inside the transaction of its end."""
        self._change(_MAKE_DUE, of_record=record_id, state=DeliveryState.PENDING, due=now)

    def tell_interview(self, id_hash: str, notice: InterviewNotice, seal: Seal) -> None:
        """Make the webhooks of an event of an interview due, inside the transaction of its step.

        That it is held is reported to its own address and to the one for danger. After that, it
        is due later that what was said is not read, as for an assessment.
        """
        now, wait = self.database.now(), self.database.limits.remind_unread
        is_held = notice.event is DeliveryEvent.INTERVIEW_HELD
        data = {**notice.data, "held_at" if is_held else "ended_at": _shown(now)}
        due = {notice.event: now}
        if is_held and wait:
            due[DeliveryEvent.INTERVIEW_UNREAD] = written(datetime.fromisoformat(now) + wait)
        with self.database.writing():
            for receiver in self._receivers(notice.callback, is_danger=is_held):
                for event, at in due.items():
                    self._tell(event, data, receiver, seal, due=at, id_hash=id_hash)

    def _receivers(self, own_one: Callback | None, *, is_danger: bool) -> list[Callback]:
        """Return who is told, each once: the caller's own address, and of danger the operator's."""
        others = self.database.limits.danger_callback if is_danger else None
        receivers = (one for one in (own_one, others) if one is not None)
        return list({one.url: one for one in receivers}.values())

    def remind_unread(self, record_id: str) -> None:
        """Make it due later that danger of a job is not read, inside the transaction of its end.

        Reported to who is notified of the end, and to the address for danger. Nothing is due where
        there is neither, or nothing to be read now.
        """
        wait = self.database.limits.remind_unread
        row = self.database.one(_UNREAD_AT_END, of_record=record_id) if wait else None
        if row is None:
            return
        # What cannot be opened is not delivered either.
        with suppress(ArtifactMismatch, NotFound):
            seal, subject = self.keys.seal(row.subject_id), self.keys.name(row.subject_id)
            of_job = None
            if row.host is not None:
                url = seal.take(row.body, record_id, deliveries.name).decode()
                of_job = Callback(host=row.host, url=url)
            data = {
                "job_id": record_id,
                "batch_id": row.batch_id,
                "subject": subject,
                "state": row.state,
                "danger": level_of(row.danger),
                "danger_group": row.danger_group,
                "to_read": row.to_read,
                "ended_at": _shown(row.ended_at),
            }
            due = written(datetime.fromisoformat(row.ended_at) + wait)
            event = DeliveryEvent.ASSESSMENT_UNREAD
            for receiver in self._receivers(of_job, is_danger=True):
                self._tell(event, data, receiver, seal, due=due, record_id=record_id)

    def forget_reminder(self, **owner: str) -> None:
        """Delete the reminder of unread danger, in the transaction that confirms the reading.

        `owner`: the record or the interview, by its column.
        """
        told = deliveries.c.state == DeliveryState.DELIVERED
        is_reminder = own(deliveries, **owner) & deliveries.c.event.in_(_REMINDERS)
        self._change(delete(deliveries).where(is_reminder, not_(told)))

    def one(self, record_id: str) -> Delivery | None:
        """Return how far the webhook of a job is, `None` for a job without one."""
        row = self.database.one(select(deliveries).where(_IS_OF_JOB), of_record=record_id)
        return None if row is None else Delivery(state=DeliveryState(row.state), tries=row.tries)

    def claim(
        self, named: Sequence[str], free: Sequence[str], *, now: datetime
    ) -> DueDelivery | None:
        """Take a webhook that is due; no other process gets it for as long as a try may take.

        `named`: hosts that may get some; `free`: those that may get one now. Given up are those
        whose tries were all broken off, as those of which the address cannot be read, and those of
        a host that was not named for a day.
        """
        at, until, day_before = map(written, (now, now + TRY_TIME, now - UNNAMED_TIME))
        with self.database.writing():
            hosts = {"of_hosts": list(named)}
            self._change(_GIVE_UP, of_now=at, of_day_before=day_before, due=at, **hosts)
            row = self.database.one(_DUE, of_now=at, of_free=list(free))
            if row is None:
                # The one that was due first may have been erased.
                self.note_next()
                return None
            tries = {"of_tries": row.tries, "tries": row.tries + 1}
            self._change(_AFTER_TRY, of_event=row.event_id, due=until, **tries)
            with suppress(ArtifactMismatch):
                return self._due(row)
        return None

    def note(
        self, tried: DueDelivery, state: DeliveryState, reason: str | None, *, due: datetime
    ) -> None:
        """Note what came of a try; a failure only where no other try was begun since.

        `due`: when it is tried again, or its end. One that was delivered needs its address no more.
        """
        change: dict[str, Value] = {"state": state, "reason": reason, "due": written(due)}
        if state is DeliveryState.DELIVERED:
            delivered = update(deliveries).where(_IS_ONE)
            self._change(delivered, of_event=tried.id, body=None, **change)
        else:
            self._change(_AFTER_TRY, of_event=tried.id, of_tries=tried.tries, **change)

    def given_up(self) -> Sequence[Found]:
        """Return those that are tried no more and not removed yet, the oldest first.

        `due` is when they were given up, `reason` null where each try was broken off.
        """
        return self.database.all(select(deliveries).where(_IS_GIVEN_UP).order_by(deliveries.c.due))

    def redo(self, *, now: datetime) -> int:
        """Try all of those again, with their ids; returns how many they are."""
        again = update(deliveries).where(_IS_GIVEN_UP).values(state=DeliveryState.PENDING)
        return self._change(again, tries=0, due=written(now))

    def sweep(self, oldest: str) -> None:
        """Remove what was delivered or given up before."""
        ended = deliveries.c.state.in_([DeliveryState.DELIVERED, DeliveryState.GIVEN_UP])
        self.database.run(delete(deliveries).where(_IS_OWN, ended, deliveries.c.due < oldest))

    def note_next(self) -> None:
        """Note when the first of those is due that are not hidden."""
        self.database.run(_NEXT)

    def _change(self, statement: Executable, **values: Value) -> int:
        """Change webhooks, and note when the first is due then; returns how many."""
        with self.database.writing():
            count = self.database.run(statement, **values)
            if count:
                self.note_next()
        return count

    def _tell(
        self,
        event: DeliveryEvent,
        data: Mapping[str, object],
        callback: Callback,
        seal: Seal,
        *,
        due: str,
        **owner: str,
    ) -> None:
        """Make an event due, sealed with its address, inside a transaction.

        `owner`: the record or the interview, by its column.
        """
        (owner_id,) = owner.values()
        event_id = _new_id()
        body = {"id": event_id, "type": event, "timestamp": _shown(due), "data": data}
        content = json.dumps([callback.url, body], separators=(",", ":")).encode()
        row: dict[str, Value] = {
            **owner,
            "id": event_id,
            "event": event,
            "host": callback.host,
            "body": seal.put(content, owner_id, deliveries.name, event_id),
            "state": DeliveryState.PENDING,
            "due": due,
        }
        self.database.add(deliveries, row)
        self.note_next()

    def _due(self, row: Found) -> DueDelivery:
        seal, interview_id = self.keys.seal(row.subject_id), None
        owner_id = row.record_id or row.id_hash
        if row.event == DeliveryEvent.JOB_ENDED:
            url, event = seal.take(row.body, owner_id, deliveries.name).decode(), _end_of_job(row)
        else:
            url, event = json.loads(seal.take(row.body, owner_id, deliveries.name, row.event_id))
            interview_id = event["data"].get("interview_id")
        return DueDelivery(
            id=row.event_id,
            tenant=self.database.tenant,
            job_id=row.record_id,
            interview_id=interview_id,
            callback=Callback(host=row.host, url=url),
            body=json.dumps(event, separators=(",", ":")).encode(),
            tries=row.tries + 1,
        )


def _new_id() -> str:
    return f"msg_{uuid.uuid4().hex}"


def _shown(at: str) -> str:
    return at.replace("+00:00", "Z")


def _end_of_job(row: Found) -> dict[str, object]:
    created_at, ended_at = map(_shown, (row.created_at, row.ended_at))
    data = {
        "job_id": row.record_id,
        "batch_id": row.batch_id,
        "state": row.state,
        "status": row.status,
        "reason": row.reason,
        "danger": level_of(row.danger),
        "danger_group": row.danger_group,
        "created_at": created_at,
        "ended_at": ended_at,
    }
    return {"id": row.event_id, "type": f"job.{row.state}", "timestamp": ended_at, "data": data}
