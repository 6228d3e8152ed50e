"""What a caller gets of jobs: how far they are, and nothing of what they are about."""

from datetime import datetime

from pydantic import Field

from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.jobs.webhooks.letter import DeliveryState
from ai_psychiatrist.results.result import Result
from ai_psychiatrist.reviews.archive.jobs import JobPage, JobSummary
from ai_psychiatrist.reviews.archive.records import StageEvent


class StageResult(Result):
    """One step of an assessment, without words."""

    stage: str
    """`assessment` for the whole, `danger` once the transcript was read for it, or a part that is
    finished."""
    outcome: str
    """`waiting`, `begun`, `finished`, `failed` or `cancelled`; of `danger` the level."""


class JobLineResult(Result):
    """How far a job is."""

    job_id: str
    """Of the job and of its assessment: they are one."""
    created_at: datetime
    """When it was asked for."""
    ended_at: datetime | None
    """When it ended; null while it has not, and for an assessment whose caller waited for it."""
    state: RecordState
    """`waiting`, `running`, `finished`, `failed` or `cancelled`."""
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


class CallbackResult(Result):
    """How far the telling of `callback_url` is."""

    state: DeliveryState
    """`expected` while the job has no end, then `pending`, and `delivered` or `given_up`."""
    tries: int
    """How often it was tried."""


class JobResult(JobLineResult):
    """How far a job is, and how it came there."""

    stages: tuple[StageResult, ...] = Field(default=())
    """What is told by `/events`, in its order."""
    callback: CallbackResult | None = None
    """How far the telling of `callback_url` is; null where none was given."""


class JobPageResult(Result):
    """A part of the list of jobs."""

    jobs: tuple[JobLineResult, ...]
    """The newest first; those of a batch in its order."""
    next: str | None
    """To be sent as `cursor` for the part after it; null at the end."""


class BegunJobResult(Result):
    """A job of a batch that was just begun."""

    job_id: str
    """Of the job and of its assessment."""
    danger: RiskLevel
    """The level of the signs of danger that rules found in its transcript."""


class BegunBatchResult(Result):
    """A batch that was just begun."""

    batch_id: str
    """What `/v1/batches/{id}` asks for."""
    jobs: tuple[BegunJobResult, ...]
    """One for each request, in their order."""


class BatchResult(JobPageResult):
    """How far a batch is."""

    batch_id: str
    """Its id."""
    counts: dict[RecordState, int]
    """State → how many of its jobs are so; what was erased since is not counted."""


def job_line(summary: JobSummary) -> JobLineResult:
    """Return a line of a list."""
    return JobLineResult.model_validate(_fields(summary))


def job_result(summary: JobSummary, events: tuple[StageEvent, ...] = ()) -> JobResult:
    """Return how far a job is."""
    stages = tuple(StageResult(stage=event.stage, outcome=event.outcome) for event in events)
    return JobResult.model_validate({**_fields(summary), "stages": stages})


def job_page(page: JobPage) -> JobPageResult:
    """Return a part of the list."""
    return JobPageResult(jobs=tuple(map(job_line, page.jobs)), next=page.next)


def _fields(summary: JobSummary) -> dict[str, object]:
    return {
        "job_id": summary.id,
        "created_at": summary.created_at,
        "ended_at": summary.ended_at,
        "state": summary.state,
        "reason": summary.reason,
        "danger": summary.danger,
        "position": summary.position,
        "batch_id": summary.batch_id,
        "place": summary.place,
    }
