"""Tables of figures: which rows they have, what these are called, and on what scale they lie."""

from collections.abc import Iterable
from dataclasses import dataclass

from ai_psychiatrist.evaluation.metrics.registry import all_metrics
from ai_psychiatrist.evaluation.report.figure_row import Shown, show
from ai_psychiatrist.evaluation.report.figures import Metrics, Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A row to be: where its figure lies in the metrics, and its words."""

    path: str
    name: str
    scale: Scale
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row as it is shown."""

    name: str
    note: str
    shown: Shown
    ends: tuple[str, str]
    """The two ends of its scale in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Rows under one title."""

    title: str
    rows: tuple[Row, ...]


def lines_of(path: str, kind: type) -> list[Line]:
    """Return the rows of the metrics that some kind of data has, in their order."""
    shown = [(metric, row) for metric in all_metrics() if (row := metric.row_on(kind)) is not None]
    return [
        Line(
            path=f"{path}.{metric.key}",
            name=row.title,
            scale=metric.scale_on(kind),
            note=row.note,
        )
        for metric, row in sorted(shown, key=lambda one: one[1].place)
    ]


def group(metrics: Metrics, title: str, lines: Iterable[Line]) -> Group:
    """Fill the rows of a group."""
    return Group(
        title=title,
        rows=tuple(
            Row(
                name=line.name,
                note=line.note,
                shown=show(metrics.figure(line.path), line.scale),
                ends=line.scale.ends,
            )
            for line in lines
        ),
    )
