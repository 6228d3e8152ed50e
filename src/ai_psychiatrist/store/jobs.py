"""A job: a stored assessment that is made after its caller was answered."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Final

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from ai_psychiatrist.domain.assessment import AssessmentStatus
from ai_psychiatrist.domain.callback import Callback
from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.domain.shape import Shape
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.store.keys import Seal
from ai_psychiatrist.store.records import NewRecord

MOST_TAKEN: Final = 5
"""How often a job is taken up whose process dies each time."""
GIVEN_UP: Final = "given_up"
"""Code of a job whose process died so often."""
DANGER: Final = "danger"
"""The stage of the signs of danger; its outcome is their level."""


@dataclass(frozen=True, slots=True)
class JobRef:
    """A job of a tenant, or a unit of one of its runs, as the queue names it."""

    tenant: str
    id: str
    """Of a job that of its record."""
    run: str | None = None
    """Of a unit."""
    unit: int | None = None
    """Its number in the run, from 1."""
    taken: int = field(default=0, compare=False)
    """How often it was claimed before, and not put back."""


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
    callback: Callback | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenJob:
    """A job that this process has taken, with its words."""

    id: str
    transcript: Transcript
    request: bytes = field(repr=False)
    calls: Mapping[tuple[str, int], ModelCall] = field(repr=False)
    """Those that were finished before, by digest and occurrence."""
    seal: Seal = field(repr=False)
    """Seals further ones."""


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


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class JobSummary(Shape):
    """How far a job is, without a word of what it is about."""

    job_id: str
    """Of the job and of its assessment: they are one."""
    created_at: datetime
    """When it was asked for."""
    ended_at: datetime | None
    """When it ended; null while it has not, and for an assessment that no job made."""
    state: RecordState
    """`waiting`, `running`, `finished`, `failed` or `cancelled`."""
    status: AssessmentStatus | None
    """Of its result: `complete`, or `partial` where a part is missing; null without a result."""
    reason: str | None
    """Why it failed: the code of a problem, or `given_up` where its process died each time it was
    taken up; null unless it did."""
    danger: RiskLevel | None
    """The level of the signs of danger that rules found, or of the result."""
    position: int | None
    """Its place among the jobs of your tenant that wait, from 1; null for one that does not."""
    batch_id: str | None
    """Of the batch that it came with; null for one that came alone."""
    place: int | None
    """Its place in that batch, from 0."""
    hidden: tuple[str, ...] = ()
    """Fields that are null because they are not for you: `danger` is for who sent the text and for
    keys of the scope `read`."""
    asked_by: SkipJsonSchema[Annotated[str | None, Field(exclude=True)]] = None
    """`Principal.id` of who sent the text, for whom its danger is; not a part of the JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobListRequest:
    """The filters and the page of a list of jobs: newest first, or a batch in its order."""

    limit: int = 50
    cursor: str | None = None
    state: RecordState | None = None
    batch_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class JobPage(Shape):
    """A part of the list of jobs."""

    jobs: tuple[JobSummary, ...]
    """The newest first; those of a batch in its order."""
    next: str | None
    """To be sent as `cursor` for the part after it; null at the end."""
