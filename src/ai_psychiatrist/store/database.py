"""Transactions of the database, of one tenant or of what belongs to none, and what rows hold."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeAlias

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Executable,
    Row,
    Select,
    Table,
    and_,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.exc import DBAPIError

from ai_psychiatrist.domain.callback import Callback
from ai_psychiatrist.domain.errors import StoreUnusable
from ai_psychiatrist.store.errors import out_of_bytes, translated
from ai_psychiatrist.store.schema import KEYS, OF_TENANT, tenants

Value: TypeAlias = str | int | bool | bytes | Sequence[str] | None
Found: TypeAlias = Row[Any]

BEGIN: Final = "store_begin"
"""Execution option of a connection: what begins its transaction."""
_READ_ROWS: Final = 200
_NO_TENANT: Final = ""
"""Of transactions about what belongs to no tenant alone."""
_OF_TENANT_ALONE: Final = "SELECT set_config('store.tenant', {tenant}, true)"
_ENDED_AFTER_PAUSE: Final = ", set_config('idle_in_transaction_session_timeout', '{pause}s', true)"
_LONGEST_PAUSE_SECONDS: Final = 15
"""A machine that stands still amid a transaction would hold its locks as long as it does."""
_AMONG_TENANTS: Final = "SELECT pg_advisory_xact_lock(7203914419)"
"""Any number that no other program takes."""
_ALONE: Final = "SELECT FROM tenants WHERE tenant = {tenant} FOR UPDATE"
_SHARED: Final = "SELECT FROM tenants WHERE tenant = {tenant} FOR KEY SHARE"
"""Waits for those that are alone, and they for it: else each might hold rows of the other."""
_COUNTERS: Final = select(tenants).where(tenants.c.tenant == OF_TENANT)


def own(table: Table, **columns: Value) -> ColumnElement[bool]:
    """Return the condition of a tenant's rows that have these values in columns."""
    given = (table.c[name] == value for name, value in columns.items())
    return and_(table.c.tenant == OF_TENANT, *given)


def written(moment: datetime) -> str:
    """Return a moment as all columns have it, so that their order is that of the texts."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")


class Database:
    """Connections to SQLite or PostgreSQL; any thread may use it, and any number of processes.

    Every method may raise `StoreUnusable`.
    """

    def __init__(
        self, engine: Engine, *, translated: Callable[[], AbstractContextManager[None]] = translated
    ) -> None:
        """`translated`: raises what errors of the database are to callers."""
        self._engine = engine
        self._translated = translated
        self.is_sqlite: Final = engine.dialect.name == "sqlite"
        # SQLite has one writer, whom another thread had better wait for than ask again and again.
        self._writing = threading.Lock()
        self._open = threading.local()

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def tenants(self, *, due: str | None = None) -> tuple[str, ...]:
        """Return the tenants that have stored something.

        `due`: only those with a webhook that is due at this time, the longest due first.
        """
        query = select(tenants.c.tenant).order_by(tenants.c.tenant)
        if due is not None:
            is_due = tenants.c.next_delivery <= due
            query = select(tenants.c.tenant).where(is_due).order_by(tenants.c.next_delivery)
        return tuple(str(row.tenant) for row in self.across_tenants(query))

    @contextmanager
    def transaction(
        self, tenant: str, *, writes: bool, is_alone: bool = True
    ) -> Iterator[Connection]:
        """Make everything inside happen, or nothing; one inside another belongs to the outer.

        `is_alone`: whether no other one of the tenant that writes may overlap with it.
        """
        outer: tuple[Connection, str, bool] | None = getattr(self._open, "found", None)
        if outer is not None:
            connection, outer_tenant, may_write = outer
            if outer_tenant != tenant or (writes and not may_write):
                msg = "a transaction is begun within one of another tenant, or one that only reads"
                raise RuntimeError(msg)
            yield connection
            return
        with self._begun(tenant, writes=writes, is_alone=is_alone) as connection:
            self._open.found = connection, tenant, writes
            try:
                yield connection
            finally:
                self._open.found = None

    def stream(
        self, tenant: str, query: Executable, values: Mapping[str, Value]
    ) -> Iterator[Found]:
        """Yield the rows of a query as they were at the start, whatever is written meanwhile."""
        with self._begun(tenant, writes=False) as connection:
            yield from connection.execution_options(yield_per=_READ_ROWS).execute(query, values)

    def among_tenants(self, *, is_alone: bool = True) -> AbstractContextManager[Connection]:
        """Change what belongs to no tenant alone.

        `is_alone`: whether no other such change may overlap with the block; it then waits for
        others, which may wait for a tenant.
        """
        return self.transaction(_NO_TENANT, writes=True, is_alone=is_alone)

    def across_tenants(self, query: Executable, **values: Value) -> Sequence[Found]:
        """Return all rows of a query about what belongs to no tenant alone."""
        with self.transaction(_NO_TENANT, writes=False) as connection:
            return connection.execute(query, values).all()

    def change(self, statement: Executable, **values: Value) -> int:
        """Change rows that belong to no tenant alone, whatever others change; return how many."""
        with self.among_tenants(is_alone=False) as connection:
            return connection.execute(statement, values).rowcount

    @contextmanager
    def _begun(self, tenant: str, *, writes: bool, is_alone: bool = True) -> Iterator[Connection]:
        """Begin a transaction of a tenant, or of what belongs to none."""
        alone = self._writing if writes and self.is_sqlite else nullcontext()
        options = {BEGIN: self._beginning(tenant, writes=writes, is_alone=is_alone)}
        with alone, self._translated(), ExitStack() as at_end:
            try:
                connection = self._connected(at_end, options)
            except DBAPIError as error:
                if not error.connection_invalidated:
                    raise
                # The server was started again: all connections of before are thrown away.
                connection = self._connected(at_end, options)
            yield connection

    def _connected(self, at_end: ExitStack, options: Mapping[str, str]) -> Connection:
        found = at_end.enter_context(self._engine.connect())
        connection = found.execution_options(**options)
        at_end.enter_context(connection.begin())
        return connection

    def _beginning(self, tenant: str, *, writes: bool, is_alone: bool) -> str:
        """Return what begins a transaction, all of it in one message to PostgreSQL."""
        if self.is_sqlite:
            return "BEGIN IMMEDIATE" if writes else "BEGIN"
        # Without the level each query of a reader would see what was committed until then.
        settings = _OF_TENANT_ALONE + (_ENDED_AFTER_PAUSE if writes else "")
        parts = ["BEGIN" if writes else "BEGIN ISOLATION LEVEL REPEATABLE READ", settings]
        if writes and tenant != _NO_TENANT:
            parts.append(_ALONE if is_alone else _SHARED)
        elif writes and is_alone:
            parts.append(_AMONG_TENANTS)
        quoted = "'" + tenant.replace("'", "''") + "'"
        return "; ".join(parts).format(tenant=quoted, pause=_LONGEST_PAUSE_SECONDS)

    def faults(self) -> int:
        """Return how many faults the files of SQLite have; PostgreSQL looks after its own."""
        if not self.is_sqlite:
            return 0
        checks = ("PRAGMA main.integrity_check", f"PRAGMA {KEYS}.integrity_check")
        with self._translated(), self._engine.connect() as connection:
            found = [row for one in checks for row in connection.exec_driver_sql(one).scalars()]
            loose = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
        return len([one for one in found if one != "ok"]) + len(loose)

    def forget_deleted(self, *, rewrites_keys: bool) -> bool:
        """Leave nothing of deleted rows in the files; returns whether that succeeded at once.

        `rewrites_keys`: a page of the keys that was split keeps what has moved to another one.
        What another process that reads or a full disk keeps from it is left to the next call.
        """
        tables = (f"{KEYS}.subjects", f"{KEYS}.wraps")
        try:
            with self._translated(), self._engine.connect() as connection:
                if not self.is_sqlite:
                    for table in tables if rewrites_keys else ():
                        connection.exec_driver_sql(f"VACUUM FULL {table}")
                    return True
                if rewrites_keys:
                    connection.exec_driver_sql(f"VACUUM {KEYS}")
                checkpoints = [f"PRAGMA {one}.wal_checkpoint(TRUNCATE)" for one in ("main", KEYS)]
                busy = [connection.exec_driver_sql(one).scalar() for one in checkpoints]
                return not any(busy)
        except StoreUnusable:
            return False


def utc_now() -> datetime:
    """Return this moment."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreLimits:
    """Bounds of what a tenant stores."""

    keep: timedelta = timedelta(days=365)
    """How long an assessment is kept after it was begun."""
    grace: timedelta = timedelta(days=14)
    """How long what a sweep has hidden can be brought back, interviews as well."""
    sweep_after_jump: bool = False
    """Whether the first sweep takes the clock for right."""
    unique_subjects: bool = False
    """Whether a subject has one assessment at most, those that came to nothing apart."""
    max_records: int = 100_000
    max_bytes: int = 0
    """Of all that is sealed, interviews included; 0: as many as there is room for."""
    keep_keys: timedelta = timedelta(hours=25)
    """How long a key of a request is known after it came; a sweep comes each hour."""
    keep_deliveries: timedelta = timedelta(days=14)
    """How long a webhook is remembered after it was delivered or given up."""
    remind_unread: timedelta = timedelta(hours=1)
    """How long after the end of a job its statements of danger may be unread; 0: any time."""
    danger_callback: Callback | None = None
    """Where danger in every interview and assessment is reported, beside a `callback_url`."""
    keep_interviews: timedelta = timedelta(days=30)
    """How long an interview is kept after its last change."""
    max_interviews: int = 10_000
    max_interview_bytes: int = 1_073_741_824
    """Of what is sealed; a new interview has to fit in."""


@dataclass(frozen=True, slots=True)
class TenantDatabase:
    """What the database holds of one tenant: every statement is about its rows alone.

    Every method raises `StoreUnusable`.
    """

    database: Database
    tenant: str
    limits: StoreLimits = StoreLimits()
    clock: Callable[[], datetime] = utc_now

    def now(self) -> str:
        """Return this moment as columns have it."""
        return written(self.clock())

    def open(self) -> None:
        """Make the tenant known."""
        if self.one(_COUNTERS) is None:
            row = {"tenant": self.tenant, "last_record": 0, "last_review": 0}
            with self.database.among_tenants() as connection:
                # Of servers that start at once one makes the row.
                if connection.execute(_COUNTERS, self._owned({})).first() is None:
                    connection.execute(insert(tenants), {**row, "last_sweep": self.now()})

    def writing(self, *, is_alone: bool = True) -> AbstractContextManager[Connection]:
        """Make the changes in the block, or none.

        `is_alone`: no other transaction of this tenant that writes may overlap with it.
        """
        return self.database.transaction(self.tenant, writes=True, is_alone=is_alone)

    def reading(self) -> AbstractContextManager[Connection]:
        """Let the block see all rows as they were at one moment."""
        return self.database.transaction(self.tenant, writes=False)

    def all(self, query: Executable, **values: Value) -> Sequence[Found]:
        """Return all rows of a query."""
        with self.reading() as connection:
            return connection.execute(query, self._owned(values)).all()

    def one(self, query: Executable, **values: Value) -> Found | None:
        """Return the first row of a query, `None` where it has none."""
        with self.reading() as connection:
            return connection.execute(query, self._owned(values)).first()

    def count(self, query: Select[Any], **values: Value) -> int:
        """Return how many rows a query has."""
        with self.reading() as connection:
            counted = select(func.count()).select_from(query.subquery())
            return int(connection.scalar(counted, self._owned(values)) or 0)

    def stream(self, query: Executable, **values: Value) -> Iterator[Found]:
        """Yield the rows of a query as they were at the start, whatever is written meanwhile."""
        return self.database.stream(self.tenant, query, self._owned(values))

    def run(self, statement: Executable, **values: Value) -> int:
        """Change rows, and return how many."""
        with self.writing() as connection:
            return connection.execute(statement, self._owned(values)).rowcount

    def run_each(self, statement: Executable, rows: Sequence[Mapping[str, Value]]) -> None:
        """Carry a statement out for each of some values, at least one."""
        with self.writing(is_alone=False) as connection:
            connection.execute(statement, [self._owned(row) for row in rows])

    def add(self, table: Table, *rows: Mapping[str, Value]) -> None:
        """Add rows."""
        with self.writing() as connection:
            connection.execute(insert(table), [{**row, "tenant": self.tenant} for row in rows])

    def counter(self, name: str) -> int:
        """Return what stands in a column of the tenant: a last number, or stored bytes."""
        row = self.one(_COUNTERS)
        return 0 if row is None else int(row._mapping[name])  # noqa: SLF001  its public way

    def numbers(self, name: str, count: int = 1) -> range:
        """Return the next numbers of a counter of the tenant; none is given twice."""
        with self.writing():
            last = self.counter(name)
            self.run(update(tenants).where(own(tenants)), **{name: last + count})
        return range(last + 1, last + count + 1)

    def require_room(self, further: int = 0) -> None:
        """Raise `StoreUnusable` where so many further bytes are more than the tenant may store.

        Called after rows were added, in the same transaction, it leaves nothing of them.
        """
        if 0 < self.limits.max_bytes < self.bytes_stored() + further:
            raise out_of_bytes()

    def bytes_stored(self) -> int:
        """Return how many sealed bytes are stored."""
        return self.counter("record_bytes") + self.counter("interview_bytes")

    def _owned(self, values: Mapping[str, Value]) -> dict[str, Value]:
        return {OF_TENANT.key: self.tenant, **values}
