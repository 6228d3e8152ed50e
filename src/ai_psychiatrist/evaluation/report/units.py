"""The first units of a run, one row each: what is known of the total, and what went wrong."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.phq8 import MAX_TOTAL_SCORE, Item
from ai_psychiatrist.evaluation.report.figure_row import words
from ai_psychiatrist.evaluation.scores.prediction import UnitPrediction

MOST_UNITS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitRow:
    """One unit; positions are 0-100 along the totals 0-24."""

    unit_id: str
    status: str
    scored_items: int
    total: str
    severity: str
    low: float
    high: float
    failures: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitTable:
    """The rows that are shown, and how many are not."""

    rows: tuple[UnitRow, ...]
    left_out: int


def units_of(predictions: Sequence[UnitPrediction]) -> UnitTable:
    """Show the first `MOST_UNITS` units in the order of the run."""
    return UnitTable(
        rows=tuple(map(_row, predictions[:MOST_UNITS])),
        left_out=max(len(predictions) - MOST_UNITS, 0),
    )


def _row(unit: UnitPrediction) -> UnitRow:
    low, high = unit.severity_lower_bound.label, unit.severity_upper_bound.label
    span = f"{unit.total_min}\u2013{unit.total_max}"
    codes = Counter(failure.code or failure.category for failure in unit.failures)
    return UnitRow(
        unit_id=unit.unit_id,
        status=unit.status.value,
        scored_items=sum(unit.score(item) is not None for item in Item),
        total=str(unit.total) if unit.total is not None else span,
        severity=low if low == high else f"{low} to {high}",
        low=round(100 * unit.total_min / MAX_TOTAL_SCORE, 2),
        high=round(100 * unit.total_max / MAX_TOTAL_SCORE, 2),
        failures=", ".join(
            words(code.value) + (f" ×{count}" if count > 1 else "")
            for code, count in sorted(codes.items())
        ),
    )
