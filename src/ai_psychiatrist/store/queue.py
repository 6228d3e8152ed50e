"""What is still to be done, of all tenants: whose turn is next, and who does what."""

from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from sqlalchemy import BindParameter, bindparam, func, select, update

from ai_psychiatrist.store.database import Database
from ai_psychiatrist.store.jobs import JobRef
from ai_psychiatrist.store.schema import queue, tenants

_OF_TENANT: Final[BindParameter[str]] = bindparam("of_tenant")
_OF_RECORD: Final[BindParameter[str]] = bindparam("of_record")
_OF_RUNNER: Final[BindParameter[str]] = bindparam("of_runner")
_MOST: Final[BindParameter[int]] = bindparam("most")
_IS_WAITING: Final = queue.c.runner.is_(None)
_IS_RUN: Final = queue.c.runner.is_not(None)


_IS_OF_TENANT: Final = queue.c.tenant == tenants.c.tenant
_UNDER_WAY: Final = select(func.count(queue.c.turn)).where(_IS_OF_TENANT, _IS_RUN)
_ANY: Final = select(queue.c.turn).where(_IS_WAITING).limit(1)
_NEXT_TENANT: Final = (
    select(tenants.c.tenant)
    .where(
        select(queue.c.turn).where(_IS_OF_TENANT, _IS_WAITING).exists(),
        _UNDER_WAY.scalar_subquery() < _MOST,
    )
    .order_by(tenants.c.served, tenants.c.tenant)
    .limit(1)
)
_NEXT: Final = (
    select(queue.c.record_id)
    .where(queue.c.tenant == _OF_TENANT, _IS_WAITING)
    .order_by(queue.c.turn)
    .limit(1)
)
_TAKEN: Final = update(queue).where(queue.c.tenant == _OF_TENANT, queue.c.record_id == _OF_RECORD)
_SERVED: Final = (
    update(tenants)
    .where(tenants.c.tenant == _OF_TENANT)
    .values(served=select(func.max(tenants.c.served) + 1).scalar_subquery())
)
_RUNNERS: Final = select(queue.c.runner).distinct().where(_IS_RUN)
_TAKEN_BY: Final = select(queue.c.tenant, queue.c.record_id).where(queue.c.runner == _OF_RUNNER)
_STATE: Final = select(
    func.count(queue.c.turn).label("rows"),
    func.count(queue.c.runner).label("running"),
    select(func.min(queue.c.at)).where(_IS_WAITING).scalar_subquery().label("oldest"),
)
_NO_LIMIT: Final = 2**31 - 1


class QueueState(NamedTuple):
    """How much there is to do."""

    waiting: int
    running: int
    oldest_waiting: str | None
    """When the oldest one that waits was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """The jobs of all tenants that have no end yet.

    Tenants take turns, and in each those who ask do. Every method may raise `StoreUnusable`.
    """

    database: Database

    def claim(self, runner: str, *, per_tenant: int = 0) -> JobRef | None:
        """Give a process the job whose turn it is, `None` where none may be begun.

        `per_tenant`: most jobs of one tenant at once, in all processes together; 0: any.
        """
        if not self.database.across_tenants(_ANY):
            return None
        with self.database.among_tenants() as connection:
            tenant = connection.scalar(_NEXT_TENANT, {"most": per_tenant or _NO_LIMIT})
            record_id = connection.scalar(_NEXT, {"of_tenant": tenant})
            if tenant is None or record_id is None:
                return None
            # First the tenant's row, as who ends or hides a job: neither then waits for the other.
            connection.execute(_SERVED, {"of_tenant": tenant})
            names = {"of_tenant": tenant, "of_record": record_id}
            is_there = connection.execute(_TAKEN, {**names, "runner": runner}).rowcount > 0
        return JobRef(tenant, record_id) if is_there else None

    def runners(self) -> frozenset[str]:
        """Return the processes that say they are doing a job."""
        return frozenset(str(row.runner) for row in self.database.across_tenants(_RUNNERS))

    def tenants_of(self, runner: str, *, but: Container[str] = ()) -> frozenset[str]:
        """Return whose jobs a process has claimed, all `but` those with these ids."""
        return frozenset(job.tenant for job in self._taken_by(runner) if job.id not in but)

    def state(self) -> QueueState:
        """Return how much there is to do."""
        (row,) = self.database.across_tenants(_STATE)
        return QueueState(row.rows - row.running, row.running, row.oldest)

    def _taken_by(self, runner: str) -> Iterator[JobRef]:
        for row in self.database.across_tenants(_TAKEN_BY, of_runner=runner):
            yield JobRef(row.tenant, row.record_id)
