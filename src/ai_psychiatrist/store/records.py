"""A stored assessment: what is sealed of it, and what stands in clear to be sorted by."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.phq8 import Severity
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.domain.review import ReviewPhase
from ai_psychiatrist.domain.risk import RiskGroup, RiskLevel
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.store.database import Found, Value

_LEVELS: Final = tuple(RiskLevel)

WHOLE: Final = "assessment"
"""The stage that stands for all of an assessment; its last event ends what is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What of a result can be read without any key: no words and no names."""

    status: str | None = None
    """Whether all parts are there; `None`, as the rest is, while there is no result."""
    total_min: int | None = None
    total_max: int | None = None
    severity_lower: Severity | None = None
    severity_upper: Severity | None = None
    unknown_items: int | None = None
    width: int | None = None
    """How many totals the belief's interval spans, from its lowest to its highest."""
    danger: RiskLevel | None = None
    danger_group: RiskGroup | None = None
    """The first group that its signs of danger are shown in; `None` without signs."""
    models: tuple[str, ...] = ()
    """Those that answered, by their names in the settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRecord:
    """An assessment to store."""

    id: str
    transcript: Transcript
    subject: str | None = field(default=None, repr=False)
    """Whose interview it is, as the caller calls them; met again under the same name."""
    result: bytes | None = field(default=None, repr=False)
    """JSON of the whole result; `None` for one that is still to be made."""
    figures: Figures = Figures()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSummary:
    """A stored assessment as far as it can be read without any key."""

    id: str
    created_at: datetime
    subject_id: str
    """Random; says nothing of the subject."""
    state: RecordState
    reason: str | None
    """Code of why it failed."""
    figures: Figures
    raters: int
    """How many have committed their ratings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A stored assessment with its words."""

    summary: RecordSummary
    result: bytes = field(repr=False)
    """JSON of the whole result as it was made; empty while there is none.

    Of an assessment that failed it says which calls did, and what was found of danger.
    """
    transcript: Transcript


@dataclass(frozen=True, slots=True, kw_only=True)
class StageEvent:
    """One step of an assessment, without words, in the order in which they came."""

    number: int
    """From 1."""
    stage: str
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRecord:
    """A line of a list, as one rater may see it."""

    summary: RecordSummary
    phase: ReviewPhase
    """How far the rater is with it."""
    is_hidden: bool
    """Whether scores are to be left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A finished assessment, as the queue of a rater sees it."""

    id: str
    created_at: datetime
    phase: ReviewPhase
    """How far the rater is with it."""
    unknown_items: int | None
    """`None` where no item has a result."""
    width: int | None
    """How many totals the belief's interval spans, `None` without a belief."""


def figures_of(result: Assessment) -> Figures:
    """Return what of a result holds neither words nor names."""
    models = (name for agent in result.models.values() for name in agent.answered_by)
    scores = result.quantitative
    found = Figures(
        status=result.status.value,
        danger=result.risk.level,
        danger_group=result.risk.group,
        models=tuple(dict.fromkeys(models)),
    )
    if scores is None:
        return found
    interval = scores.total_interval
    return replace(
        found,
        total_min=scores.total_score_min,
        total_max=scores.total_score_max,
        severity_lower=scores.severity_lower_bound,
        severity_upper=scores.severity_upper_bound,
        unknown_items=scores.na_count,
        width=None if interval is None else interval.high - interval.low,
    )


def columns_of(figures: Figures) -> dict[str, Value]:
    """Return figures by the names of their columns."""
    return {
        "status": figures.status,
        "total_min": figures.total_min,
        "total_max": figures.total_max,
        "severity_lower": figures.severity_lower,
        "severity_upper": figures.severity_upper,
        "unknown_items": figures.unknown_items,
        "width": figures.width,
        "danger": None if figures.danger is None else figures.danger.rank,
        "danger_group": figures.danger_group,
        "models": "\n".join(figures.models),
    }


def summary_in(row: Found) -> RecordSummary:
    """Return the summary that a row of the records holds."""
    figures = Figures(
        status=row.status,
        total_min=row.total_min,
        total_max=row.total_max,
        severity_lower=_severity(row.severity_lower),
        severity_upper=_severity(row.severity_upper),
        unknown_items=row.unknown_items,
        width=row.width,
        danger=level_of(row.danger),
        danger_group=None if row.danger_group is None else RiskGroup(row.danger_group),
        models=tuple(row.models.splitlines()),
    )
    return RecordSummary(
        id=row.id,
        created_at=datetime.fromisoformat(row.created_at),
        subject_id=row.subject_id,
        state=RecordState(row.state),
        reason=row.reason,
        figures=figures,
        raters=row.raters,
    )


def level_of(rank: int | None) -> RiskLevel | None:
    """Return the level of danger that a column holds."""
    return None if rank is None else _LEVELS[rank]


def _severity(value: int | None) -> Severity | None:
    return None if value is None else Severity(value)
