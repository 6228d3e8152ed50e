"""What a webhook says: which job ended, how and when, and not a word of what it is about."""

import json
from datetime import UTC, datetime

from ai_psychiatrist.jobs.engine import JobEnd


def event_body(event_id: str, end: JobEnd, *, batch: str | None) -> bytes:
    """Return the JSON body; the same end gives the same bytes, however often it is sent."""
    ended_at = _written(end.ended_at)
    body = {
        "id": event_id,
        "type": f"job.{end.state.value}",
        "timestamp": ended_at,
        "data": {
            "job_id": end.job.id,
            "batch_id": batch,
            "state": end.state.value,
            "reason": end.reason,
            "created_at": _written(end.created_at),
            "ended_at": ended_at,
        },
    }
    return json.dumps(body, separators=(",", ":")).encode()


def _written(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
