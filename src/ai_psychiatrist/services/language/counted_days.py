"""Counts of days that answer how often something is: "four or five", "nine out of fourteen"."""

import re
from functools import cache
from typing import Final

from ai_psychiatrist.domain.evidence import Frequency
from ai_psychiatrist.services.language.frequency import NUMBERS, whole_number
from ai_psychiatrist.services.language.spoken import spoken

_DAYS: Final = 14
_LEAST_DAYS: Final = (
    (12, Frequency.NEARLY_EVERY_DAY),
    (7, Frequency.MORE_THAN_HALF),
    (2, Frequency.SEVERAL_DAYS),
)
"""From how many days of a fortnight on (Kroenke et al. 2009)."""
_SPANS: Final = {"week": 7, "weeks": 14, "fortnight": 14}


def counted_days(said: str, asked: str = "") -> Frequency | None:
    """Read the days that an answer counts; of how many, it or its question has to say."""
    answer = " ".join(spoken(said).texts)
    of_some = _counts_of_some().search(answer)
    if of_some is not None:
        return _frequency(of_some, of_some["span"])
    alone, span = _counts().match(answer), _named_span().search(asked.casefold())
    return None if alone is None or span is None else _frequency(alone, span[0])


def _frequency(found: re.Match[str], span: str) -> Frequency | None:
    """Return what the fewest of the counted days come to in a fortnight."""
    days = _SPANS.get(span) or whole_number(span)
    count = min(whole_number(found["least"]), whole_number(found["most"] or found["least"]))
    if not 0 < count <= days:
        return None
    in_a_fortnight = round(count / days * _DAYS)
    return next((often for least, often in _LEAST_DAYS if in_a_fortnight >= least), None)


@cache
def _counts() -> re.Pattern[str]:
    number = rf"(?:{'|'.join(NUMBERS)}|\d{{1,2}})"
    return re.compile(
        rf"(?:\w+ ){{0,3}}?\b(?P<least>{number})\b(?: (?:(?:or|to|maybe) )?(?P<most>{number})\b)?"
    )


@cache
def _counts_of_some() -> re.Pattern[str]:
    of = r"(?:out of|of|in|over|during|a|per)(?: (?:every|each|last|past|couple|this|of|two))*"
    span = rf"(?P<span>week|weeks|fortnight|{'|'.join(NUMBERS[2:])}|7|10|14)"
    return re.compile(rf"{_counts().pattern}(?: \w+){{0,3}}? {of} {span}\b")


@cache
def _named_span() -> re.Pattern[str]:
    return re.compile(r"\b(?:weeks|fortnight|week)\b")
