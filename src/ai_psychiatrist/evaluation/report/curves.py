"""The risk-coverage charts: the mean error of the items kept, as more of them are kept."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.evaluation.metrics.run_metrics import Curve, RunMetrics
from ai_psychiatrist.evaluation.metrics.signals import SIGNALS

WIDTH, HEIGHT = 480, 340
LEFT, RIGHT, TOP, BOTTOM = 42, WIDTH - 20, 30, HEIGHT - 50
_TENTHS: Final = [step / 10 for step in range(1, 11)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A mark of an axis, in drawing units, and what is written there."""

    at: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnCurve:
    """A curve as an SVG path."""

    name: str
    points: list[tuple[float, float]]
    risks: list[str | None]
    """At each tenth of the items; `None` beyond the end."""

    @property
    def path(self) -> str:
        """The path."""
        return "M" + " L".join(f"{x:g},{y:g}" for x, y in self.points)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Curves on one plane with their words."""

    title: str
    note: str
    across: list[Tick]
    up: list[Tick]
    curves: list[DrawnCurve]


def charts_of(metrics: RunMetrics) -> Iterator[Chart]:
    """Yield the charts that have a curve, the declared signal of confidence first."""
    found = metrics.selective
    signals = sorted(found.by_signal, key=lambda signal: signal != found.default)
    named = {SIGNALS[signal].name: found.by_signal[signal] for signal in signals}
    if metrics.units.labelled:
        yield from chart_of(
            {name: one.charged_curve for name, one in named.items()},
            title="All labelled items",
            note="Unknown items are kept first and cost 3 points each, so nothing is gained by "
            "abstaining.",
        )
        yield from chart_of(
            {name: one.curve for name, one in named.items()},
            title="Scored items alone",
            note="A curve ends where the scored items do.",
        )


def chart_of(curves: Mapping[str, Curve], *, title: str, note: str) -> Iterator[Chart]:
    """Yield the chart of the curves that have a point, if there is one."""
    drawn = {name: curve for name, curve in curves.items() if curve.risk}
    if not drawn:
        return
    # The next fifth of a point, at least one, at most three points.
    highest = max(risk for curve in drawn.values() for risk in curve.risk)
    highest = min(max(math.ceil(highest * 5 + 1e-9) / 5, 0.2), 3.0)
    steps = [highest * step / 4 for step in range(5)]
    yield Chart(
        title=title,
        note=note,
        across=[Tick(at=_x(step / 5), text=f"{20 * step}\u00a0%") for step in range(6)],
        up=[Tick(at=_y(step, highest), text=f"{step:.2f}") for step in steps],
        curves=[
            DrawnCurve(
                name=name,
                points=[
                    (_x(coverage), _y(risk, highest))
                    for coverage, risk in zip(curve.coverage, curve.risk, strict=True)
                ],
                risks=[_risk_at(tenth, curve) for tenth in _TENTHS],
            )
            for name, curve in drawn.items()
        ],
    )


def _x(coverage: float) -> float:
    return round(LEFT + coverage * (RIGHT - LEFT), 1)


def _y(risk: float, highest: float) -> float:
    return round(BOTTOM - risk / highest * (BOTTOM - TOP), 1)


def _risk_at(coverage: float, curve: Curve) -> str | None:
    """Return the risk at the first step that covers so much."""
    places = zip(curve.coverage, curve.risk, strict=True)
    return next((f"{risk:.2f}" for at, risk in places if at >= coverage - 1e-9), None)
