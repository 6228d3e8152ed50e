"""A database of stored assessments: private to its owner, and nothing left of what is deleted."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.ledger.errors import LedgerUnusable
from ai_psychiatrist.ledger.keys.private_place import make_private_file
from ai_psychiatrist.ledger.store.database import Database
from ai_psychiatrist.reviews.archive.errors import ArchiveUnusable

_BUSY_SECONDS: Final = 10.0
_MOST_JOURNAL_BYTES: Final = 1_048_576


def open_private(path: Path, versions: Sequence[Sequence[str]]) -> Database:
    """Open a file, or make one that its owner alone can read, and bring it to the last version.

    Raises `ConfigurationError` when it cannot be made, others can read it, or it is of a newer
    version, and `ArchiveUnusable`.
    """
    try:
        make_private_file(path)
    except OSError as error:
        msg = f"the file {str(path)!r} cannot be made: {error.strerror}"
        raise ConfigurationError(msg) from None
    with translated():
        database = Database(path, busy_seconds=_BUSY_SECONDS)
        try:
            # What is deleted is overwritten, not only forgotten.
            database.fetch("PRAGMA secure_delete = ON")
            # Nothing of it lies in a folder of the system, not even for a moment.
            database.fetch("PRAGMA temp_store = MEMORY")
            database.fetch(f"PRAGMA journal_size_limit = {_MOST_JOURNAL_BYTES}")
            with database.transaction():
                _migrate(database, path, versions)
        except BaseException:
            database.close()
            raise
    return database


def write_anew(database: Database) -> None:
    """Write the whole file anew, for a page that was split keeps what has moved to another one."""
    with translated():
        database.execute("VACUUM")


def empty_journal(database: Database) -> bool:
    """Bring what was written into the file itself; returns whether nothing is left beside it."""
    with translated():
        return int(database.fetch("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]) == 0


@contextmanager
def translated() -> Iterator[None]:
    """Turn what a database raises into an error of the archive."""
    try:
        yield
    except LedgerUnusable:
        raise ArchiveUnusable from None


def _migrate(database: Database, path: Path, versions: Sequence[Sequence[str]]) -> None:
    version = 0
    if database.fetch("SELECT 1 FROM sqlite_master WHERE name = 'meta'"):
        rows = database.fetch("SELECT value FROM meta WHERE key = 'schema_version'")
        version = int(rows[0][0]) if rows else 0
    if version > len(versions):
        msg = (
            f"{path.name} has version {version}, this program knows {len(versions)}: use the "
            "program's version that made the file"
        )
        raise ConfigurationError(msg)
    for statements in versions[version:]:
        for statement in statements:
            database.execute(statement)
    if version < len(versions):
        database.execute(
            "INSERT OR REPLACE INTO meta VALUES ('schema_version', ?)", (len(versions),)
        )
