"""The tables of the outbox, and its statements."""

from typing import Final

VERSIONS: Final = (
    (
        "CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID",
        """
        CREATE TABLE deliveries (
            id TEXT PRIMARY KEY,
            tenant TEXT NOT NULL,
            job TEXT NOT NULL,
            batch TEXT,
            place TEXT NOT NULL,
            url TEXT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('expected', 'pending', 'delivered', 'given_up')),
            body BLOB,
            tries INTEGER NOT NULL DEFAULT 0,
            reason TEXT,
            created REAL NOT NULL,
            due REAL NOT NULL,
            UNIQUE (tenant, job)
        ) STRICT
        """,
        "CREATE INDEX deliveries_due ON deliveries (state, place, due)",
    ),
)
"""Times are seconds since 1970. `due`: the next try, or the end where none comes.

Who tries one moves `due` on for as long as a try takes: what a killed process had under way is due
again then, for whoever lives.
"""

EXPECT: Final = """
    INSERT INTO deliveries (id, tenant, job, batch, place, url, state, created, due)
    VALUES (:id, :tenant, :job, :batch, :place, :url, 'expected', :created, :created)
    ON CONFLICT (tenant, job) DO NOTHING
"""
FIND: Final = "SELECT * FROM deliveries WHERE tenant = ? AND job = ?"
FORGET: Final = "DELETE FROM deliveries WHERE tenant = ? AND job = ?"
EXPECTED: Final = "SELECT tenant, job, created FROM deliveries WHERE state = 'expected'"
NOTE_END: Final = """
    UPDATE deliveries SET state = 'pending', body = :body, due = :now
    WHERE id = :id AND state = 'expected'
"""
STOP_UNFINISHED: Final = """
    UPDATE deliveries SET state = 'given_up', due = :now
    WHERE state = 'pending' AND place = :place AND due <= :now AND tries >= :most
"""
CLAIM: Final = """
    UPDATE deliveries SET tries = tries + 1, due = :until
    WHERE id IN (
        SELECT id FROM deliveries WHERE state = 'pending' AND place = :place AND due <= :now
        ORDER BY due, id LIMIT :most
    )
    RETURNING id, job, url, body, tries
"""
DELIVERED: Final = """
    UPDATE deliveries SET state = 'delivered', reason = NULL, url = '', due = :now WHERE id = :id
"""
GIVE_UP: Final = """
    UPDATE deliveries SET state = 'given_up', reason = :reason, due = :now
    WHERE id = :id AND state = 'pending' AND tries = :tries
"""
AGAIN: Final = """
    UPDATE deliveries SET reason = :reason, due = :due
    WHERE id = :id AND state = 'pending' AND tries = :tries
"""
GIVEN_UP: Final = """
    SELECT tenant, job, place, tries, reason, due FROM deliveries WHERE state = 'given_up'
    ORDER BY due, id
"""
REDO: Final = """
    UPDATE deliveries SET state = 'pending', tries = 0, due = ? WHERE state = 'given_up'
"""
REMOVE_OLD: Final = "DELETE FROM deliveries WHERE state IN ('delivered', 'given_up') AND due < ?"
OVERDUE_PLACES: Final = "SELECT DISTINCT place FROM deliveries WHERE state = 'pending' AND due < ?"
GIVE_UP_UNNAMED: Final = """
    UPDATE deliveries SET state = 'given_up', reason = 'host_not_named', due = :now
    WHERE state = 'pending' AND place = :place AND due < :before
"""
