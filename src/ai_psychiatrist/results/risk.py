"""Signs of danger in what a caller gets; in a problem their levels and places alone."""

from ai_psychiatrist.domain.risk import ModelReading, ReadingStatus, RiskReport
from ai_psychiatrist.results.examined import examined_result
from ai_psychiatrist.results.risk_result import RiskModelResult


def risk_field(report: RiskReport) -> dict[str, object]:
    """Return a report as a field of a problem body; it holds no words."""
    return {
        "risk": {
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
            "examined": examined_result(report.examined).model_dump(mode="json"),
            **_asked(report.model),
        }
    }


def _asked(reading: ModelReading) -> dict[str, object]:
    """Return what became of the model, and nothing where none was asked."""
    if reading.status is ReadingStatus.OFF:
        return {}
    return {"model": risk_model(reading).model_dump(mode="json")}


def risk_model(reading: ModelReading) -> RiskModelResult:
    """Return what became of the model that reads for danger, in the form that callers get."""
    return RiskModelResult(
        status=reading.status,
        code=reading.code,
        sign_count=len(reading.signals),
        refused_count=reading.refused_count,
        completed_count=reading.completed_count,
    )
