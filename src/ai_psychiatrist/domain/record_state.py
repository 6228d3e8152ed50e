"""How far an assessment is, and with it the job that makes it."""

from enum import StrEnum


class RecordState(StrEnum):
    """How far an assessment is."""

    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_last(self) -> bool:
        """Whether nothing comes after it, unless somebody resumes the job."""
        return self not in {RecordState.WAITING, RecordState.RUNNING}
