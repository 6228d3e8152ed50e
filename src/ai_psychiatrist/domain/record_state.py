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
        """Whether the state is final unless the job is resumed."""
        return self not in {RecordState.WAITING, RecordState.RUNNING}
