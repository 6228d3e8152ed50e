"""The table of true against predicted severities, undecidable ones in a column of their own."""

from collections.abc import Sequence
from dataclasses import dataclass

from ai_psychiatrist.domain.phq8 import Severity
from ai_psychiatrist.evaluation.report.figure_row import grouped


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """How many units have this true severity and that prediction."""

    count: str
    shade: int
    """Share of the row, 0-100."""
    is_right: bool
    is_undecidable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfusionRow:
    """All units of one true severity."""

    truth: str
    cells: tuple[Cell, ...]
    total: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """The whole table."""

    columns: tuple[str, ...]
    rows: tuple[ConfusionRow, ...]
    undecidable: int
    """Units whose range of totals spans more than one band."""
    total: int


def confusion_of(counts: Sequence[Sequence[int]]) -> Confusion | None:
    """Lay out counts[true][predicted], five by six, undecidable last; `None` when all are 0."""
    total = sum(map(sum, counts))
    if total == 0:
        return None
    return Confusion(
        columns=(*(severity.label for severity in Severity), "undecidable"),
        rows=tuple(_row(severity, row) for severity, row in zip(Severity, counts, strict=True)),
        undecidable=sum(row[len(Severity)] for row in counts),
        total=total,
    )


def _row(truth: Severity, counts: Sequence[int]) -> ConfusionRow:
    total = sum(counts)
    return ConfusionRow(
        truth=truth.label,
        cells=tuple(
            Cell(
                count=grouped(count),
                shade=round(100 * count / total) if total else 0,
                is_right=column == truth,
                is_undecidable=column == len(Severity),
            )
            for column, count in enumerate(counts)
        ),
        total=grouped(total),
    )
