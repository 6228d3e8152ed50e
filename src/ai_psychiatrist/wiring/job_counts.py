"""Jobs for whoever counts them: how many there are, how long the oldest waits, how each ended."""

from collections import Counter
from collections.abc import Awaitable, Callable

from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.infrastructure.telemetry.watching import tell
from ai_psychiatrist.infrastructure.telemetry.work import JobEnded, QueueSeen
from ai_psychiatrist.jobs.engine import JobEnd, JobEngine, JobRef


async def count_end(end: JobEnd) -> None:
    """Tell whoever counts how a job ended; to be called where the application is active."""
    seconds = (end.ended_at - end.created_at).total_seconds()
    tell(JobEnded(state=end.state, reason=end.reason, seconds=seconds))


async def queue_of(
    engine: JobEngine, age_of: Callable[[JobRef], Awaitable[float | None]]
) -> QueueSeen:
    """Return what an engine has still to do. `age_of`: seconds since a job was asked for.

    States that no job is in are there with a 0.
    """
    listed = await engine.list()
    open_states = [state for state in RecordState if not state.is_last]
    counts = Counter(dict.fromkeys(open_states, 0))
    counts.update(state for _, state in listed)
    oldest = next((job for job, state in listed if state is RecordState.WAITING), None)
    return QueueSeen(
        by_state={str(state): count for state, count in counts.items()},
        oldest_waiting_seconds=None if oldest is None else await age_of(oldest),
    )
