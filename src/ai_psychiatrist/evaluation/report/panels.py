"""The two risk–coverage charts: scored items alone, and all labelled items."""

from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.evaluation.report.curve import Curve, CurveChart, Point, draw_curves
from ai_psychiatrist.evaluation.report.definitions import signal_name
from ai_psychiatrist.evaluation.report.figures import Metrics


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """A chart with its words."""

    title: str
    note: str
    chart: CurveChart


_PANELS: Final = (
    (
        "charged_curve",
        "All labelled items",
        "Unknown items are kept first and cost 3 points each, so nothing is gained by abstaining.",
    ),
    ("curve", "Scored items alone", "A curve ends where the scored items do."),
)


def panels_of(metrics: Metrics) -> tuple[Panel, ...]:
    """Return the charts that have a curve, the declared signal of confidence first."""
    default = metrics.word("selective.default")
    signals = sorted(metrics.table("selective.by_signal"), key=lambda name: name != default)
    panels = []
    for key, title, note in _PANELS:
        chart = draw_curves([_curve(metrics, signal, key) for signal in signals])
        if chart is not None:
            panels.append(Panel(title=title, note=note, chart=chart))
    return tuple(panels)


def _curve(metrics: Metrics, signal: str, key: str) -> Curve:
    path = f"selective.by_signal.{signal}.{key}"
    coverages, risks = metrics.numbers(f"{path}.coverage"), metrics.numbers(f"{path}.risk")
    return Curve(
        name=signal_name(signal),
        points=[
            Point(coverage=coverage, risk=risk)
            for coverage, risk in zip(coverages, risks, strict=True)
        ],
    )
