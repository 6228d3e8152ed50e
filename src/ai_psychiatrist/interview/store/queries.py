"""What the store of interviews asks its file, in SQL."""

from typing import Final

LOAD: Final = """
    SELECT origins.body, interviews.body FROM interviews LEFT JOIN origins USING (id_hash)
    WHERE id_hash = ? AND kept_from > ?
"""
KNOWN: Final = """
    SELECT answers.body, turns.body, origins.body, interviews.body
    FROM answers JOIN interviews USING (id_hash) LEFT JOIN origins USING (id_hash)
        LEFT JOIN turns USING (id_hash, key_hash)
    WHERE answers.id_hash = ? AND answers.key_hash = ?
"""
LIST: Final = """
    SELECT id_hash, sealed_id, protocol, version, interviews.state AS standing, created_at,
        updated_at, origins.body AS origin, interviews.body AS state
    FROM interviews LEFT JOIN origins USING (id_hash)
    WHERE kept_from > ?
    ORDER BY interviews.state IS 'safety_hold' DESC, created_at DESC, interviews.rowid DESC
"""
CLEAR: Final = (
    "version",
    "protocol",
    "created_at",
    "updated_at",
    "kept_from",
    "state",
    "protocol_version",
    "protocol_digest",
    "turns",
    "model_calls",
    "end_reason",
    "has_danger",
)
"""The columns that hold nobody's words."""
OPENED: Final = """
    SELECT interviews.*, origins.body AS origin
    FROM interviews LEFT JOIN origins USING (id_hash) WHERE kept_from > ? ORDER BY created_at
"""
IS_THERE: Final = "SELECT 1 FROM interviews WHERE id_hash = ?"
DELETE: Final = "DELETE FROM interviews WHERE id_hash = ?"
DELETE_EXPIRED: Final = "DELETE FROM interviews WHERE kept_from <= ?"
COUNT: Final = "SELECT COUNT(*) FROM interviews"
ADD_ORIGIN: Final = "INSERT INTO origins VALUES (?, ?)"
