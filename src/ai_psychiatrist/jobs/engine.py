"""The port of six verbs behind which an engine does jobs; any engine can stand there.

An engine carries ids. What a job is about, what was asked and what came of it are kept by whoever
gives the engine its work.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, TypeAlias

from ai_psychiatrist.domain.errors import AssessmentServiceError
from ai_psychiatrist.domain.record_state import RecordState


class EngineAway(AssessmentServiceError):
    """The engine cannot be asked now; what it was to take is handed to it again later.

    It has logged so itself, once, when that began.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRef:
    """One job of one tenant."""

    tenant: str
    id: str
    asked_by: str = field(default="", compare=False)
    """The id of who asked for it, where that is known: in a tenant these take turns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEnd:
    """How a job ended, without a word of what it is about."""

    job: JobRef
    state: RecordState
    """A last one."""
    reason: str | None = None
    """Code of what failed."""
    created_at: datetime
    """When it was asked for."""
    ended_at: datetime
    """Both as they are stored."""


Work: TypeAlias = Callable[[JobRef], Awaitable[RecordState]]
"""Does one job to its end, stores what comes of it, and returns how it ended.

Given a job that was broken off it goes on, and pays for no finished call again; given one that has
its end it returns that, and `RUNNING` for one that another living process does: whoever is to see
its end asks again later. It raises nothing but the end of its task, and errors of the store; then,
too, the job waits to be gone on with.
"""
OnEnd: TypeAlias = Callable[[JobEnd], Awaitable[None]]
"""Is told once the end of a job is stored; raises nothing."""


class JobEngine(Protocol):
    """Does jobs: at most so many at once, tenants in turn, and all that were submitted.

    Each verb raises `EngineAway` where the engine cannot be asked.
    """

    async def submit(self, job: JobRef) -> None:
        """Take a job; one that was taken before is left as it is."""
        ...

    async def status(self, job: JobRef) -> RecordState | None:
        """Return how far the engine is with a job, `None` for one that it does not know."""
        ...

    async def result(self, job: JobRef) -> RecordState:
        """Return how a job ended, once it has; raises `KeyError` for one that is not known."""
        ...

    async def cancel(self, job: JobRef) -> None:
        """End a job: one that waits is not begun, and of one under way the calls stop."""
        ...

    async def resume(self, job: JobRef) -> None:
        """Go on with a job that failed or was cancelled."""
        ...

    async def list(self, *, tenant: str | None = None) -> tuple[tuple[JobRef, RecordState], ...]:
        """Return the jobs that have no end yet, of one tenant or of all, the oldest first."""
        ...
