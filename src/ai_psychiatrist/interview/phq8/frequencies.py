"""The wordings that say on how many of the fourteen days something was so."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final, TypeAlias

from ai_psychiatrist.interview.phq8.day_counts import (
    ALL,
    AT_MOST_SEVERAL,
    EVERY_DAY,
    MORE_THAN_HALF,
    NEARLY_EVERY_DAY,
    NOT_EVERY_DAY,
    SEVERAL,
    Days,
)
from ai_psychiatrist.services.language.frequency import NUMBERS, whole_number

_Reader: TypeAlias = Callable[[re.Match[str]], Days | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class FrequencyWording:
    """A wording, and how many days it stands for; `None` where that is not clear."""

    expression: re.Pattern[str]
    days: _Reader


_OFFERED: Final = 5
"""How many answers are offered."""
_NUMBER: Final = rf"(?:{'|'.join(NUMBERS)}|\d{{1,3}}|half a dozen|(?:a )?couple)"
_COUNT: Final = (
    r"(?:(?P<edge>at least|at most|up to|over|more than|(?:not|no) more than|less than|under"
    r"|fewer than|above|below) )?(?P<rough>(?:about|around|roughly|approximately) )?"
    rf"(?P<low>{_NUMBER})(?: (?:or|to|or maybe) (?P<high>{_NUMBER}))?"
)
_ROUGHLY: Final = r"(?P<or_so> (?:or so|or thereabouts|ish|give or take|roughly))?"
_NEARLY: Final = (
    r"(?P<nearly>(?:nearly|almost|practically|virtually|basically|just about|pretty much) )?"
)
_STRESS: Final = r"(?:single |waking |bloody |damn |sodding |freaking |blessed |last )?"
_KIND: Final = r"(?:bad |rough |separate |different |single )?"
_FORTNIGHT: Final = r"(?:fortnight|(?:two|2) weeks|(?:14|fourteen)(?: days)?)"
_ALONE: Final = r"(?=$| (?:maybe|perhaps|probably|i|id|in|over|for|altogether|really)\b)"
_OF_ALL: Final = rf" (?:out of|of|in|over) (?:the |these |those )?(?:last |past )?{_FORTNIGHT}"


@cache
def frequencies(day: str) -> tuple[FrequencyWording, ...]:
    """Return the wordings. `day`: a pattern of what a day is called."""
    return tuple(_built(day))


def _built(day: str) -> Iterator[FrequencyWording]:
    yield _pattern(
        _counted,
        rf"{_COUNT}(?: of)?(?: the| those)? {_KIND}{day}s?(?:{_OF_ALL})?{_ROUGHLY}",
        rf"{_COUNT}(?: of them|{_OF_ALL}){_ROUGHLY}",
    )
    yield _pattern(_counted_alone, rf"{_COUNT}{_ROUGHLY}{_ALONE}")
    yield _pattern(
        _counted_per_week,
        rf"{_COUNT}(?: of)? {_KIND}{day}s? (?:a|per|each|every|out of (?:each|every)) week",
    )
    yield _pattern(
        _always(SEVERAL),
        rf"(?:a few|several|a handful)(?: of(?: the| those| these)?)? {_KIND}{day}s?",
        r"(?:a few|several|a handful)(?: of them)?",
    )
    yield _pattern(
        _always(MORE_THAN_HALF),
        rf"(?:(?:well|way|just|slightly) )?(?:more than|over) half(?: of)?(?: the| these)? {day}s",
        r"(?:more than|over) half(?: of them)?",
        rf"more {day}s than not|(?:the )?(?:most|majority)(?: of)?(?: the| these| those)? {day}s",
        r"(?:most|more than half) of (?:the|these) (?:fortnight|two weeks)",
        rf"most of them|(?:three quarters|two thirds) of the {day}s",
    )
    yield _pattern(
        _every_day,
        rf"{_NEARLY}(?:(?:each and every|every|each) {_STRESS}{day}|{day}ly|daily|everyday"
        rf"|all (?:the|of the|these) {day}s)",
        rf"all (?:14|fourteen)(?: {day}s| of them)?|day in day out|day after day",
        r"(?:all|the (?:whole|entire)) (?:two weeks|fortnight)",
    )
    yield _pattern(
        _always(NOT_EVERY_DAY),
        rf"not (?:(?:every|each) (?:single )?{day}|daily|always|all the time|all(?: of them)?)",
    )
    yield _pattern(
        _always(AT_MOST_SEVERAL),
        rf"some {day}s|the odd {day}|seldom|rarely|hardly ever|not (?:many|often)(?: {day}s)?",
    )
    half = Days(low=7, high=7)
    yield _pattern(_always(half), rf"half (?:of )?the {day}s|every (?:other|second) {day}")
    yield _pattern(_every, rf"every (?P<step>{_NUMBER}) {day}s")


def _pattern(read: _Reader, *wordings: str) -> FrequencyWording:
    # Written out, since a name may stand once in a pattern.
    joined = "|".join(f"(?:{_numbered(wording, n)})" for n, wording in enumerate(wordings))
    return FrequencyWording(expression=re.compile(rf"(?:{joined})(?!\S)"), days=read)


def _numbered(wording: str, number: int) -> str:
    return re.sub(r"\(\?P<(\w+)>", rf"(?P<\g<1>_{number}>", wording)


def _always(days: Days) -> _Reader:
    return lambda _: days


def _every_day(found: re.Match[str]) -> Days:
    said = [name for name, word in found.groupdict().items() if word]
    return NEARLY_EVERY_DAY if said else EVERY_DAY


def _counted(found: re.Match[str]) -> Days:
    said = {name.rsplit("_", 1)[0]: word for name, word in found.groupdict().items() if word}
    low, high = _number(said["low"]), _number(said.get("high", said["low"]))
    if "rough" in said or "or_so" in said:
        low, high = max(low - 1, 0), min(high + 1, ALL.high)
    match said.get("edge"):
        case None:
            return Days(low=low, high=high)
        case "at least":
            return Days(low=low, high=ALL.high)
        case "over" | "more than" | "above":
            return Days(low=low + 1, high=ALL.high)
        case "less than" | "under" | "fewer than" | "below":
            return Days(low=0, high=high - 1)
        case _:
            return Days(low=0, high=high)


def _counted_alone(found: re.Match[str]) -> Days | None:
    """Read a number without its days: it may be the number of an offered answer, or a scale's."""
    days = _counted(found)
    is_offered = days.low == days.high and 1 <= days.low <= _OFFERED
    is_scale = days.low == 0 < days.high
    return None if is_offered or is_scale else days


def _counted_per_week(found: re.Match[str]) -> Days:
    of_one = _counted(found)
    return Days(low=2 * of_one.low, high=2 * of_one.high)


def _every(found: re.Match[str]) -> Days:
    step = _number(found["step_0"])
    return Days(low=ALL.high // step, high=-(-ALL.high // step)) if step > 1 else ALL


def _number(word: str) -> int:
    if word.endswith("couple"):
        return 2
    return 6 if word == "half a dozen" else whole_number(word)
