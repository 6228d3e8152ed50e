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
    (
        # Nobody can go on with them: how they were to be made was not kept.
        """
        INSERT INTO events
        SELECT id, 1 + (SELECT COUNT(*) FROM events WHERE record_id = records.id), created_at,
            'assessment', 'failed'
        FROM records WHERE state = 'running'
        """,
        """
        UPDATE records SET state = 'failed', reason = 'interrupted', runner = NULL
        WHERE state = 'running'
        """,
        "DROP INDEX records_by_state",
        """
        CREATE INDEX records_without_end ON records (state) WHERE state IN ('waiting', 'running')
        """,
        """
        CREATE TABLE jobs (
            record_id TEXT PRIMARY KEY REFERENCES records (id) ON DELETE CASCADE,
            asked_by TEXT NOT NULL,
            batch_id TEXT,
            place INTEGER,
            taken INTEGER NOT NULL DEFAULT 0,
            ended_at TEXT
        ) WITHOUT ROWID
        """,
        "CREATE INDEX jobs_by_batch ON jobs (batch_id, place) WHERE batch_id IS NOT NULL",
        """
        CREATE TABLE calls (
            record_id TEXT NOT NULL REFERENCES jobs (record_id) ON DELETE CASCADE,
            digest TEXT NOT NULL,
            occurrence INTEGER NOT NULL,
            body BLOB NOT NULL,
            PRIMARY KEY (record_id, digest, occurrence)
        )
        """,
        """
        CREATE TABLE idempotency (
            asked_by TEXT NOT NULL,
            key_digest TEXT NOT NULL,
            fingerprint TEXT NOT NULL,
            at TEXT NOT NULL,
            runner TEXT,
            record_id TEXT REFERENCES records (id) ON DELETE CASCADE,
            batch_id TEXT,
            PRIMARY KEY (asked_by, key_digest)
        ) WITHOUT ROWID
        """,
        """
        CREATE INDEX idempotency_by_record ON idempotency (record_id) WHERE record_id IS NOT NULL
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
