"""What anybody can read in the file of a ledger, packed or not."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from ai_psychiatrist.ledger.keys.packing import unpacked
from ai_psychiatrist.store.errors import LedgerUnusable


def words_in(path: Path) -> bytes:
    """Return the bytes of the file and of all values in it, unpacked as far as they can be."""
    return b"\n".join((path.read_bytes(), *_values(path)))


def _values(path: Path) -> Iterator[bytes]:
    with closing(sqlite3.connect(path)) as database:
        tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (table,) in tables:
            for row in database.execute(f"SELECT * FROM {table}"):  # noqa: S608  its own names
                for value in row:
                    if isinstance(value, bytes):
                        # What is encrypted may begin as what is packed.
                        with suppress(LedgerUnusable):
                            yield unpacked(value)
