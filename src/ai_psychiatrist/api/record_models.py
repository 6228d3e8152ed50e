"""What a caller gets of stored assessments, beside their results."""

from datetime import datetime

from pydantic import Field

from ai_psychiatrist.domain.phq8 import Severity
from ai_psychiatrist.domain.review import ReviewPhase
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.results.result import Result
from ai_psychiatrist.reviews.archive.records import ListedRecord, RecordState, RecordSummary


class RecordResult(Result):
    """A stored assessment in a list."""

    id: str
    """To be asked for under it."""
    created_at: datetime
    """When it was made."""
    subject_id: str
    """Random; the same for all assessments of one subject."""
    state: RecordState
    """How far it is."""
    status: str | None
    """Whether all parts are there; null while there is no result."""
    danger: RiskLevel | None
    """Never hidden; null where the transcript was not read."""
    hidden: bool
    """Whether scores are left out, because you have not rated this assessment yet."""
    total_min: int | None
    """The total if every unknown item were 0."""
    total_max: int | None
    """The total if every unknown item were 3."""
    severity_lower: Severity | None
    """The band of the smallest possible total: 0 minimal to 4 severe."""
    severity_upper: Severity | None
    """The band of the largest possible total."""
    unknown_items: int | None
    """How many items have no score."""
    width: int | None
    """How many totals the belief's interval spans; null without a belief."""
    models: tuple[str, ...]
    """Those that answered."""
    raters: int
    """How many have committed their ratings."""
    mine: ReviewPhase
    """How far you are with it."""


class RecordPageResult(Result):
    """A part of the list of stored assessments."""

    assessments: tuple[RecordResult, ...]
    """In the order that was asked for."""
    next: str | None
    """To be sent as `cursor` for the part after it; null at the end."""
    total: int
    """How many the whole list has."""


class StageResult(Result):
    """One step of an assessment, without words."""

    stage: str
    """The step."""
    outcome: str
    """How it ended."""


class RecordStatusResult(Result):
    """How far an assessment is."""

    id: str
    """The assessment's."""
    state: RecordState
    """How far it is."""
    reason: str | None = None
    """Code of why it failed."""
    danger: RiskLevel | None = None
    """The level of the signs found; null where nothing was read yet."""
    stages: tuple[StageResult, ...] = Field(default=())
    """The steps that have ended."""


def record_result(listed: ListedRecord) -> RecordResult:
    """Return a line of the list; scores that are hidden are null."""
    summary, figures = listed.summary, listed.summary.figures
    scores: dict[str, object] = dict.fromkeys(_SCORES)
    if not listed.is_hidden:
        scores = {name: getattr(figures, name) for name in _SCORES}
    return RecordResult.model_validate(
        {
            "id": summary.id,
            "created_at": summary.created_at,
            "subject_id": summary.subject_id,
            "state": summary.state,
            "status": figures.status,
            "danger": figures.danger,
            "models": figures.models,
            "raters": summary.raters,
            "mine": listed.mine,
            "hidden": listed.is_hidden,
            **scores,
        }
    )


def status_result(
    summary: RecordSummary, stages: tuple[StageResult, ...] = ()
) -> RecordStatusResult:
    """Return how far an assessment is."""
    return RecordStatusResult(
        id=summary.id,
        state=summary.state,
        reason=summary.reason,
        danger=summary.figures.danger,
        stages=stages,
    )


_SCORES = (
    "total_min",
    "total_max",
    "severity_lower",
    "severity_upper",
    "unknown_items",
    "width",
)
