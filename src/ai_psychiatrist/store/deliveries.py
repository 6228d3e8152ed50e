"""Webhooks of a tenant's jobs: due with the end of a job, tried by one process at a time.

Ids, hosts and codes stand in the clear. An address is sealed with the key of the job's subject
until it is not needed any longer, and all goes with the job.
"""

import json
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from sqlalchemy import bindparam, delete, func, select, update

from ai_psychiatrist.domain.errors import ArtifactMismatch
from ai_psychiatrist.domain.shape import Shape
from ai_psychiatrist.store.database import Found, TenantDatabase, Value, written
from ai_psychiatrist.store.jobs import Callback
from ai_psychiatrist.store.keys import Seal
from ai_psychiatrist.store.records import NOT_ERASED, OF_RECORD, RecordRows, level_of
from ai_psychiatrist.store.schema import OF_TENANT, deliveries, jobs, records, tenants

MOST_TRIES: Final = 12
TRY_TIME: Final = timedelta(minutes=1)
"""A try that has not ended after this was broken off; several times what one may take."""
UNNAMED_TIME: Final = timedelta(days=1)
"""How long a webhook waits for its host to be named in the settings again."""


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
class DueDelivery:
    """A webhook that this process is to send now."""

    id: str
    """The same at each try."""
    job_id: str
    callback: Callback
    body: bytes = field(repr=False)
    """JSON of the event, without words; the same at each try."""
    tries: int
    """With the one that is to be made now."""


_IS_OWN: Final = deliveries.c.tenant == OF_TENANT
_IS_PENDING: Final = _IS_OWN & (deliveries.c.state == DeliveryState.PENDING)
_IS_GIVEN_UP: Final = _IS_OWN & (deliveries.c.state == DeliveryState.GIVEN_UP)
_IS_DUE: Final = _IS_PENDING & (deliveries.c.due <= bindparam("of_now"))
_ONE: Final = select(deliveries).where(_IS_OWN, deliveries.c.record_id == OF_RECORD)
_CHANGE: Final = update(deliveries).where(_IS_OWN, deliveries.c.record_id == OF_RECORD)
_MAKE_DUE: Final = _CHANGE.where(deliveries.c.state == DeliveryState.EXPECTED)
_AFTER_TRY: Final = _CHANGE.where(_IS_PENDING, deliveries.c.tries == bindparam("of_tries"))
_GIVE_UP: Final = update(deliveries).where(_IS_DUE).values(state=DeliveryState.GIVEN_UP)
_GIVE_UP_BROKEN_OFF: Final = _GIVE_UP.where(deliveries.c.tries >= MOST_TRIES)
_GIVE_UP_UNNAMED: Final = _GIVE_UP.where(
    deliveries.c.host.not_in(bindparam("of_hosts", expanding=True))
).values(reason="host_not_named")
_DUE: Final = (
    select(
        *deliveries.c["record_id", "host", "body", "tries"],
        deliveries.c.id.label("event_id"),
        *records.c["state", "reason", "created_at", "danger", "danger_group"],
        *jobs.c["batch_id", "ended_at"],
    )
    .join_from(
        deliveries,
        records,
        (records.c.tenant == deliveries.c.tenant) & (records.c.id == deliveries.c.record_id),
    )
    .join(jobs, (jobs.c.tenant == records.c.tenant) & (jobs.c.record_id == records.c.id))
    .where(_IS_DUE, NOT_ERASED, deliveries.c.host == bindparam("of_host"))
    .order_by(deliveries.c.due)
    .limit(bindparam("most"))
)
_EXPIRED: Final = delete(deliveries).where(
    _IS_OWN,
    deliveries.c.state.in_([DeliveryState.DELIVERED, DeliveryState.GIVEN_UP]),
    deliveries.c.due < bindparam("of_oldest"),
)
_NEXT: Final = (
    update(tenants)
    .where(tenants.c.tenant == OF_TENANT)
    .values(next_delivery=select(func.min(deliveries.c.due)).where(_IS_PENDING).scalar_subquery())
)


def expect_end(database: TenantDatabase, record_id: str, callback: Callback, seal: Seal) -> None:
    """Note who is notified of the end of a job, inside the transaction that stores it."""
    row: dict[str, Value] = {
        "record_id": record_id,
        "id": f"msg_{uuid.uuid4().hex}",
        "host": callback.host,
        "body": seal.put(callback.url.encode(), record_id, deliveries.name),
        "state": DeliveryState.EXPECTED,
    }
    database.add(deliveries, row)


def make_due(database: TenantDatabase, record_id: str, now: str) -> None:
    """Make the webhook of a job due, where one is wanted, inside the transaction of its end."""
    if database.run(_MAKE_DUE, of_record=record_id, state=DeliveryState.PENDING, due=now):
        database.run(_NEXT)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryRows:
    """Those of a tenant; every change is one transaction."""

    database: TenantDatabase
    rows: RecordRows = field(repr=False)

    def one(self, record_id: str) -> Delivery | None:
        """Return how far the webhook of a job is, `None` where nobody wants one."""
        row = self.database.one(_ONE, of_record=record_id)
        return None if row is None else Delivery(state=DeliveryState(row.state), tries=row.tries)

    def claim(self, hosts: Mapping[str, int], *, now: datetime) -> tuple[DueDelivery, ...]:
        """Take webhooks that are due; no other process gets them for as long as a try may take.

        `hosts`: how many each may get now. Given up are those whose tries were all broken off, as
        those of which the address cannot be read, and those of a host that was not named for a day.
        """
        at, until = written(now), written(now + TRY_TIME)
        claimed: list[DueDelivery] = []
        with self.database.writing():
            self.database.run(_GIVE_UP_BROKEN_OFF, of_now=at, due=at)
            before = written(now - UNNAMED_TIME)
            self.database.run(_GIVE_UP_UNNAMED, of_now=before, of_hosts=list(hosts), due=at)
            for host, most in hosts.items():
                for row in self.database.all(_DUE, of_now=at, of_host=host, most=most):
                    tries = {"of_tries": row.tries, "tries": row.tries + 1}
                    self.database.run(_AFTER_TRY, of_record=row.record_id, due=until, **tries)
                    with suppress(ArtifactMismatch):
                        claimed.append(self._due(row))
            self.database.run(_NEXT)
        return tuple(claimed)

    def note(
        self, tried: DueDelivery, state: DeliveryState, reason: str | None, *, due: datetime
    ) -> None:
        """Note what came of a try; a failure only where no other try was begun since.

        `due`: when it is tried again, or its end. One that was delivered needs its address no more.
        """
        change: dict[str, Value] = {"state": state, "reason": reason, "due": written(due)}
        with self.database.writing():
            if state is DeliveryState.DELIVERED:
                self.database.run(_CHANGE, of_record=tried.job_id, body=None, **change)
            else:
                change |= {"of_record": tried.job_id, "of_tries": tried.tries}
                self.database.run(_AFTER_TRY, **change)
            self.database.run(_NEXT)

    def given_up(self) -> Sequence[Found]:
        """Return those that are tried no more and not removed yet, the oldest first.

        `due` is when they were given up, `reason` null where each try was broken off.
        """
        return self.database.all(select(deliveries).where(_IS_GIVEN_UP).order_by(deliveries.c.due))

    def redo(self, *, now: datetime) -> int:
        """Try all of those again, with their ids; returns how many they are."""
        with self.database.writing():
            anew = update(deliveries).where(_IS_GIVEN_UP).values(state=DeliveryState.PENDING)
            count = self.database.run(anew, tries=0, due=written(now))
            self.database.run(_NEXT)
        return count

    def sweep(self, oldest: str) -> None:
        """Remove what was delivered or given up before."""
        self.database.run(_EXPIRED, of_oldest=oldest)

    def _due(self, row: Found) -> DueDelivery:
        seal = self.rows.seal_of(row.record_id)
        url = seal.take(row.body, row.record_id, deliveries.name).decode()
        return DueDelivery(
            id=row.event_id,
            job_id=row.record_id,
            callback=Callback(host=row.host, url=url),
            body=_event(row),
            tries=row.tries + 1,
        )


def _event(row: Found) -> bytes:
    created_at, ended_at = (at.replace("+00:00", "Z") for at in (row.created_at, row.ended_at))
    data = {
        "job_id": row.record_id,
        "batch_id": row.batch_id,
        "state": row.state,
        "reason": row.reason,
        "danger": level_of(row.danger),
        "danger_group": row.danger_group,
        "created_at": created_at,
        "ended_at": ended_at,
    }
    event = {"id": row.event_id, "type": f"job.{row.state}", "timestamp": ended_at, "data": data}
    return json.dumps(event, separators=(",", ":")).encode()
