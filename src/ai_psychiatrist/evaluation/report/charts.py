"""The charts of the report: errors of the items kept, and which items are unknown and why."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ai_psychiatrist.agents.baseline import BASELINE
from ai_psychiatrist.agents.pydantic_agents import EVIDENCE
from ai_psychiatrist.domain.phq8 import UnknownReason
from ai_psychiatrist.evaluation.metrics.run_metrics import SCORED, Part, RunMetrics
from ai_psychiatrist.evaluation.metrics.selective import SIGNALS
from ai_psychiatrist.evaluation.report.wording import of, percent
from ai_psychiatrist.results.wording import UNKNOWN_REASONS, nothing_found_by

WIDTH, HEIGHT = 480, 340
LEFT, RIGHT, TOP, BOTTOM = 42, WIDTH - 20, 30, HEIGHT - 50
_TENTHS: Final = [step / 10 for step in range(1, 11)]
_NAMES: Final[Mapping[str, str]] = {
    SCORED: "scored",
    UnknownReason.NO_MENTION: UNKNOWN_REASONS[UnknownReason.NO_MENTION],
    UnknownReason.UNCLEAR: "two readings stand, or an answer gave no score",
    UnknownReason.SCORE_NA_WITH_EVIDENCE: "model abstained despite evidence",
    UnknownReason.NO_GROUNDED_EVIDENCE: "no quote accepted as evidence",
    UnknownReason.NOT_ABOUT_ITEM: "about something else",
    UnknownReason.ONLY_DENIED_OR_PAST: "only denied or past",
    UnknownReason.ZERO_WITHOUT_DENIAL: "scored 0 without a denial",
    UnknownReason.NOT_EXAMINED: "not read: its language, or a failure",
    UnknownReason.SCORING_FAILED: "scoring failed",
}


Curve: TypeAlias = Sequence[tuple[float, float]]
"""Shares of the labelled items (0-1), rising, and the mean error of so many (0-3)."""


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
    default = metrics.part("selective").text("default")
    signals = sorted(SIGNALS, key=lambda signal: signal != default)
    if metrics.count("units", "labelled"):
        yield from chart_of(
            _curves(metrics, signals, "charged_curve"),
            title="All labelled items",
            note="Unknown items are kept first and cost 3 points each, so nothing is gained by "
            "abstaining.",
        )
        yield from chart_of(
            _curves(metrics, signals, "curve"),
            title="Scored items alone",
            note="A curve ends where the scored items do.",
        )


def _curves(metrics: RunMetrics, signals: Sequence[str], name: str) -> Mapping[str, Curve]:
    """Return a curve of each signal, by what it is called."""
    found = {}
    for signal in signals:
        curve = metrics.part("selective", "by_signal", signal, name)
        places = zip(curve.numbers("coverage"), curve.numbers("risk"), strict=True)
        found[SIGNALS[signal].name] = list(places)
    return found


def chart_of(curves: Mapping[str, Curve], *, title: str, note: str) -> Iterator[Chart]:
    """Yield the chart of the curves that have a point, if there is one."""
    drawn = {name: curve for name, curve in curves.items() if curve}
    if not drawn:
        return
    # The next fifth of a point, at least one, at most three points.
    highest = max(risk for curve in drawn.values() for _, risk in curve)
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
                points=[(_x(coverage), _y(risk, highest)) for coverage, risk in curve],
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
    return next((f"{risk:.2f}" for at, risk in curve if at >= coverage - 1e-9), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class BarStretch:
    """One stretch of a bar, 0-100."""

    name: str
    shade: str
    start: float
    width: float
    count: int
    amount: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One item, or all of them, over all units."""

    name: str
    scored: str
    parts: tuple[BarStretch, ...]
    """Those that occur in any item."""

    @property
    def spoken(self) -> str:
        """The bar as one phrase."""
        return ", ".join(f"{part.name} {part.amount}" for part in self.parts if part.count)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownItems:
    """The section on what was scored; there are bars where there are units."""

    summary: str
    bars: tuple[Bar, ...]


def unknown_items_of(metrics: RunMetrics) -> UnknownItems:
    """Return one bar for each item, none when there are no units."""
    every = metrics.part("coverage_by_reason", "all")
    names = {**_NAMES, UnknownReason.NO_MENTION: _nothing(metrics)}
    present = [key for key in _NAMES if every.count(key)]
    if not present:
        return UnknownItems(summary="There are no units.", bars=())
    return UnknownItems(
        summary=f"Scored: {of(every.count(SCORED), every.total)} items of all units, with or "
        "without a label. An unknown item is not a 0.",
        bars=tuple(
            _bar(one, present, names) for one in metrics.parts("coverage_by_reason", "by_item")
        ),
    )


def _nothing(metrics: RunMetrics) -> str:
    """Return who found nothing: the rules, a model, or now one and now the other."""
    looked = {
        one.text("model")
        for one in metrics.parts("cost", "by_agent_and_model")
        if one.text("agent") == EVIDENCE.name and one.count("accepted")
    }
    is_of_both = BASELINE in looked and len(looked) > 1
    return nothing_found_by(None if is_of_both else next(iter(looked), None))


def _bar(counts: Part, keys: Sequence[str], names: Mapping[str, str]) -> Bar:
    parts, start, whole = [], 0, counts.total
    for key in keys:
        count = counts.count(key)
        part = BarStretch(
            name=names[key],
            shade="c-scored" if key == SCORED else f"c{list(_NAMES).index(key)}",
            start=round(100 * start / whole, 3),
            width=round(100 * count / whole, 3),
            count=count,
            amount=of(count, whole),
        )
        parts.append(part)
        start += count
    scored = percent(counts.count(SCORED), whole)
    return Bar(name=counts.text("label"), scored=scored, parts=tuple(parts))
