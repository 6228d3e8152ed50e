"""Tell callers which words were not read, and what to do about it."""

from typing import Final

from ai_psychiatrist.domain.examined import Examined
from ai_psychiatrist.results.risk_result import ExaminedResult, UnexaminedTurnResult
from ai_psychiatrist.services.language.language_marks import language_names

_MOST_TURNS: Final = 200


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
