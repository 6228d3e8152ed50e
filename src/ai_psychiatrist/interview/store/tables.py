"""The tables of the interviews."""

from typing import Final

VERSION: Final = 1

TABLES: Final = (
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
    # What the interview was after each turn: what a repeated key is answered with.
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
