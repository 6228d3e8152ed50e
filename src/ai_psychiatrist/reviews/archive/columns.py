"""Figures as columns and back: what of an assessment anybody with the file can read."""

from dataclasses import replace
from datetime import datetime

from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.phq8 import Severity
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.ledger.store.database import Row, Value
from ai_psychiatrist.reviews.archive.records import Figures, RecordSummary

_LEVELS = tuple(RiskLevel)


def figures_of(result: Assessment) -> Figures:
    """Return what of a result holds neither words nor names."""
    models = (name for agent in result.models.values() for name in agent.answered_by)
    scores, danger = result.quantitative, result.risk.level
    found = Figures(status=result.status.value, danger=danger, models=tuple(dict.fromkeys(models)))
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
        "models": "\n".join(figures.models),
    }


def summary_in(row: Row) -> RecordSummary:
    """Return the summary that a row of the records holds."""
    figures = Figures(
        status=row["status"],
        total_min=row["total_min"],
        total_max=row["total_max"],
        severity_lower=_severity(row["severity_lower"]),
        severity_upper=_severity(row["severity_upper"]),
        unknown_items=row["unknown_items"],
        width=row["width"],
        danger=None if row["danger"] is None else _LEVELS[row["danger"]],
        models=tuple(row["models"].splitlines()),
    )
    return RecordSummary(
        id=row["id"],
        created_at=datetime.fromisoformat(row["created_at"]),
        subject_id=row["subject_id"],
        state=RecordState(row["state"]),
        reason=row["reason"],
        figures=figures,
        raters=row["raters"],
    )


def _severity(value: int | None) -> Severity | None:
    return None if value is None else Severity(value)
