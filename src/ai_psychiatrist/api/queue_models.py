"""What a rater gets of the queue: no score, and nothing of why a case is in it."""

from datetime import datetime

from pydantic import Field

from ai_psychiatrist.domain.review import ReviewPhase
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.results.result import Result
from ai_psychiatrist.reviews.queued import Queued


class QueuedResult(Result):
    """An assessment to rate."""

    id: str = Field(examples=["0b4e1c1e-6f5d-4a3a-9d4e-2f3f0c1d2e3f"])
    created_at: datetime
    subject_id: str = Field(examples=["5f1d3a9c"])
    """Random; the same for all assessments of one subject."""
    danger: RiskLevel | None = Field(examples=["none"])
    """Never hidden."""
    raters: int = Field(examples=[1])
    """How many have committed their ratings."""
    mine: ReviewPhase = Field(examples=["unseen"])
    """How far you are with it: one that is `seen` counts in no blind figure."""


class QueueResult(Result):
    """What to rate next, the first one first."""

    cases: tuple[QueuedResult, ...]
    waiting: int = Field(examples=[37])
    """How many there are in all."""


def queue_result(queued: Queued) -> QueueResult:
    """Return the beginning of the queue as it is answered."""
    return QueueResult(
        cases=tuple(
            QueuedResult(
                id=one.summary.id,
                created_at=one.summary.created_at,
                subject_id=one.summary.subject_id,
                danger=one.summary.figures.danger,
                raters=one.summary.raters,
                mine=one.mine,
            )
            for one in queued.cases
        ),
        waiting=queued.waiting,
    )
