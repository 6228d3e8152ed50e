"""What the book of batches asks the database."""

from typing import Final

ADD_BATCH: Final = """
    INSERT INTO batches (model, kin, calls, recorded_at)
    VALUES (:model, :kin, :calls, :recorded_at)
"""
LAST_BATCH: Final = "SELECT MAX(seq) FROM batches"
ADD_REQUEST: Final = """
    INSERT INTO batch_requests (custom_id, batch, unit, attempt, digest, occurrence)
    SELECT :custom_id, :batch, seq, :attempt, :digest, :occurrence
    FROM units WHERE unit_id = :unit_id
"""
ADD_EVENT: Final = """
    INSERT INTO batch_events (batch, event, handle, recorded_at)
    VALUES (:batch, :event, :handle, :recorded_at)
"""
ADD_RESULT: Final = """
    INSERT INTO batch_results (custom_id, status, body, recorded_at)
    VALUES (:custom_id, :status, :body, :recorded_at) ON CONFLICT (custom_id) DO NOTHING
"""

_LAST_EVENT: Final = """(
    SELECT e.event FROM batch_events AS e WHERE e.batch = b.seq ORDER BY e.seq DESC LIMIT 1
)"""
_IS_WAITED_FOR: Final = (
    f"COALESCE({_LAST_EVENT}, '') NOT IN ('ended', 'refused', 'not_there', 'given_up')"
)
WAITED_FOR: Final = f"""
    SELECT b.*, (
        SELECT COUNT(*) FROM batch_events AS e WHERE e.batch = b.seq AND e.event = 'short'
    ) AS short_looks, (
        SELECT e.handle FROM batch_events AS e
        WHERE e.batch = b.seq AND e.handle IS NOT NULL ORDER BY e.seq DESC LIMIT 1
    ) AS handle
    FROM batches AS b WHERE {_IS_WAITED_FOR} ORDER BY b.seq
"""  # noqa: S608
HANDLES: Final = "SELECT handle FROM batch_events WHERE handle IS NOT NULL"
UNITS_OF_BATCH: Final = """
    SELECT r.custom_id, u.unit_id FROM batch_requests AS r JOIN units AS u ON u.seq = r.unit
    WHERE r.batch = :batch ORDER BY r.seq
"""
WAITING_UNITS: Final = f"""
    SELECT DISTINCT u.unit_id
    FROM batches AS b
    JOIN batch_requests AS r ON r.batch = b.seq
    JOIN units AS u ON u.seq = r.unit
    LEFT JOIN batch_results AS a ON a.custom_id = r.custom_id
    WHERE a.custom_id IS NULL AND {_IS_WAITED_FOR}
"""  # noqa: S608
OF_UNIT: Final = f"""
    SELECT r.custom_id, r.digest, r.occurrence, a.status, a.body,
        COALESCE({_LAST_EVENT}, '') AS event
    FROM batch_requests AS r
    JOIN units AS u ON u.seq = r.unit
    JOIN batches AS b ON b.seq = r.batch
    LEFT JOIN batch_results AS a ON a.custom_id = r.custom_id
    WHERE u.unit_id = :unit_id AND r.attempt = :attempt ORDER BY r.seq
"""  # noqa: S608
