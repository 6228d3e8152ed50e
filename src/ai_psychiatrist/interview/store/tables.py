"""The tables of the interviews: each version is made out of the one before it.

The statements of a version never change once it was used: a change of the tables is a version more.
"""

from typing import Final

_PLAIN: Final = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL)",
    """
    CREATE TABLE interviews (
        id TEXT PRIMARY KEY,
        version INTEGER NOT NULL,
        protocol TEXT NOT NULL,
        state TEXT NOT NULL,
        body BLOB NOT NULL,
        created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL
    )
    """,
    """
    CREATE TABLE answers (
        seq INTEGER PRIMARY KEY,
        interview_id TEXT NOT NULL REFERENCES interviews (id) ON DELETE CASCADE,
        turn INTEGER NOT NULL,
        idempotency_key TEXT NOT NULL,
        body BLOB NOT NULL,
        recorded_at TEXT NOT NULL,
        UNIQUE (interview_id, idempotency_key),
        UNIQUE (interview_id, turn)
    )
    """,
    """
    CREATE TABLE turns (
        seq INTEGER PRIMARY KEY,
        interview_id TEXT NOT NULL,
        idempotency_key TEXT NOT NULL,
        version INTEGER NOT NULL,
        body BLOB NOT NULL,
        recorded_at TEXT NOT NULL,
        UNIQUE (interview_id, idempotency_key),
        FOREIGN KEY (interview_id, idempotency_key)
            REFERENCES answers (interview_id, idempotency_key) ON DELETE CASCADE
    )
    """,
    *(
        f"""
        CREATE TRIGGER {table}_refuse_update BEFORE UPDATE ON {table}
        BEGIN SELECT RAISE(ABORT, '{table} are append-only'); END
        """
        for table in ("answers", "turns")
    ),
)

_SEALED: Final = (
    "ALTER TABLE interviews RENAME TO plain_interviews",
    "ALTER TABLE answers RENAME TO plain_answers",
    "ALTER TABLE turns RENAME TO plain_turns",
    """
    CREATE TABLE interviews (
        id_hash TEXT PRIMARY KEY,
        sealed_id BLOB NOT NULL,
        version INTEGER NOT NULL,
        protocol TEXT NOT NULL,
        body BLOB NOT NULL,
        created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        kept_from TEXT NOT NULL
    )
    """,
    "CREATE INDEX interviews_by_age ON interviews (kept_from)",
    # What an interview began with never changes and may be large: it is written once.
    """
    CREATE TABLE origins (
        id_hash TEXT PRIMARY KEY REFERENCES interviews ON DELETE CASCADE,
        body BLOB NOT NULL
    )
    """,
    """
    CREATE TABLE answers (
        id_hash TEXT NOT NULL REFERENCES interviews ON DELETE CASCADE,
        key_hash TEXT NOT NULL,
        turn INTEGER NOT NULL,
        body BLOB NOT NULL,
        recorded_at TEXT NOT NULL,
        PRIMARY KEY (id_hash, key_hash),
        UNIQUE (id_hash, turn)
    )
    """,
    # What the interview was after each turn: what a repeated key is answered with.
    """
    CREATE TABLE turns (
        id_hash TEXT NOT NULL,
        key_hash TEXT NOT NULL,
        version INTEGER NOT NULL,
        body BLOB NOT NULL,
        recorded_at TEXT NOT NULL,
        PRIMARY KEY (id_hash, key_hash),
        FOREIGN KEY (id_hash, key_hash) REFERENCES answers ON DELETE CASCADE
    )
    """,
    *(
        f"""
        CREATE TRIGGER {table}_never_change BEFORE UPDATE ON {table}
        BEGIN SELECT RAISE(ABORT, '{table} are append-only'); END
        """
        for table in ("origins", "answers", "turns")
    ),
)

# What is nobody's words may be asked for without the key; NULL where a row could not be read.
_COLUMNS: Final = tuple(
    f"ALTER TABLE interviews ADD COLUMN {column}"
    for column in (
        "state TEXT",
        "protocol_version TEXT",
        "protocol_digest TEXT",
        "turns INTEGER",
        "model_calls INTEGER",
        "end_reason TEXT",
        "has_danger INTEGER",
    )
)

MIGRATIONS: Final = (_PLAIN, _SEALED, _COLUMNS)
VERSION: Final = len(MIGRATIONS)
SEALED_VERSION: Final = 2
"""Whose statements leave the tables before it to be sealed and dropped."""
COLUMNS_VERSION: Final = 3
"""Whose statements leave the columns that they add to be filled."""
PLAIN_TABLES: Final = ("plain_turns", "plain_answers", "plain_interviews")
"""The tables before `SEALED_VERSION`, in the order in which they can be dropped."""
