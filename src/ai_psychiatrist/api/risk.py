"""Signs of danger in what a caller gets when an assessment does not: levels and places alone."""

from typing import Final

from starlette.types import Scope

from ai_psychiatrist.domain.risk import RiskReport, RiskSignal

_KEY: Final = "risk"
_MOST_SIGNALS: Final = 200
"""Nobody reads more; a transcript of nothing but danger holds 17,000."""


def keep_risk(scope: Scope, report: RiskReport) -> None:
    """Keep a report with its request, for whatever problem may end the request."""
    scope.setdefault("state", {})[_KEY] = report


def kept_risk(scope: Scope) -> dict[str, object]:
    """Return the kept report as a field of a problem, or nothing when no transcript was read."""
    report = scope.get("state", {}).get(_KEY)
    return risk_field(report) if isinstance(report, RiskReport) else {}


def shown_signals(report: RiskReport) -> tuple[RiskSignal, ...]:
    """Return at most 200 signals in the order of the transcript, those of high level before others.

    Their count and the level of all are told beside them.
    """
    if len(report.signals) <= _MOST_SIGNALS:
        return report.signals
    gravest = sorted(report.signals, key=lambda signal: -signal.level.rank)[:_MOST_SIGNALS]
    return tuple(sorted(gravest, key=lambda signal: (signal.start, signal.end)))


def risk_field(report: RiskReport) -> dict[str, object]:
    """Return a report as a field of a problem body; it holds no words."""
    return {
        _KEY: {
            "level": report.level.value,
            "signal_count": len(report.signals),
            "signals": [
                {
                    "level": signal.level.value,
                    "turn": signal.turn,
                    "start": signal.start,
                    "end": signal.end,
                }
                for signal in shown_signals(report)
            ],
        }
    }
