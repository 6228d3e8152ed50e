"""What the log says of an interview: no words, and of its id, which opens it, a digest alone."""

import time
from typing import Final

from ai_psychiatrist.domain.errors import AssessmentServiceError
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.telemetry.watching import publish
from ai_psychiatrist.infrastructure.telemetry.work import InterviewHeld
from ai_psychiatrist.interview.record import Danger, Interview

logger = get_logger(__name__)

_MOST_REASON: Final = 160


def log_interview(
    event: str,
    interview: Interview,
    *,
    started: float | None = None,
    code: FailureCode | None = None,
) -> None:
    """Write one line. `started`: when the work began, of `time.perf_counter`."""
    duration = None if started is None else round((time.perf_counter() - started) * 1000, 1)
    logger.info(
        event,
        interview_hash=keyed_digest(interview.id),
        protocol=interview.protocol.id,
        status=interview.state,
        turn=interview.turn,
        model_calls=interview.spent.calls,
        code=code or interview.failure,
        duration_ms=duration,
    )


def report_hold(interview: Interview, danger: Danger) -> None:
    """Warn that an interview is held, and count it: a person has to look."""
    logger.warning(
        "interview_held",
        interview_hash=keyed_digest(interview.id),
        # `level` is that of the line.
        severity=danger.level,
        category=",".join(danger.categories),
        turn=interview.turn,
    )
    publish(InterviewHeld())


def log_unavailable(error: AssessmentServiceError) -> None:
    """Tell the operator why interviews cannot be kept, as far as it fits into a line."""
    logger.error(
        "interviews_unavailable", error_type=type(error).__name__, reason=str(error)[:_MOST_REASON]
    )
