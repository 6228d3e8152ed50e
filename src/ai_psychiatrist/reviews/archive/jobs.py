"""A job: a stored assessment that is made after its caller was answered."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.reviews.archive.records import NewRecord

MOST_TAKEN: Final = 5
"""How often a job is taken up whose process dies each time."""
GIVEN_UP: Final = "given_up"
"""Code of a job whose process died so often."""
DANGER: Final = "danger"
"""The stage of the signs of danger; its outcome is their level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """An assessment to be made."""

    record: NewRecord
    request: bytes = field(repr=False)
    """How it is to be made; opaque here, and sealed."""
    asked_by: str
    """`Principal.id`; pays for the model calls."""
    batch_id: str | None = None
    place: int | None = None
    """In its batch, from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenJob:
    """A job that this process has taken, with its words."""

    id: str
    asked_by: str
    transcript: Transcript
    request: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftByFailure:
    """What an assessment leaves of which no part finished."""

    account: bytes = field(repr=False)
    """JSON of a result without parts: its calls, its failures, and the signs of danger."""
    danger: RiskLevel
    """The level of these signs, a model's among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedJob:
    """A job that has just ended."""

    id: str
    created_at: datetime
    ended_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSummary:
    """How far a job is, without a word of what it is about."""

    id: str
    created_at: datetime
    state: RecordState
    reason: str | None
    """Code of why it failed."""
    danger: RiskLevel | None
    position: int | None
    """From 1 among the tenant's jobs that wait; `None` for one that does not."""
    batch_id: str | None
    place: int | None
    ended_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsWanted:
    """Which part of the list of jobs is wanted: the newest first, those of a batch in its order."""

    limit: int = 50
    cursor: str | None = None
    state: RecordState | None = None
    batch_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPage:
    """A part of the list of jobs."""

    jobs: tuple[JobSummary, ...]
    next: str | None
    """Cursor of the part after it, `None` at the end."""
