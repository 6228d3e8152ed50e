"""The SQLite file of a ledger: private to its owner, durable, one writer at a time."""

import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, TypeAlias

from ai_psychiatrist.infrastructure.private_files import open_own_file
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

    @contextmanager
    def attached(self, path: Path, name: str) -> Iterator[None]:
        """Make another file's tables known under a name inside the block; they are only read."""
        uri = f"{path.absolute().as_uri()}?mode=ro"
        self.execute(f"ATTACH DATABASE :uri AS {name}", {"uri": uri})
        try:
            yield
        finally:
            self.execute(f"DETACH DATABASE {name}")

    def stream(self, query: str, values: Values = ()) -> Iterator[Row]:
        """Yield the rows of a query as they were at the start, whatever is written meanwhile."""
        with _translated(), closing(self._connect(is_read_only=True)) as connection:
            cursor = connection.execute(query, values)
            while rows := cursor.fetchmany(_READ_ROWS):
                yield from rows

    def _connect(self, *, is_read_only: bool) -> sqlite3.Connection:
        return _connect(self._path, is_read_only=is_read_only, busy_seconds=self._busy_seconds)


def create_file(path: Path) -> None:
    """Make an empty file that its owner alone can read; SQLite's side files take after it."""
    descriptor = open_own_file(path)
    os.fchmod(descriptor, 0o600)
    os.close(descriptor)


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
