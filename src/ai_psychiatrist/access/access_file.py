"""The file of keys and sessions: its place, its tables and its version."""

from pathlib import Path
from typing import Final

from ai_psychiatrist.store.private_database import Database, open_migrated

FILE_NAME: Final = "access.sqlite"

_FIRST: Final = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL)",
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
VERSIONS: Final = (_FIRST,)


def open_access_file(path: Path) -> Database:
    """Open the file, or make it; raises as `open_migrated` does."""
    return open_migrated(path, VERSIONS, kept="the keys of callers")
