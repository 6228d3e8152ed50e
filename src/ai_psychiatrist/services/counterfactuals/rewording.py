"""An interviewer's question in other words that ask the same."""

import re
from collections.abc import Iterator
from typing import Final

from ai_psychiatrist.services.counterfactuals.openings import without_capital
from ai_psychiatrist.services.language.frequency import asks_how_often, goes_on
from ai_psychiatrist.services.language.questions import question_in
from ai_psychiatrist.services.language.timeline import timeline_of

_SWAPS: Final = tuple(
    (re.compile(rf"\b{said}\b", re.IGNORECASE), other)
    for said, other in (
        (r"how have you been", "how would you say you have been"),
        (r"have you been", "would you say that you have been"),
        (r"have you", "would you say that you have"),
        (r"do you", "would you say that you"),
        (r"are you", "would you say that you are"),
    )
)
_LEADS: Final = ("Let me ask you this: {}", "I would like to ask: {}", "Okay. {}", "Well. {}")


def reworded(said: str) -> Iterator[str]:
    """Yield other wordings of an interviewer's words that the reader takes for the same question.

    Line breaks at the end stay where they are.
    """
    words = said.rstrip()
    ending = said[len(words) :]
    for wording in _wordings(words):
        if _asks_the_same(wording, words):
            yield f"{wording}{ending}"


def _wordings(words: str) -> Iterator[str]:
    for said, other in _SWAPS:
        swapped, count = said.subn(other, words, count=1)
        if count:
            yield swapped[:1].upper() + swapped[1:]
    for lead in _LEADS:
        yield lead.format(without_capital(words) if lead.endswith(": {}") else words)


def _asks_the_same(one: str, other: str) -> bool:
    return _asking(one) == _asking(other)


def _asking(words: str) -> tuple[object, ...]:
    question, times = question_in(words), timeline_of(words)
    return (
        dict(question.asked),
        asks_how_often(words),
        goes_on(words),
        times.timeframe_of(0, len(words)),
        times.names_these_weeks,
    )
