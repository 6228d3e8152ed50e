"""The one place that opens the database, begins transactions and says what cannot be used."""

import sqlite3
import threading
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeAlias

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    Executable,
    Row,
    Table,
    bindparam,
    create_engine,
    event,
    func,
    insert,
    inspect,
    select,
    text,
    update,
)
from sqlalchemy.exc import CompileError, IntegrityError
from sqlalchemy.pool import QueuePool
from sqlalchemy.schema import CreateSchema

from ai_psychiatrist.domain.errors import (
    ArtifactMismatch,
    ConfigurationError,
    InputError,
    StoreUnusable,
)
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.private_files import STATE_DIR_CURE, make_private_file
from ai_psychiatrist.store.errors import out_of_bytes, translated
from ai_psychiatrist.store.run_schema import RUNS
from ai_psychiatrist.store.schema import (
    KEYS,
    METADATA,
    OF_TENANT,
    SCHEMA_VERSION,
    key_meta,
    meta,
    tenants,
)

logger = get_logger(__name__)

Value: TypeAlias = str | int | bool | bytes | Sequence[str] | None
Found: TypeAlias = Row[Any]

FILE_NAME: Final = "store.sqlite"
KEYS_NAME: Final = "keys.sqlite"

_CARRY_OVER: Final = (
    "is a store of an earlier version: with that version write `records export`, move the file "
    "elsewhere, and `records import` here"
)
_EARLIER: Final = {
    "records/*/assessments.sqlite": _CARRY_OVER,
    "interviews.sqlite": _CARRY_OVER,
    "interviews/*.sqlite": _CARRY_OVER,
    "access.sqlite": (
        "holds the keys of an earlier version: move it elsewhere, and make keys anew with "
        "`ai-psychiatrist keys create`"
    ),
    **dict.fromkeys(
        ("audit/*.sqlite", "audit-heads/*.head"),
        "belongs to an audit log of an earlier version: check it with that version's `audit "
        "verify`, and keep the folders `audit` and `audit-heads` elsewhere",
    ),
    "webhooks.sqlite": (
        "holds webhooks of an earlier version: let a server of that version deliver them, then "
        "move the file elsewhere"
    ),
}
"""Files of earlier versions by their names, and what to do with them."""
_BUSY_SECONDS: Final = 5.0
_MAKING: Final = 7_203_914_418
"""Number of the lock of who makes the tables; any that no other program takes."""
_NO_TENANT: Final = ""
"""Of transactions about what belongs to no tenant alone."""
_AMONG_TENANTS: Final = select(func.pg_advisory_xact_lock(7_203_914_419))
"""What keeps changes of it from each other; any number that no other program takes."""
_AGAIN_SECONDS: Final = 0.01
_CONNECTIONS: Final = 8
_READ_ROWS: Final = 200
_MOST_JOURNAL_BYTES: Final = 1_048_576
"""What stays of the side file that something large went through."""
_MOST_VALUE_BYTES: Final = 100_000_000
_VERSION: Final = "schema_version"
_WRITES: Final = "store_writes"
"""Execution option of a connection: whether its transaction writes; `None` begins none."""
_COUNTERS: Final = select(tenants).where(tenants.c.tenant == OF_TENANT)
_LOCKED: Final = _COUNTERS.with_for_update()
_NUMBERED: Final = update(tenants).where(tenants.c.tenant == OF_TENANT)
_ROLE: Final = text("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user")
_TENANTS: Final = select(tenants.c.tenant).order_by(tenants.c.tenant)
_DUE_TENANTS: Final = (
    select(tenants.c.tenant)
    .where(tenants.c.next_delivery <= bindparam("of_due"))
    .order_by(tenants.c.next_delivery)
)


class Database:
    """Connections to SQLite or PostgreSQL; any thread may use it, and any number of processes."""

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
        """Return the tenants that have stored something; raises `StoreUnusable`.

        `due`: only those with a webhook that is due at this time, the longest due first.
        """
        query = _TENANTS if due is None else _DUE_TENANTS.params(of_due=due)
        return tuple(str(row.tenant) for row in self.across_tenants(query))

    @contextmanager
    def transaction(
        self, tenant: str, *, writes: bool, is_alone: bool = True
    ) -> Iterator[Connection]:
        """Make everything inside happen, or nothing; one inside another belongs to the outer.

        `is_alone`: whether no other one of the tenant that writes may overlap with it. Raises
        `StoreUnusable`.
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
        with self._begun(tenant, writes=False, is_alone=False) as connection:
            yield from connection.execution_options(yield_per=_READ_ROWS).execute(query, values)

    def among_tenants(self, *, is_alone: bool = True) -> AbstractContextManager[Connection]:
        """Change what belongs to no tenant alone.

        `is_alone`: whether no other such change may overlap with the block; it then waits for
        others, which may wait for a tenant. Raises `StoreUnusable`.
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
    def _exclusive(self, *, writes: bool) -> Iterator[None]:
        """Let one thread of this process write to SQLite at a time."""
        if not (writes and self.is_sqlite):
            yield
            return
        with self._writing:
            yield

    @contextmanager
    def _begun(self, tenant: str, *, writes: bool, is_alone: bool) -> Iterator[Connection]:
        with self._exclusive(writes=writes), self._translated(), self._engine.connect() as found:
            connection = found.execution_options(**{_WRITES: writes})
            with connection.begin():
                if not self.is_sqlite:
                    setting = "SELECT set_config('store.tenant', %s, true)"
                    connection.exec_driver_sql(setting, (tenant,))
                    if writes and is_alone:
                        lock = _AMONG_TENANTS if tenant == _NO_TENANT else _LOCKED
                        connection.execute(lock, {OF_TENANT.key: tenant})
                yield connection

    def faults(self) -> int:
        """Return how many faults the files of SQLite have; PostgreSQL looks after its own.

        Raises `StoreUnusable` for files that cannot be read at all.
        """
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
        try:
            with self._translated(), self._engine.connect() as found:
                if self.is_sqlite:
                    return _forget_in_files(found, rewrites_keys=rewrites_keys)
                if rewrites_keys:
                    connection = found.execution_options(isolation_level="AUTOCOMMIT")
                    for name in ("subjects", "wraps"):
                        connection.exec_driver_sql(f"VACUUM FULL {KEYS}.{name}")
                return True
        except StoreUnusable:
            return False


@dataclass(frozen=True, slots=True)
class TenantDatabase:
    """What the database holds of one tenant: every statement is about its rows alone.

    Every method raises `StoreUnusable`.
    """

    database: Database
    tenant: str
    max_bytes: int = 0
    """Most bytes that the tenant stores; 0: as many as there is room for."""

    def open(self, now: str) -> None:
        """Make the tenant known."""
        if self.one(_COUNTERS) is None:
            own = {OF_TENANT.key: self.tenant}
            with self.database.among_tenants() as connection:
                # Of servers that start at once one makes the row.
                if connection.execute(_COUNTERS, own).first() is None:
                    counters = {"last_record": 0, "last_review": 0, "last_sweep": now}
                    connection.execute(insert(tenants), {"tenant": self.tenant, **counters})

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Let no other transaction of this tenant that writes overlap with the block."""
        with self.database.transaction(self.tenant, writes=True) as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let the block see all rows as they were at one moment."""
        with self.database.transaction(self.tenant, writes=False):
            yield

    def all(self, query: Executable, **values: Value) -> Sequence[Found]:
        """Return all rows of a query."""
        with self.database.transaction(self.tenant, writes=False) as connection:
            return connection.execute(query, {OF_TENANT.key: self.tenant, **values}).all()

    def one(self, query: Executable, **values: Value) -> Found | None:
        """Return the first row of a query, `None` where it has none."""
        with self.database.transaction(self.tenant, writes=False) as connection:
            return connection.execute(query, {OF_TENANT.key: self.tenant, **values}).first()

    def stream(self, query: Executable, **values: Value) -> Iterator[Found]:
        """Yield the rows of a query as they were at the start, whatever is written meanwhile."""
        return self.database.stream(self.tenant, query, {OF_TENANT.key: self.tenant, **values})

    def run(self, statement: Executable, **values: Value) -> int:
        """Change rows, and return how many."""
        with self.database.transaction(self.tenant, writes=True) as connection:
            done = connection.execute(statement, {OF_TENANT.key: self.tenant, **values})
            return done.rowcount

    def run_beside(self, statement: Executable, **values: Value) -> int:
        """Change rows as `run` does, while others of the tenant may be changed."""
        with self.database.transaction(self.tenant, writes=True, is_alone=False) as connection:
            done = connection.execute(statement, {OF_TENANT.key: self.tenant, **values})
            return done.rowcount

    def add(self, table: Table, *rows: Mapping[str, Value]) -> None:
        """Add rows."""
        with self.database.transaction(self.tenant, writes=True) as connection:
            connection.execute(insert(table), [{"tenant": self.tenant, **row} for row in rows])

    def counter(self, name: str) -> int:
        """Return what stands in a column of the tenant: a last number, or stored bytes."""
        row = self.one(_COUNTERS)
        return 0 if row is None else int(row._mapping[name])  # noqa: SLF001  its public way

    def require_room(self, further: int = 0) -> None:
        """Raise `StoreUnusable` where so many further bytes are more than the tenant may store.

        Called after rows were added, in the same transaction, it leaves nothing of them.
        """
        if self.max_bytes and self.bytes_stored() + further > self.max_bytes:
            raise out_of_bytes()

    def bytes_stored(self) -> int:
        """Return how many sealed bytes are stored."""
        return self.counter("record_bytes") + self.counter("interview_bytes")

    def numbers(self, name: str, count: int = 1) -> range:
        """Return the next numbers of a counter of the tenant; none is given twice."""
        with self.writing():
            last = self.counter(name)
            self.run(_NUMBERED, **{name: last + count})
        return range(last + 1, last + count + 1)


def open_sqlite(folder: Path) -> Database:
    """Open the two files of a folder, and make them where there are none, for their owner alone.

    Raises `ConfigurationError` when they cannot be made, others can read them, or they are of
    another version, and `StoreUnusable` when they cannot be read.
    """
    file, keys = folder / FILE_NAME, folder / KEYS_NAME
    for pattern, cure in _EARLIER.items():
        for earlier in folder.glob(pattern):
            msg = f"{str(earlier)!r} {cure}"
            raise ConfigurationError(msg)
    for path in (file, keys):
        try:
            make_private_file(path)
        except OSError as error:
            reason = f"cannot be made: {error.strerror}; {STATE_DIR_CURE}"
            msg = f"the file of the stored assessments {str(path)!r} {reason}"
            raise ConfigurationError(msg) from None
    engine = sqlite_engine(file, keys=keys)
    return _ready(Database(engine), engine)


def sqlite_engine(file: Path, *, keys: Path | None = None, is_read_only: bool = False) -> Engine:
    """Return what connects to a file that is there. `keys`: a second one beside it."""
    address = f"{file.absolute().as_uri()}?mode={'ro' if is_read_only else 'rw'}"

    def connected() -> sqlite3.Connection:
        connection = sqlite3.connect(
            address, uri=True, timeout=_BUSY_SECONDS, check_same_thread=False
        )
        try:
            _set_up(connection, keys, is_read_only=is_read_only)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    engine = create_engine(
        "sqlite://",
        creator=connected,
        poolclass=QueuePool,
        pool_size=_CONNECTIONS,
        max_overflow=0,
        hide_parameters=True,
    )
    event.listen(engine, "begin", _begin)
    return engine


def open_postgresql(url: URL) -> Database:
    """Open a database of PostgreSQL, and make the tables in it where there are none.

    `url`: with the driver psycopg. The role has to own the database, and must not be a superuser:
    for those the rows of one tenant are not kept from another. Raises as `open_sqlite` does.
    """
    engine = create_engine(
        url,
        pool_size=_CONNECTIONS,
        max_overflow=0,
        pool_pre_ping=True,
        hide_parameters=True,
    )
    database = _ready(Database(engine), engine)
    (role,) = database.across_tenants(_ROLE)
    if role[0]:
        logger.warning("database_role_sees_all_tenants", name="DATABASE_URL")
    return database


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES, True)
    if writes is not None:
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _forget_in_files(found: Connection, *, rewrites_keys: bool) -> bool:
    connection = found.execution_options(**{_WRITES: None})
    if rewrites_keys:
        connection.exec_driver_sql(f"VACUUM {KEYS}")
    statements = [f"PRAGMA {schema}.wal_checkpoint(TRUNCATE)" for schema in ("main", KEYS)]
    return not any([connection.exec_driver_sql(one).scalar() for one in statements])  # noqa: C419  both


def _set_up(connection: sqlite3.Connection, keys: Path | None, *, is_read_only: bool) -> None:
    # Transactions are begun by name: the driver's own begin too late.
    connection.isolation_level = None
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_VALUE_BYTES)
    if keys is not None:
        connection.execute(f"ATTACH DATABASE ? AS {KEYS}", (str(keys),))
    for name, value in {
        # A file may come from somebody else: its own views and triggers call nothing.
        "trusted_schema": "OFF",
        "cell_size_check": "ON",
        # Without it a row that is replaced would be deleted unseen by the triggers.
        "recursive_triggers": "ON",
        "foreign_keys": "ON",
        # Nothing of it lies in a folder of the system, not even for a moment.
        "temp_store": "MEMORY",
    }.items():
        connection.execute(f"PRAGMA {name} = {value}")
    for schema in () if is_read_only else ("main",) if keys is None else ("main", KEYS):
        _use_side_file(connection, schema)
        connection.execute(f"PRAGMA {schema}.synchronous = FULL")
        # What is deleted is overwritten, not only forgotten.
        connection.execute(f"PRAGMA {schema}.secure_delete = ON")
        connection.execute(f"PRAGMA {schema}.journal_size_limit = {_MOST_JOURNAL_BYTES}")


def _use_side_file(connection: sqlite3.Connection, schema: str) -> None:
    """Write through a side file; SQLite itself waits for no other that opens a new file, too."""
    until = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute(f"PRAGMA {schema}.journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(_AGAIN_SECONDS)
        else:
            return


def _ready(database: Database, engine: Engine) -> Database:
    """Return the database with its tables; raises `ConfigurationError` for another version."""
    try:
        with translated(), engine.begin() as connection:
            if not database.is_sqlite:
                # Of servers and workers that start at once one makes the tables.
                connection.execute(select(func.pg_advisory_xact_lock(_MAKING)))
                connection.execute(CreateSchema(KEYS, if_not_exists=True))
            found = inspect(connection).get_table_names()
            if found and meta.name not in found:
                msg = "the file of the stored assessments is a database of another program"
                raise ConfigurationError(msg)
            METADATA.create_all(connection)
            if not database.is_sqlite:
                # In files a run has a file of its own, in its folder.
                RUNS.create_all(connection)
            for table in (meta, key_meta):
                query = select(table.c.value).where(table.c.key == _VERSION)
                version = connection.execute(query).scalar()
                if version is None:
                    row = {"key": _VERSION, "value": SCHEMA_VERSION}
                    connection.execute(insert(table), row)
                elif version != SCHEMA_VERSION:
                    _refuse(version)
    except BaseException:
        database.close()
        raise
    return database


def _refuse(version: object) -> None:
    msg = (
        f"the stored assessments have version {version!r}, this program knows {SCHEMA_VERSION}: "
        "with the program's version that made them write `records export`, and with this one "
        "`records import`"
    )
    raise ConfigurationError(msg)


def written(moment: datetime) -> str:
    """Return a moment as all columns have it, so that their order is that of the texts."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")


def moment_in(given: Value) -> str:
    """Return a moment that another store gave, as all columns have it; raises `ValueError`."""
    return written(datetime.fromisoformat(str(given)))


def columns_in(row: Found, *, but: Container[str]) -> dict[str, Value]:
    """Return the columns of a row by their names, without some."""
    return {name: value for name, value in row._asdict().items() if name not in but}


@contextmanager
def refusing_foreign(what: str) -> Iterator[None]:
    """Raise `InputError` for what no store gave. `what`: a thing in a file of an export."""
    try:
        yield
    except (ArtifactMismatch, CompileError, IntegrityError, LookupError, ValueError):
        # Their texts hold what was given.
        msg = f"{what} in it is not as `records export` writes it"
        raise InputError(msg, field="FILE") from None


def is_there(folder: Path) -> bool:
    """Return whether a folder has files of a store, of an earlier version as well."""
    own = (folder / FILE_NAME, folder / KEYS_NAME)
    if any(path.is_file() and path.stat().st_size > 0 for path in own):
        return True
    return any(any(folder.glob(pattern)) for pattern in _EARLIER)
