"""The risk–coverage curve: the mean error of the items kept, as more of them are kept."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

MOST_POINTS: Final = 240
MOST_LINES: Final = 5
_WIDTH, _HEIGHT = 480, 340
_LEFT, _RIGHT, _TOP, _BOTTOM = 42, 20, 30, 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One step of a curve."""

    coverage: float
    """Share of the labelled items that are kept, 0-1."""
    risk: float
    """Mean absolute error of those kept, 0-3."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One ranking of the items, the surest first."""

    name: str
    points: Sequence[Point]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A mark of an axis, in drawing units, and what is written there."""

    at: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnCurve:
    """A curve as an SVG path."""

    name: str
    path: str
    end_x: float
    end_y: float
    is_dot: bool
    """Whether it has a single point, which a path would not show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveRow:
    """The risk of every curve at one coverage; `None` beyond a curve's end."""

    coverage: str
    risks: tuple[str | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveChart:
    """The chart, and the same as a table."""

    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]
    curves: tuple[DrawnCurve, ...]
    rows: tuple[CurveRow, ...]


def draw_curves(curves: Sequence[Curve]) -> CurveChart | None:
    """Draw at most `MOST_LINES` curves on one plane; `None` when none has a point."""
    drawn = [curve for curve in curves if curve.points][:MOST_LINES]
    if not drawn:
        return None
    highest = _ceiling(max(point.risk for curve in drawn for point in curve.points))
    return CurveChart(
        width=_WIDTH,
        height=_HEIGHT,
        left=_LEFT,
        right=_WIDTH - _RIGHT,
        top=_TOP,
        bottom=_HEIGHT - _BOTTOM,
        across=tuple(Tick(at=_x(step / 5), text=f"{20 * step}\u00a0%") for step in range(6)),
        up=tuple(
            Tick(at=_y(highest * step / 4, highest), text=f"{highest * step / 4:.2f}")
            for step in range(5)
        ),
        curves=tuple(_drawn(curve, highest) for curve in drawn),
        rows=tuple(_row(step / 10, drawn) for step in range(1, 11)),
    )


def _ceiling(risk: float) -> float:
    """Return the end of the risk axis: the next fifth of a point, at least one, at most three."""
    return min(max(math.ceil(risk * 5 + 1e-9) / 5, 0.2), 3.0)


def _x(coverage: float) -> float:
    return round(_LEFT + coverage * (_WIDTH - _LEFT - _RIGHT), 1)


def _y(risk: float, highest: float) -> float:
    return round(_HEIGHT - _BOTTOM - risk / highest * (_HEIGHT - _TOP - _BOTTOM), 1)


def _drawn(curve: Curve, highest: float) -> DrawnCurve:
    places = [(_x(point.coverage), _y(point.risk, highest)) for point in _thinned(curve.points)]
    return DrawnCurve(
        name=curve.name,
        path="M" + " L".join(f"{x:g},{y:g}" for x, y in places),
        end_x=places[-1][0],
        end_y=places[-1][1],
        is_dot=len(places) == 1,
    )


def _thinned(points: Sequence[Point]) -> list[Point]:
    """Keep the first, the last, and evenly spaced points between them."""
    if len(points) <= MOST_POINTS:
        return list(points)
    last = len(points) - 1
    return [points[round(step * last / (MOST_POINTS - 1))] for step in range(MOST_POINTS)]


def _row(coverage: float, curves: Sequence[Curve]) -> CurveRow:
    return CurveRow(
        coverage=f"{coverage:.0%}".replace("%", "\u00a0%"),
        risks=tuple(_risk_at(coverage, curve.points) for curve in curves),
    )


def _risk_at(coverage: float, points: Sequence[Point]) -> str | None:
    """Return the risk at the first step that covers so much."""
    for point in points:
        if point.coverage >= coverage - 1e-9:
            return f"{point.risk:.2f}"
    return None
