"""The tables of stored assessments, and of their keys.

The statements of a version never change once it was used: a change of the tables is a version more.
"""

from typing import Final

_META: Final = "CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL)"

RECORDS: Final = (
    (
        _META,
        """
        CREATE TABLE records (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            subject_id TEXT NOT NULL,
            created_at TEXT NOT NULL,
            state TEXT NOT NULL,
            reason TEXT,
            runner TEXT,
            status TEXT,
            total_min INTEGER,
            total_max INTEGER,
            severity_lower INTEGER,
            severity_upper INTEGER,
            unknown_items INTEGER,
            width INTEGER,
            danger INTEGER,
            models TEXT NOT NULL,
            raters INTEGER NOT NULL DEFAULT 0
        )
        """,
        "CREATE INDEX records_by_subject ON records (subject_id)",
        "CREATE INDEX records_by_age ON records (created_at)",
        "CREATE INDEX records_by_state ON records (state) WHERE state = 'running'",
        # Apart, so that a list of thousands reads no page of them.
        """
        CREATE TABLE bodies (
            record_id TEXT NOT NULL REFERENCES records (id) ON DELETE CASCADE,
            part TEXT NOT NULL,
            body BLOB NOT NULL,
            PRIMARY KEY (record_id, part)
        )
        """,
        """
        CREATE TABLE events (
            record_id TEXT NOT NULL REFERENCES records (id) ON DELETE CASCADE,
            number INTEGER NOT NULL,
            at TEXT NOT NULL,
            stage TEXT NOT NULL,
            outcome TEXT NOT NULL,
            PRIMARY KEY (record_id, number)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE shown (
            record_id TEXT NOT NULL REFERENCES records (id) ON DELETE CASCADE,
            rater TEXT NOT NULL,
            PRIMARY KEY (record_id, rater)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE begun (
            record_id TEXT NOT NULL REFERENCES records (id) ON DELETE CASCADE,
            rater TEXT NOT NULL,
            phase TEXT NOT NULL,
            at TEXT NOT NULL,
            is_committed INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (record_id, rater)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE reviews (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            record_id TEXT NOT NULL REFERENCES records (id) ON DELETE CASCADE,
            rater TEXT NOT NULL,
            at TEXT NOT NULL,
            kind TEXT NOT NULL,
            place TEXT NOT NULL,
            body BLOB NOT NULL
        )
        """,
        "CREATE INDEX reviews_by_record ON reviews (record_id)",
        """
        CREATE UNIQUE INDEX one_commitment ON reviews (record_id, rater) WHERE kind = 'committed'
        """,
        *(
            f"""
            CREATE TRIGGER {table}_never_change BEFORE UPDATE ON {table}
            BEGIN SELECT RAISE(ABORT, '{table} are append-only'); END
            """
            for table in ("reviews", "events")
        ),
        """
        CREATE TABLE erased (
            subject_id TEXT PRIMARY KEY,
            erased_at TEXT NOT NULL,
            records INTEGER NOT NULL
        ) WITHOUT ROWID
        """,
    ),
)

KEYS: Final = (
    (
        _META,
        "INSERT INTO meta VALUES ('generation', 0)",
        # The tenant's key, once for each key of the installation that opens it.
        "CREATE TABLE wraps (id INTEGER PRIMARY KEY, wrapped BLOB NOT NULL)",
        """
        CREATE TABLE subjects (
            id TEXT PRIMARY KEY,
            name_digest BLOB UNIQUE,
            sealed_name BLOB,
            wrapped BLOB NOT NULL,
            created_at TEXT NOT NULL
        ) WITHOUT ROWID
        """,
    ),
)
