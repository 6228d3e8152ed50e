"""Signs of danger in what a caller gets, and which words were not read for them.

In a problem they are levels and places alone.
"""

from typing import Final

from ai_psychiatrist.domain.examined import Examined
from ai_psychiatrist.domain.risk import ModelReading, ReadingStatus, RiskReport
from ai_psychiatrist.results.risk_result import (
    ExaminedResult,
    RiskModelResult,
    UnexaminedTurnResult,
)
from ai_psychiatrist.services.language.language_marks import language_names

_MOST_TURNS: Final = 200


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


def examined_result(examined: Examined) -> ExaminedResult:
    """Return what was read, in the form that callers get."""
    return ExaminedResult(
        languages=dict(examined.words),
        share=examined.share,
        turns_not_examined=tuple(
            map(UnexaminedTurnResult.model_validate, examined.unread[:_MOST_TURNS])
        ),
        count_not_examined=len(examined.unread),
        statement=_statement(examined) if examined.unread else "",
    )


def _statement(examined: Examined) -> str:
    names = ", ".join(language_names()[one] for one in examined.languages)
    return (
        f"Not examined: what is said in {names}. Only English is read, so signs of danger and "
        "symptoms in those turns are not found, whatever else this result says. A person who "
        "knows the language has to read them."
    )
