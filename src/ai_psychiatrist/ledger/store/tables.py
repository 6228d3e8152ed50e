"""The ledger's tables; every version is reached from the one before by its own statements."""

from collections.abc import Iterable
from typing import Final

_APPEND_ONLY: Final = ("units", "inputs", "requests", "calls", "attempts")
_BATCH_TABLES: Final = ("batches", "batch_requests", "batch_events", "batch_results")

_TABLES: Final = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL)",
    """
    CREATE TABLE units (
        seq INTEGER PRIMARY KEY,
        unit_id TEXT NOT NULL UNIQUE,
        context_digest TEXT NOT NULL,
        context BLOB
    )
    """,
    # What a later step is asked about differs from what the unit began with.
    """
    CREATE TABLE inputs (
        step TEXT NOT NULL,
        unit INTEGER NOT NULL REFERENCES units (seq),
        round INTEGER NOT NULL,
        context_digest TEXT NOT NULL,
        context BLOB,
        UNIQUE (step, unit, round)
    )
    """,
    """
    CREATE TABLE requests (
        step TEXT NOT NULL,
        unit INTEGER NOT NULL REFERENCES units (seq),
        round INTEGER NOT NULL,
        PRIMARY KEY (step, unit, round)
    ) WITHOUT ROWID
    """,
    # `repeat` counts equal calls that had to be paid again because their reply was not kept.
    """
    CREATE TABLE calls (
        seq INTEGER PRIMARY KEY,
        unit INTEGER NOT NULL REFERENCES units (seq),
        attempt INTEGER NOT NULL,
        digest TEXT NOT NULL,
        occurrence INTEGER NOT NULL,
        repeat INTEGER NOT NULL,
        step TEXT NOT NULL,
        model TEXT NOT NULL,
        path TEXT NOT NULL,
        outcome TEXT,
        reply BLOB,
        reply_digest TEXT,
        is_cut_off INTEGER NOT NULL,
        input_tokens INTEGER,
        output_tokens INTEGER,
        duration_ms REAL NOT NULL,
        recorded_at TEXT NOT NULL,
        UNIQUE (unit, attempt, digest, occurrence, repeat)
    )
    """,
    """
    CREATE TABLE attempts (
        seq INTEGER PRIMARY KEY,
        step TEXT NOT NULL,
        unit INTEGER NOT NULL,
        round INTEGER NOT NULL,
        attempt INTEGER NOT NULL CHECK (attempt > 0),
        origin TEXT NOT NULL,
        stage TEXT,
        errors BLOB NOT NULL,
        warnings BLOB NOT NULL,
        coercions BLOB NOT NULL,
        raw BLOB,
        raw_digest TEXT,
        output BLOB,
        ruleset_digest TEXT NOT NULL,
        schema_digest TEXT NOT NULL,
        code_version TEXT NOT NULL,
        recorded_at TEXT NOT NULL,
        UNIQUE (step, unit, round, attempt),
        FOREIGN KEY (step, unit, round) REFERENCES requests (step, unit, round)
    )
    """,
    # Counting walks this index alone and never reads the texts.
    "CREATE INDEX outcomes ON attempts (step, unit, round, attempt, stage, origin)",
)


def _triggers(tables: Iterable[str]) -> tuple[str, ...]:
    return tuple(
        f"""
    CREATE TRIGGER {table}_refuse_{action} BEFORE {action} ON {table}
    BEGIN SELECT RAISE(ABORT, '{table} are append-only'); END
    """
        for table in tables
        for action in ("update", "delete")
    )


_TRIGGERS: Final = _triggers(_APPEND_ONLY)

_HTTP_STATUS: Final = ("ALTER TABLE calls ADD COLUMN http_status INTEGER",)

_SENT: Final = ("ALTER TABLE calls ADD COLUMN sent BLOB",)

_BATCH_TRIGGERS: Final = _triggers(_BATCH_TABLES)
_BATCHES: Final = (
    # Written before a provider is told, so that a batch that it took is never forgotten.
    """
    CREATE TABLE batches (
        seq INTEGER PRIMARY KEY,
        model TEXT NOT NULL,
        kin TEXT NOT NULL,
        calls INTEGER NOT NULL,
        recorded_at TEXT NOT NULL
    )
    """,
    """
    CREATE TABLE batch_requests (
        seq INTEGER PRIMARY KEY,
        custom_id TEXT NOT NULL UNIQUE,
        batch INTEGER NOT NULL REFERENCES batches (seq),
        unit INTEGER NOT NULL REFERENCES units (seq),
        attempt INTEGER NOT NULL,
        digest TEXT NOT NULL,
        occurrence INTEGER NOT NULL
    )
    """,
    "CREATE INDEX batch_requests_of_unit ON batch_requests (unit, attempt)",
    "CREATE INDEX batch_requests_of_batch ON batch_requests (batch)",
    """
    CREATE TABLE batch_events (
        seq INTEGER PRIMARY KEY,
        batch INTEGER NOT NULL REFERENCES batches (seq),
        event TEXT NOT NULL,
        handle BLOB,
        recorded_at TEXT NOT NULL
    )
    """,
    "CREATE INDEX batch_events_of_batch ON batch_events (batch, seq)",
    """
    CREATE TABLE batch_results (
        custom_id TEXT PRIMARY KEY REFERENCES batch_requests (custom_id),
        status TEXT NOT NULL,
        body BLOB,
        recorded_at TEXT NOT NULL
    )
    """,
    *_BATCH_TRIGGERS,
)

_CACHE_TOKENS: Final = (
    "ALTER TABLE calls ADD COLUMN cache_read_tokens INTEGER",
    "ALTER TABLE calls ADD COLUMN cache_write_tokens INTEGER",
)

# Words may be packed from here on, which programs before would take for damage.
_PACKED_WORDS: Final = ()

_HOSTS: Final = ("ALTER TABLE calls ADD COLUMN hosts TEXT",)

MIGRATIONS: Final = (
    (*_TABLES, *_TRIGGERS),
    _HTTP_STATUS,
    _SENT,
    _BATCHES,
    _CACHE_TOKENS,
    _PACKED_WORDS,
    _HOSTS,
)
"""Position n holds the statements that lead from version n to version n + 1."""

VERSION: Final = len(MIGRATIONS)

TRIGGERS: Final = frozenset(one.strip() for one in (*_TRIGGERS, *_BATCH_TRIGGERS))
"""The statements that made the triggers, as SQLite keeps them."""
