"""The databases of stored assessments, whose errors are those of the archive."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ai_psychiatrist.ledger.errors import LedgerUnusable
from ai_psychiatrist.ledger.store.database import Database, Row, Values
from ai_psychiatrist.ledger.store.private_database import open_migrated
from ai_psychiatrist.reviews.archive.errors import archive_unusable

_BUSY_SECONDS: Final = 10.0


class PrivateDatabase(Database):
    """A file of stored assessments; every method raises `StoreUnusable` where it cannot be used."""

    def close(self) -> None:
        """Close it."""
        with _translated():
            super().close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make everything inside happen, or nothing."""
        with _translated(), super().transaction():
            yield

    def execute(self, statement: str, values: Values = ()) -> int:
        """Run one statement and return how many rows it wrote."""
        with _translated():
            return super().execute(statement, values)

    def fetch(self, query: str, values: Values = ()) -> list[Row]:
        """Return all rows of a query."""
        with _translated():
            return super().fetch(query, values)


def open_private(path: Path, versions: Sequence[Sequence[str]]) -> PrivateDatabase:
    """Open a file; raises `ConfigurationError` as `open_migrated` does, and `StoreUnusable`."""
    with _translated():
        database = open_migrated(
            PrivateDatabase,
            path,
            versions,
            kept="the stored assessments",
            busy_seconds=_BUSY_SECONDS,
        )
        # Nothing of it lies in a folder of the system, not even for a moment.
        database.fetch("PRAGMA temp_store = MEMORY")
        return database


@contextmanager
def _translated() -> Iterator[None]:
    """Turn what a database raises into an error of the archive."""
    try:
        yield
    except LedgerUnusable:
        raise archive_unusable() from None
