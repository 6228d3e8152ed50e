"""What anybody can read in the file of a run."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path


def words_in(path: Path) -> bytes:
    """Return the bytes of the file and of all values in it, which lie in it in pieces."""
    return b"\n".join((path.read_bytes(), *_values(path)))


def _values(path: Path) -> Iterator[bytes]:
    with closing(sqlite3.connect(path)) as database:
        tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (table,) in tables:
            for row in database.execute(f"SELECT * FROM {table}"):  # noqa: S608  its own names
                yield from (value for value in row if isinstance(value, bytes))
