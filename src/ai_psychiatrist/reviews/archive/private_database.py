"""The databases of stored assessments, whose errors are those of the archive."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ai_psychiatrist.ledger.errors import LedgerUnusable
from ai_psychiatrist.ledger.store.database import Database
from ai_psychiatrist.ledger.store.private_database import empty_journal, open_migrated
from ai_psychiatrist.reviews.archive.errors import ArchiveUnusable

_BUSY_SECONDS: Final = 10.0


def open_private(path: Path, versions: Sequence[Sequence[str]]) -> Database:
    """Open a file; raises `ConfigurationError` as `open_migrated` does, and `ArchiveUnusable`."""
    with translated():
        database = open_migrated(
            path, versions, kept="the stored assessments", busy_seconds=_BUSY_SECONDS
        )
        # Nothing of it lies in a folder of the system, not even for a moment.
        database.fetch("PRAGMA temp_store = MEMORY")
        return database


def write_anew(database: Database) -> None:
    """Write the whole file anew, for a page that was split keeps what has moved to another one."""
    with translated():
        database.execute("VACUUM")


def emptied_journal(database: Database) -> bool:
    """Bring what was written into the file itself; returns whether nothing is left beside it."""
    with translated():
        return empty_journal(database)


@contextmanager
def translated() -> Iterator[None]:
    """Turn what a database raises into an error of the archive."""
    try:
        yield
    except LedgerUnusable:
        raise ArchiveUnusable from None
