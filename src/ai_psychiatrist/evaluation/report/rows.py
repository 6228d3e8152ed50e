"""Tables of figures: which rows they have, what these are called, and on what scale they lie."""

from collections.abc import Iterable
from dataclasses import dataclass

from ai_psychiatrist.evaluation.report.figures import Metrics, Scale
from ai_psychiatrist.evaluation.report.shown import Shown, show


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
