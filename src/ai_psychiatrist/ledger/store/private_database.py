"""A database that its owner alone can read, and in which nothing is left of what is deleted."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.private_files import STATE_DIR_CURE, make_private_file
from ai_psychiatrist.ledger.store.database import Database

_MOST_JOURNAL_BYTES: Final = 1_048_576
"""What stays of the side file that something large went through."""
_BUSY_SECONDS: Final = 5.0


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
    database = Database(path, busy_seconds=_BUSY_SECONDS)
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
