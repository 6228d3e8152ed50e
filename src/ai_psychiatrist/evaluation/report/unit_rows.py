"""The units with the largest errors, and those that changed between two runs, as rows."""

from typing import Final

from ai_psychiatrist.evaluation.metrics.unit_errors import (
    LargestErrors,
    UnitChange,
    UnitChanges,
    UnitError,
)
from ai_psychiatrist.evaluation.report.wording import grouped

ERROR_COLUMNS: Final = ("Unit", "#Points off", "#Total", "#Label", "Score / label", "Unknown")
CHANGE_COLUMNS: Final = (
    *("Unit", "#First off", "#Second off", "#First total", "#Second total", "#Label"),
)
"""A name that begins with "#" is that of a column of numbers."""


def errors_note(found: LargestErrors) -> str:
    """Return what the rows of errors are."""
    note = "Points off over the labelled items; an unknown item counts as 3."
    if not found.without_scores:
        return note
    return f"{note} Not listed: {grouped(found.without_scores)} labelled units without any score."


def error_row(unit: UnitError) -> tuple[str, ...]:
    """Return the cells of a unit beside its labels."""
    wrong = (f"{item.label} {one.score} / {one.label}" for item, one in unit.wrong.items())
    return (
        unit.unit_id,
        f"{unit.points_off:g}",
        *_totals(unit),
        ", ".join(wrong) or "–",
        ", ".join(item.label for item in unit.unknown) or "–",
    )


def changes_note(found: UnitChanges) -> str:
    """Return how many units have a smaller, a larger and an equal error in the second run."""
    return (
        f"Labelled units with a smaller error in the second: {grouped(found.better)}; with a "
        f"larger one: {grouped(found.worse)}; equal: {grouped(found.equal)}. Points off over the "
        "labelled items; an unknown item counts as 3."
    )


def change_row(unit: UnitChange) -> tuple[str, ...]:
    """Return the cells of a unit in two runs."""
    total, label = _totals(unit.second)
    return (
        unit.first.unit_id,
        f"{unit.first.points_off:g}",
        f"{unit.second.points_off:g}",
        _totals(unit.first)[0],
        total,
        label,
    )


def _totals(unit: UnitError) -> tuple[str, str]:
    low, high = unit.total_score_min, unit.total_score_max
    label = "–" if unit.label_total is None else str(unit.label_total)
    return str(low) if low == high else f"{low}–{high}", label
