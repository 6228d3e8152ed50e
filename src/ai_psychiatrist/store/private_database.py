"""SQLite files of webhooks, access and audit: private to their owner, durable, one writer."""

import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, TypeAlias

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.private_files import STATE_DIR_CURE, make_private_file
from ai_psychiatrist.store.errors import LedgerUnusable

Value: TypeAlias = str | int | float | bytes | None
Values: TypeAlias = Mapping[str, Value] | Sequence[Value]
"""By name where a statement names its places, else in their order."""
Row: TypeAlias = sqlite3.Row

_BUSY_SECONDS: Final = 30.0
_AGAIN_SECONDS: Final = 0.01
_READ_ROWS: Final = 200
_MOST_VALUE_BYTES: Final = 100_000_000


class Database:
    """One connection that writes, guarded by a lock, and a connection of its own for each reading.

    Every method raises `LedgerUnusable` when the file cannot be read or written.
    """

    def __init__(
        self, path: Path, *, is_read_only: bool = False, busy_seconds: float = _BUSY_SECONDS
    ) -> None:
        """`busy_seconds`: longest wait for another process that writes."""
        self._path = path
        self._busy_seconds = busy_seconds
        self._lock = threading.RLock()
        with _translated():
            self._connection = self._connect(is_read_only=is_read_only)

    def close(self) -> None:
        """Close the writing connection; what was read ends by itself."""
        with self._lock, _translated():
            self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make everything inside happen, or nothing; one inside another belongs to the outer."""
        with self._lock:
            if self._connection.in_transaction:
                yield
                return
            try:
                with _translated():
                    self._connection.execute("BEGIN IMMEDIATE")
                yield
                with _translated():
                    self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def execute(self, statement: str, values: Values = ()) -> int:
        """Run one statement and return how many rows it wrote."""
        with self._lock, _translated():
            return self._connection.execute(statement, values).rowcount

    def execute_each(self, statement: str, rows: Iterable[Values]) -> int:
        """Run one statement for each of many rows, and return how many it wrote."""
        with self._lock, _translated():
            return self._connection.executemany(statement, rows).rowcount

    def fetch(self, query: str, values: Values = ()) -> list[Row]:
        """Return all rows of a query, as the open transaction sees them."""
        with self._lock, _translated():
            return self._connection.execute(query, values).fetchall()

    def stream(self, query: str, values: Values = ()) -> Iterator[Row]:
        """Yield the rows of a query as they were at the start, whatever is written meanwhile."""
        with _translated(), closing(self._connect(is_read_only=True)) as connection:
            cursor = connection.execute(query, values)
            while rows := cursor.fetchmany(_READ_ROWS):
                yield from rows

    def _connect(self, *, is_read_only: bool) -> sqlite3.Connection:
        return _connect(self._path, is_read_only=is_read_only, busy_seconds=self._busy_seconds)


def _connect(path: Path, *, is_read_only: bool, busy_seconds: float) -> sqlite3.Connection:
    mode = "ro" if is_read_only else "rw"
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=busy_seconds,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.row_factory = sqlite3.Row
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_VALUE_BYTES)
    try:
        # A file may come from somebody else: its own views and triggers call nothing.
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        if not is_read_only:
            _use_side_file(connection, busy_seconds)
            connection.execute("PRAGMA synchronous = FULL")
            # Without it a row that is replaced would be deleted unseen by the triggers.
            connection.execute("PRAGMA recursive_triggers = ON")
        connection.execute("PRAGMA foreign_keys = ON")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _use_side_file(connection: sqlite3.Connection, busy_seconds: float) -> None:
    """Write through a side file; SQLite itself waits for no other that opens a new file, too."""
    until = time.monotonic() + busy_seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(_AGAIN_SECONDS)
        else:
            return


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise LedgerUnusable(getattr(error, "sqlite_errorname", type(error).__name__)) from None


_MOST_JOURNAL_BYTES: Final = 1_048_576
"""What stays of the side file that something large went through."""
_PRIVATE_BUSY_SECONDS: Final = 5.0


def open_migrated(path: Path, versions: Sequence[Sequence[str]], *, kept: str) -> Database:
    """Open a file, or make one that its owner alone can read, and bring its tables up.

    `kept`: what it keeps, as errors call it. The statements of a version never change once it was
    used: a change is a version more; the first of them make the table `meta`. Raises
    `ConfigurationError` when it cannot be made, others can read it, or it is of a newer version,
    and `LedgerUnusable` when it cannot be read.
    """
    try:
        make_private_file(path)
    except OSError as error:
        msg = f"the file of {kept} {str(path)!r} cannot be made: {error.strerror}; {STATE_DIR_CURE}"
        raise ConfigurationError(msg) from None
    database = Database(path, busy_seconds=_PRIVATE_BUSY_SECONDS)
    try:
        # What is deleted is overwritten, not only forgotten.
        database.fetch("PRAGMA secure_delete = ON")
        database.fetch(f"PRAGMA journal_size_limit = {_MOST_JOURNAL_BYTES}")
        with database.transaction():
            _migrate(database, versions, kept)
    except BaseException:
        database.close()
        raise
    return database


def _refuse_newer(version: object, known: int, *, kept: str) -> int:
    """Return the version of a file; raises `ConfigurationError` for one that is not known."""
    if isinstance(version, int) and version <= known:
        return version
    msg = (
        f"the file of {kept} has version {version!r}, this program knows {known}: "
        "use the program's version that made the file"
    )
    raise ConfigurationError(msg)


def empty_journal(database: Database) -> bool:
    """Bring what was written into the file itself; returns whether nothing is left beside it."""
    return int(database.fetch("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]) == 0


def _migrate(database: Database, versions: Sequence[Sequence[str]], kept: str) -> None:
    found = 0
    if database.fetch("SELECT 1 FROM sqlite_master WHERE name = 'meta'"):
        rows = database.fetch("SELECT value FROM meta WHERE key = 'schema_version'")
        found = rows[0][0] if rows else 0
    version = _refuse_newer(found, len(versions), kept=kept)
    for statements in versions[version:]:
        for statement in statements:
            database.execute(statement)
    if version < len(versions):
        database.execute(
            "INSERT OR REPLACE INTO meta VALUES ('schema_version', ?)", (len(versions),)
        )
