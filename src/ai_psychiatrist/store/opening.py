"""Where the tables lie: SQLite's two files or a PostgreSQL, opened, and made where none are."""

import os
import sqlite3
import time
from pathlib import Path
from typing import Final

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    Table,
    create_engine,
    event,
    insert,
    inspect,
    select,
    text,
)
from sqlalchemy.pool import QueuePool
from sqlalchemy.schema import CreateSchema

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.private_files import STATE_DIR_CURE, make_private_file
from ai_psychiatrist.store.database import BEGIN, Database
from ai_psychiatrist.store.key_schema import key_meta
from ai_psychiatrist.store.run_schema import RUNS
from ai_psychiatrist.store.schema import KEYS, METADATA, SCHEMA_VERSION, meta
from ai_psychiatrist.store.schema_rules import ALLOW_CHECKS

logger = get_logger(__name__)

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
        "holds the keys of an earlier version: move it elsewhere, and make new keys with "
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
_AGAIN_SECONDS: Final = 0.01
_CONNECTIONS: Final = 8
_MOST_JOURNAL_BYTES: Final = 1_048_576
"""What stays of the side file that something large went through."""
_MAGIC: Final = b"SQLite format 3\x00"
_DESCRIPTORS: Final[dict[tuple[int, int], int]] = {}
"""Of the files that are looked at, by device and inode."""
_MOST_VALUE_BYTES: Final = 100_000_000
_VERSION: Final = "schema_version"
_ROLE: Final = text("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user")


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
    return _ready(Database(engine))


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
        isolation_level="AUTOCOMMIT",
        hide_parameters=True,
    )
    event.listen(engine, "begin", _begin)
    database = _ready(Database(engine))
    if sees_all_tenants(database):
        logger.warning("database_role_sees_all_tenants", name="DATABASE_URL")
    return database


def sees_all_tenants(database: Database) -> bool:
    """Return whether PostgreSQL keeps no tenant from its role; raises `StoreUnusable`."""
    (role,) = database.across_tenants(_ROLE)
    return bool(role[0])


def _begin(connection: Connection) -> None:
    """Begin a transaction by name: the drivers' own begin too late, or in a message of its own."""
    begin = connection.get_execution_options().get(BEGIN)
    if begin is not None:
        connection.exec_driver_sql(begin, execution_options={"no_parameters": True})


def _set_up(connection: sqlite3.Connection, keys: Path | None, *, is_read_only: bool) -> None:
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


def _ready(database: Database) -> Database:
    """Return the database with its tables; raises `ConfigurationError` for another version."""
    try:
        # Of servers and workers that start at once one makes the tables.
        with database.among_tenants() as connection:
            if not database.is_sqlite:
                connection.execute(CreateSchema(KEYS, if_not_exists=True))
            found = inspect(connection).get_table_names()
            if found and meta.name not in found:
                msg = "the file of the stored assessments is a database of another program"
                raise ConfigurationError(msg)
            if found:
                # Before anything is added to what is another version's.
                _require_version(connection, meta)
            METADATA.create_all(connection)
            if not database.is_sqlite:
                # In files a run has a file of its own, in its folder.
                RUNS.create_all(connection)
                connection.exec_driver_sql(ALLOW_CHECKS)
            for table in (meta, key_meta):
                if not _require_version(connection, table):
                    row = {"key": _VERSION, "value": SCHEMA_VERSION}
                    connection.execute(insert(table), row)
    except BaseException:
        database.close()
        raise
    return database


def _require_version(connection: Connection, table: Table) -> bool:
    """Return whether a table has a version; raises `ConfigurationError` for another one."""
    version = connection.scalar(select(table.c.value).where(table.c.key == _VERSION))
    if version not in {None, SCHEMA_VERSION}:
        msg = (
            f"the stored assessments have version {version!r}, this program knows "
            f"{SCHEMA_VERSION}: use `records export` of the version that made them, then `records "
            "import` of this one"
        )
        raise ConfigurationError(msg)
    return version is not None


def is_there(folder: Path) -> bool:
    """Return whether a folder has files of a store, of an earlier version as well."""
    own = (folder / FILE_NAME, folder / KEYS_NAME)
    is_made = any(path.is_file() and path.stat().st_size > 0 for path in own)
    return is_made or any(any(folder.glob(pattern)) for pattern in _EARLIER)


def are_databases(folder: Path) -> bool:
    """Return whether the files of a store begin as those of a database do."""
    try:
        heads = [_head_of(folder / name) for name in (FILE_NAME, KEYS_NAME)]
    except OSError:
        return False
    return heads == [_MAGIC] * len(heads)


def _head_of(path: Path) -> bytes:
    """Return the first bytes of a file of a database.

    Its descriptor stays open as long as the process lives: closing one of a file drops all locks
    that the process has on it, and another process would then take the side files away.
    """
    found = path.stat()
    place = found.st_dev, found.st_ino
    if place not in _DESCRIPTORS:
        _DESCRIPTORS[place] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    return os.pread(_DESCRIPTORS[place], len(_MAGIC), 0)
