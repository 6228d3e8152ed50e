"""What a caller gets of stored assessments, beside their results."""

from datetime import datetime

from ai_psychiatrist.domain.phq8 import Severity
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.domain.review import ReviewPhase
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.results.result import Result
from ai_psychiatrist.reviews.archive.records import ListedRecord


class RecordResult(Result):
    """A stored assessment in a list."""

    assessment_id: str
    """What its routes ask for."""
    created_at: datetime
    """When it was begun."""
    subject_id: str
    """Random; the same for all assessments of one subject."""
    state: RecordState
    """How far it is."""
    status: str | None
    """`complete`, or `partial` where a part of the result is missing; null while there is none."""
    danger: RiskLevel | None
    """The level of the signs of danger; never hidden."""
    hidden: bool
    """Whether scores are null because you are to rate first, or asked for it with `blind`."""
    total_min: int | None
    """The total if every unknown item were 0; like all figures below null where scores are hidden
    or items were not scored."""
    total_max: int | None
    """The total if every unknown item were 3."""
    severity_lower: Severity | None
    """The band of the smallest possible total: 0 minimal to 4 severe."""
    severity_upper: Severity | None
    """The band of the largest possible total."""
    unknown_items: int | None
    """How many items have no score."""
    width: int | None
    """How far the ends of the interval of the total lie apart; null without a belief."""
    models: tuple[str, ...]
    """Those that answered, by their names in the settings."""
    raters: int
    """How many have committed their ratings."""
    phase: ReviewPhase
    """How far you are with rating it."""


class RecordPageResult(Result):
    """A part of the list of stored assessments."""

    assessments: tuple[RecordResult, ...]
    """In the order that was asked for."""
    next: str | None
    """To be sent as `cursor` for the part after it; null at the end."""
    total: int
    """How many the whole list has."""


def record_result(listed: ListedRecord) -> RecordResult:
    """Return a line of the list; scores that are hidden are null."""
    summary, figures = listed.summary, listed.summary.figures
    scores: dict[str, object] = dict.fromkeys(_SCORES)
    if not listed.is_hidden:
        scores = {name: getattr(figures, name) for name in _SCORES}
    return RecordResult.model_validate(
        {
            "assessment_id": summary.id,
            "created_at": summary.created_at,
            "subject_id": summary.subject_id,
            "state": summary.state,
            "status": figures.status,
            "danger": figures.danger,
            "models": figures.models,
            "raters": summary.raters,
            "phase": listed.phase,
            "hidden": listed.is_hidden,
            **scores,
        }
    )


_SCORES = (
    "total_min",
    "total_max",
    "severity_lower",
    "severity_upper",
    "unknown_items",
    "width",
)
