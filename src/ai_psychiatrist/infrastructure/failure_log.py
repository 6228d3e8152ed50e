"""Collect what goes wrong during one assessment, from wherever it is noticed."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from ai_psychiatrist.domain.failures import (
    FailureCategory,
    FailureCode,
    FailureRecord,
    FailureSeverity,
)
from ai_psychiatrist.infrastructure.logging import get_logger

logger = get_logger(__name__)

_current: Final[ContextVar[list[FailureRecord] | None]] = ContextVar("failures", default=None)


@contextmanager
def collect_failures() -> Iterator[list[FailureRecord]]:
    """Yield the list that gathers the failures recorded inside the block and its tasks."""
    failures: list[FailureRecord] = []
    token = _current.set(failures)
    try:
        yield failures
    finally:
        _current.reset(token)


def record_failure(
    category: FailureCategory,
    severity: FailureSeverity,
    message: str,
    *,
    stage: str,
    code: FailureCode | None = None,
    participant_id: int | None = None,
    **context: str | int,
) -> None:
    """Log a failure and add it to the assessment it belongs to.

    `message` is a fixed sentence and `context` holds counts and mode names: no text of participant
    or model.
    """
    record = FailureRecord(
        category=category,
        severity=severity,
        message=message,
        stage=stage,
        code=code,
        context=context,
    )
    collected = _current.get()
    if collected is not None:
        collected.append(record)
    logger.warning(
        "failure_recorded",
        category=category,
        severity=severity,
        stage=stage,
        code=code,
        participant_id=participant_id,
        **context,
    )
