"""The parts of an assessment, and what is recorded of one that it has to go without."""

from collections.abc import Callable
from enum import StrEnum
from typing import Final, TypeAlias

from ai_psychiatrist.agents.pydantic_agents import OPTIONAL_AGENTS
from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.failures import FailureCategory, FailureCode, FailureSeverity
from ai_psychiatrist.infrastructure.logging import get_logger, record_failure

logger = get_logger(__name__)


class Part(StrEnum):
    """What an assessment is made of."""

    FINDINGS = "findings"
    JUDGEMENT = "judgement"
    SCORES = "scores"
    META_REVIEW = "meta_review"


FULL: Final = frozenset(Part)
OnFinished: TypeAlias = Callable[[Part], None]
"""Called with each part as it is done."""
TOO_LATE: Final = frozenset({FailureCode.DEADLINE_EXCEEDED, FailureCode.TIMED_OUT})
"""Codes of what would have needed more time."""
BACKEND_FAILED: Final = "backend_failed"
"""Code of an end that no single failure stands for."""


def record_defect(error: Exception) -> None:
    """Record that a part met a defect of the program."""
    logger.error("part_failed", error_type=type(error).__name__)
    record_failure(
        FailureCategory.AGENT_FAILED,
        FailureSeverity.ERROR,
        "A part of the assessment ended in an internal error.",
        stage="pipeline",
        code=FailureCode.INTERNAL_ERROR,
    )


def record_skipped(stage: str) -> None:
    """Record that what a part of the assessment needs is missing."""
    record_failure(
        FailureCategory.STAGE_SKIPPED,
        FailureSeverity.ERROR,
        "A part was skipped, because what it needs is missing.",
        stage=stage,
        code=FailureCode.MISSING_INPUT,
    )


def record_late(stage: str) -> None:
    """Record that the time of a part was up."""
    record_failure(
        FailureCategory.AGENT_FAILED,
        FailureSeverity.ERROR,
        "The deadline passed before this part was finished.",
        stage=stage,
        code=FailureCode.DEADLINE_EXCEEDED,
    )


def end_code(assessment: Assessment) -> str:
    """Return the code of why an assessment has nothing of what is wanted.

    `deadline_exceeded` and `ungrounded_evidence` where nothing else went wrong.
    """
    parts = [failure for failure in assessment.failures if failure.stage not in OPTIONAL_AGENTS]
    codes = {failure.code for failure in parts if failure.code is not None}
    if codes and codes - {FailureCode.MISSING_INPUT} <= TOO_LATE:
        return FailureCode.DEADLINE_EXCEEDED.value
    is_ungrounded = codes == {FailureCode.UNGROUNDED_EVIDENCE}
    return FailureCode.UNGROUNDED_EVIDENCE.value if is_ungrounded else BACKEND_FAILED
