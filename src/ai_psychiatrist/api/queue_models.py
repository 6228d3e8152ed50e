"""What a rater gets of the queue: no score, and nothing of why a case is in it."""

from datetime import datetime

from ai_psychiatrist.domain.review import ReviewPhase
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.results.result import Result
from ai_psychiatrist.reviews.queued import Queued


class QueuedResult(Result):
    """An assessment to rate."""

    assessment_id: str
    """What its routes ask for."""
    created_at: datetime
    """When it was begun."""
    subject_id: str
    """Random; the same for all assessments of one subject."""
    danger: RiskLevel | None
    """The level of the signs of danger; never hidden."""
    raters: int
    """How many have committed their ratings."""
    phase: ReviewPhase
    """How far you are with rating it: one that is `seen` counts in no blind figure."""


class QueueResult(Result):
    """What to rate next, the first one first."""

    cases: tuple[QueuedResult, ...]
    """Reviews that you have begun, then where a rating tells most, each tenth a random one."""
    waiting: int
    """How many you have not rated, those beyond `limit` included."""


def queue_result(queued: Queued) -> QueueResult:
    """Return the beginning of the queue as it is answered."""
    return QueueResult(
        cases=tuple(
            QueuedResult(
                assessment_id=one.summary.id,
                created_at=one.summary.created_at,
                subject_id=one.summary.subject_id,
                danger=one.summary.figures.danger,
                raters=one.summary.raters,
                phase=one.phase,
            )
            for one in queued.cases
        ),
        waiting=queued.waiting,
    )
