"""What is still to be done, of all tenants: whose turn is next, and who does what."""

from collections.abc import Collection, Container
from dataclasses import dataclass
from typing import Final, NamedTuple

from sqlalchemy import BindParameter, ColumnElement, bindparam, func, or_, select, update

from ai_psychiatrist.store.database import Database, Value
from ai_psychiatrist.store.jobs import JobRef
from ai_psychiatrist.store.schema import queue, tenants

_OF_TENANT: Final[BindParameter[str]] = bindparam("of_tenant")
_OF_ID: Final[BindParameter[str]] = bindparam("of_id")
_OF_RUNNER: Final[BindParameter[str]] = bindparam("of_runner")
_MOST: Final[BindParameter[int]] = bindparam("most")
_IS_WAITING: Final = queue.c.runner.is_(None)
_IS_RUN: Final = queue.c.runner.is_not(None)
_IS_JOB: Final = queue.c.run.is_(None)

_IS_OF_TENANT: Final = queue.c.tenant == tenants.c.tenant
_UNDER_WAY: Final = select(func.count(queue.c.turn)).where(_IS_OF_TENANT, _IS_RUN)


class _Looks:
    """The queries of a process that may be given some of what waits, made once."""

    def __init__(self, may_be: ColumnElement[bool]) -> None:
        self.any: Final = select(queue.c.turn).where(_IS_WAITING, may_be).limit(1)
        of_tenant = select(queue.c.turn).where(_IS_OF_TENANT, _IS_WAITING, may_be)
        self.next_tenant: Final = (
            select(tenants.c.tenant)
            .where(_UNDER_WAY.scalar_subquery() < _MOST, of_tenant.exists())
            .order_by(tenants.c.served, tenants.c.tenant)
            .limit(1)
        )
        self.next: Final = (
            select(queue.c.tenant, queue.c.id, queue.c.run, queue.c.unit, queue.c.taken)
            .where(queue.c.tenant == _OF_TENANT, _IS_WAITING, may_be)
            .order_by(queue.c.turn)
            .limit(1)
        )


_FOR_JOBS: Final = _Looks(_IS_JOB)
_FOR_RUN: Final = _Looks(queue.c.run == bindparam("only_run"))
_FOR_ALL: Final = _Looks(or_(_IS_JOB, queue.c.run.not_in(bindparam("but", expanding=True))))
_TAKEN: Final = update(queue).where(queue.c.tenant == _OF_TENANT, queue.c.id == _OF_ID)
_SERVED: Final = (
    update(tenants)
    .where(tenants.c.tenant == _OF_TENANT)
    .values(served=select(func.max(tenants.c.served) + 1).scalar_subquery())
)
_RUNNERS: Final = select(queue.c.runner).distinct().where(_IS_RUN)
_TAKEN_BY: Final = select(queue.c.tenant, queue.c.id).where(queue.c.runner == _OF_RUNNER)
_STATE: Final = select(
    func.count(queue.c.turn).label("rows"),
    func.count(queue.c.runner).label("running"),
    select(func.min(queue.c.at)).where(_IS_JOB, _IS_WAITING).scalar_subquery().label("oldest"),
).where(_IS_JOB)
_NO_LIMIT: Final = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Takes:
    """What of the queue a process may be given."""

    only_run: str | None = None
    """Units of this run alone."""
    other_runs: bool = False
    """Whether units of runs as well as jobs."""
    but: Collection[str] = ()
    """Runs whose units are left to others."""

    @property
    def looks(self) -> tuple[_Looks, dict[str, Value]]:
        """The queries for it, and their values."""
        if self.only_run is not None:
            return _FOR_RUN, {"only_run": self.only_run}
        return (_FOR_ALL, {"but": sorted(self.but)}) if self.other_runs else (_FOR_JOBS, {})


JOBS: Final = Takes()
"""Jobs alone."""


class QueueState(NamedTuple):
    """How much there is to do."""

    waiting: int
    running: int
    oldest_waiting: str | None
    """When the oldest one that waits was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """The jobs, and units of runs, of all tenants that have no end yet.

    Tenants take turns, and in each those who ask do. Every method may raise `StoreUnusable`.
    """

    database: Database

    def claim(self, runner: str, *, per_tenant: int = 0, takes: Takes = JOBS) -> JobRef | None:
        """Give a process what has its turn, `None` where nothing may be begun.

        `per_tenant`: most of one tenant at once, in all processes together; 0: any.
        """
        looks, values = takes.looks
        # In a file whoever writes keeps all others from it, even if there is nothing to be done.
        if self.database.is_sqlite and not self.database.across_tenants(looks.any, **values):
            return None
        with self.database.among_tenants() as connection:
            tenant = connection.scalar(
                looks.next_tenant, {**values, "most": per_tenant or _NO_LIMIT}
            )
            row = connection.execute(looks.next, {**values, "of_tenant": tenant}).first()
            if row is None:
                return None
            found = JobRef(*row)
            # First the tenant's row, as who ends or hides a job: neither then waits for the other.
            connection.execute(_SERVED, {"of_tenant": tenant})
            names = {"of_tenant": tenant, "of_id": found.id}
            taken = {"runner": runner, "taken": found.taken + 1}
            is_there = connection.execute(_TAKEN, {**names, **taken}).rowcount > 0
        return found if is_there else None

    def runners(self) -> frozenset[str]:
        """Return the processes that say they are doing something."""
        return frozenset(str(row.runner) for row in self.database.across_tenants(_RUNNERS))

    def taken_by(self, runner: str) -> frozenset[JobRef]:
        """Return what a process has claimed and is still to do, each by tenant and id alone."""
        rows = self.database.across_tenants(_TAKEN_BY, of_runner=runner)
        return frozenset(JobRef(row.tenant, row.id) for row in rows)

    def tenants_of(self, runner: str, *, but: Container[str] = ()) -> frozenset[str]:
        """Return whose work a process has claimed, all `but` what has these ids."""
        return frozenset(job.tenant for job in self.taken_by(runner) if job.id not in but)

    def state(self) -> QueueState:
        """Return the numbers of waiting and running jobs, without units of runs."""
        (row,) = self.database.across_tenants(_STATE)
        return QueueState(row.rows - row.running, row.running, row.oldest)
