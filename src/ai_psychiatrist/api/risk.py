"""Signs of danger, kept with a request for whatever problem may end it."""

from typing import Final

from starlette.types import Scope

from ai_psychiatrist.domain.risk import RiskReport
from ai_psychiatrist.results.risk import risk_field

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
