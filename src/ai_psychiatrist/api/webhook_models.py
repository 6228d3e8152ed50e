"""The webhooks as the OpenAPI document describes them; the store makes them with what they tell of.

They hold no words of an interview.
"""

from datetime import datetime
from typing import Final, Literal

from fastapi import APIRouter
from pydantic import ConfigDict

from ai_psychiatrist.domain.assessment import AssessmentStatus
from ai_psychiatrist.domain.interview import EndReason
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.domain.risk import RiskGroup, RiskLevel
from ai_psychiatrist.results.result import Result

RESPONSES: Final = {
    "2XX": {"description": "It is taken. Whatever else is answered, it is tried again."},
    "410": {"description": "It is not to be sent again."},
}
"""What a receiver answers."""

webhooks = APIRouter(tags=["jobs"])


class WebhookEvent(Result):
    """What all webhooks have."""

    # FastAPI silences what Pydantic says of a parameter only while it builds its schema at once.
    model_config = ConfigDict(defer_build=False)

    id: str
    """The same at each try, as in the header Webhook-Id."""
    timestamp: datetime
    """When it happened, or when it is due."""


class EndedJob(Result):
    """A job that has an end."""

    job_id: str
    """Of the job and of its assessment."""
    batch_id: str | None
    """Of the batch that it came with."""
    state: RecordState
    """`finished`, `failed` or `cancelled`."""
    danger: RiskLevel | None
    """The level of the signs of danger."""
    danger_group: RiskGroup | None
    """The first group that has a sign; null without signs."""
    ended_at: datetime
    """When it ended."""


class FinishedJob(EndedJob):
    """A job that has an end, and how it came to it."""

    status: AssessmentStatus | None
    """Of its result: `complete`, or `partial` where a part is missing; null without a result."""
    reason: str | None
    """Why it failed: the code of a problem, or `given_up`; null unless it did."""
    created_at: datetime
    """When it was asked for."""


class UnreadJob(EndedJob):
    """A job whose statements of danger nobody has confirmed to have read."""

    subject: str | None
    """The study id; null without one."""
    to_read: int
    """How many statements are to be read now."""


class ToldInterview(Result):
    """An interview."""

    interview_id: str
    """Its id, which opens it."""
    protocol: str
    """The name of its protocol."""
    turn: int
    """How many answers it has."""


class HeldInterview(ToldInterview):
    """An interview that is held."""

    level: RiskLevel
    """The highest level of its signs of danger."""
    categories: tuple[str, ...]
    """The kinds of danger."""
    held_at: datetime
    """When it was held."""


class FinishedInterview(ToldInterview):
    """An interview in which no further question is asked."""

    end_reason: EndReason | None
    """Why not."""
    ended_at: datetime
    """When it ended."""


class JobEnded(WebhookEvent):
    """A job has ended."""

    type: Literal["job.finished", "job.failed", "job.cancelled"]
    """How it ended."""
    data: FinishedJob
    """The job."""


class AssessmentUnread(WebhookEvent):
    """Danger of an assessment was not read in time."""

    type: Literal["assessment.unread"]
    """What it tells of."""
    data: UnreadJob
    """The job."""


class InterviewHeld(WebhookEvent):
    """An interview is held because of danger, or what was said was not read in time."""

    type: Literal["interview.held", "interview.unread"]
    """What it tells of."""
    data: HeldInterview
    """The interview."""


class InterviewFinished(WebhookEvent):
    """An interview is over."""

    type: Literal["interview.finished"]
    """What it tells of."""
    data: FinishedInterview
    """The interview."""


@webhooks.post("job.finished", name="tell_of_finished_job")
@webhooks.post("job.failed", name="tell_of_failed_job")
@webhooks.post("job.cancelled", name="tell_of_cancelled_job")
async def tell_of_job(event: JobEnded) -> None:
    """Tell the `callback_url` of a job that it has ended."""


@webhooks.post("assessment.unread")
async def tell_of_unread_danger(event: AssessmentUnread) -> None:
    """Report that the danger in a job was not confirmed as read in time.

    To its `callback_url`, and to DANGER_CALLBACK_URL.
    """


@webhooks.post("interview.held", name="tell_of_held_interview")
@webhooks.post("interview.unread", name="tell_of_unread_interview")
async def tell_of_held_interview(event: InterviewHeld) -> None:
    """Report that an interview is held, and later that nobody read why.

    To its `callback_url`, and to DANGER_CALLBACK_URL.
    """


@webhooks.post("interview.finished")
async def tell_of_finished_interview(event: InterviewFinished) -> None:
    """Tell the `callback_url` of an interview that no further question is asked."""
