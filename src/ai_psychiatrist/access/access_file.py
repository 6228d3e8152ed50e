"""The file of keys and sessions: its place, its tables and its version."""

from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.ledger.keys.private_place import make_private_file
from ai_psychiatrist.ledger.store.database import Database

FILE_NAME: Final = "access.sqlite"

_BUSY_SECONDS: Final = 5.0
_FIRST: Final = (
    """
    CREATE TABLE keys (
        id TEXT PRIMARY KEY,
        secret_hash BLOB NOT NULL,
        principal TEXT NOT NULL,
        name TEXT NOT NULL,
        tenant TEXT NOT NULL,
        scopes TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        expires_at INTEGER,
        used_at INTEGER,
        revoked_at INTEGER
    )
    """,
    # A session of a key has no rights of its own: it ends with the key.
    """
    CREATE TABLE sessions (
        token_hash BLOB PRIMARY KEY,
        key_id TEXT REFERENCES keys ON DELETE CASCADE,
        rater TEXT,
        began_at INTEGER NOT NULL,
        used_at INTEGER NOT NULL
    )
    """,
)
_MIGRATIONS: Final = (_FIRST,)
"""The statements of a version never change once it was used: a change is a version more."""
VERSION: Final = len(_MIGRATIONS)


def open_access_file(path: Path) -> Database:
    """Open the file, or make one that its owner alone can read.

    Raises `ConfigurationError` when it cannot be made, others can read it or it is of a newer
    version, and `LedgerUnusable` when it cannot be read.
    """
    try:
        make_private_file(path)
    except OSError as error:
        msg = f"the file of the keys {str(path)!r} cannot be made: {error.strerror}"
        raise ConfigurationError(msg) from None
    database = Database(path, busy_seconds=_BUSY_SECONDS)
    try:
        # What is deleted is overwritten, not only forgotten.
        database.fetch("PRAGMA secure_delete = ON")
        with database.transaction():
            _migrate(database)
    except BaseException:
        database.close()
        raise
    return database


def _migrate(database: Database) -> None:
    version = database.fetch("PRAGMA user_version")[0][0]
    if version > VERSION:
        msg = (
            f"the file of the keys has version {version}, this program knows {VERSION}: "
            "use the program's version that made the file"
        )
        raise ConfigurationError(msg)
    for statements in _MIGRATIONS[version:]:
        for statement in statements:
            database.execute(statement)
    database.execute(f"PRAGMA user_version = {VERSION}")
