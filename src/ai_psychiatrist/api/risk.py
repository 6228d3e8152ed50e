"""Signs of danger, kept with a request for whatever problem may end it."""

from typing import Final

from starlette.types import Scope

from ai_psychiatrist.domain.risk import ReadingStatus, RiskReport

_KEY: Final = "risk"


def keep_risk(scope: Scope, report: RiskReport) -> None:
    """Keep a report with its request, for whatever problem may end the request."""
    scope.setdefault("state", {})[_KEY] = report


def kept_risk(scope: Scope) -> dict[str, object]:
    """Return the kept report as a field of a problem, or nothing when no transcript was read."""
    report = scope.get("state", {}).get(_KEY)
    return risk_field(report) if isinstance(report, RiskReport) else {}


def forget_risk(scope: Scope) -> None:
    """Let no problem of the request carry a report any more."""
    scope.get("state", {}).pop(_KEY, None)


def risk_field(report: RiskReport) -> dict[str, object]:
    """Return a report as a field of a problem: levels and places, and no words."""
    risk: dict[str, object] = {
        "level": report.level.value,
        "signals": [
            {
                "level": signal.level.value,
                "source": signal.source.value,
                "turn": signal.turn,
                "start": signal.start,
                "end": signal.end,
            }
            for signal in report.signals
        ],
        "signal_count": report.signal_count,
        "examined": report.examined.model_dump(),
    }
    if report.model.status is not ReadingStatus.OFF:
        risk["model"] = report.model.model_dump()
    return {"risk": risk}
