"""Find expressions of frequency in an answer, and how many of fourteen days each leaves open."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from itertools import accumulate
from math import ceil, floor
from typing import Final, TypeAlias

from ai_psychiatrist.interview.phq8.reading_words import (
    expression_of,
    table,
    whole_words,
)
from ai_psychiatrist.interview.phq8.readings import ALL, EVERY_DAY, NO_DAY, Days
from ai_psychiatrist.services.language.frequency import whole_number


class Manner(StrEnum):
    """In which way an expression says how often."""

    COUNTED = "counted"
    """Days are counted or named, so that a condition beside them only tells which."""
    SHARE = "share"
    """Of all days."""
    LOOSE = "loose"
    """A habit ("sometimes", "always"): a count beside it goes before it."""
    NAMED = "named"
    """By the days of the week."""
    NUMBER = "number"
    """A number without its days."""
    FRAME = "frame"
    """The time that is asked about, and no frequency."""
    VAGUE = "vague"
    """It leaves more than one score open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    """Words that say how often; characters of the spoken answer, end exclusive."""

    start: int
    end: int
    days: Days
    manner: Manner
    is_anchor: bool = False
    week: str = ""
    """Of which week it is said: `first`, `second`, or the one `before` that."""


_Reader: TypeAlias = Callable[[re.Match[str]], Days | None]

_WEEKDAY: Final = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)day")
_DAY: Final = re.compile(r"day|night|morning|evening|afternoon")
_TOTAL: Final = re.compile(r"(?:so|thats|makes it|making it|which is) ")
_FEW: Final = re.compile(r"\b(?:few|several|couple|handful)\b")
"""They count days of whatever time."""
_LONGEST_WEEK: Final = 40
_FRACTIONS: Final = {
    "half": 2,
    "third": 3,
    "quarter": 4,
    "fifth": 5,
    "sixth": 6,
    "seventh": 7,
    "tenth": 10,
}
_HUNDRED: Final = 100
_WEEKS: Final = ("before", "first", "second")
_CLEAR: Final = 0.3
"""How far a share may be from whole days that have another score than the next."""


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], Manner, _Reader], ...]:
    return tuple(
        (whole_words(expression_of(wording)), manner, read)
        for wordings, manner, read in (*_fixed(), *_counting())
        for wording in wordings
    )


def _fixed() -> Iterator[tuple[list[str], Manner, _Reader]]:
    for key, wordings in table("often").items():
        if key in _VAGUE:
            yield wordings, Manner.VAGUE, _always(_VAGUE[key])
        else:
            low, high = map(int, key.split("-"))
            yield wordings, Manner.SHARE, _always(Days(low=low, high=high))


def _counting() -> Iterator[tuple[list[str], Manner, _Reader]]:
    for key, (manner, read) in _READERS.items():
        yield table("counting")[key], manner, read


@cache
def _part(name: str) -> re.Pattern[str]:
    return whole_words(expression_of(f"{{{name}}}"))


def expressions_in(spoken: str) -> tuple[Expression, ...]:
    """Find the expressions from left to right, of those that overlap the longest."""
    found = [
        Expression(
            start=match.start(),
            end=match.end(),
            days=days,
            manner=_manner(manner, match[0]),
            is_anchor=_part("anchor").fullmatch(match[0]) is not None,
        )
        for pattern, manner, read in _patterns()
        for match in pattern.finditer(spoken)
        if (days := read(match)) is not None
    ]
    kept: list[Expression] = []
    taken = bytearray(len(spoken))
    for one in sorted(found, key=lambda one: (one.start - one.end, one.start)):
        if not taken[one.start] and not taken[one.end - 1]:
            taken[one.start : one.end] = b"\1" * (one.end - one.start)
            kept.append(one)
    kept = [one for one in kept if one.manner is not Manner.FRAME]
    in_order = sorted(kept, key=lambda one: one.start)
    with_weeks = [_with_week(spoken, one) for one in in_order]
    ends = accumulate((one.end for one in with_weeks), max, initial=0)
    return tuple(one for one, end in zip(with_weeks, ends, strict=False) if one.start >= end)


def _manner(manner: Manner, words: str) -> Manner:
    if manner is Manner.SHARE and _part("loose").fullmatch(words):
        return Manner.LOOSE
    if manner is Manner.NAMED:
        # One day alone may only say when something was.
        return Manner.LOOSE if len(_WEEKDAY.findall(words)) == 1 else Manner.COUNTED
    return manner


def _with_week(spoken: str, one: Expression) -> Expression:
    """Return an expression with the week that is named right after it, or right before."""
    after = _part("of_one_week").match(spoken, one.end + 1)
    before = _part("week_before").search(spoken[max(0, one.start - _LONGEST_WEEK) : one.start])
    if _TOTAL.match(spoken, one.start):
        before = None
    named = after or before
    if named is None:
        return one
    days, manner = one.days, one.manner
    if manner is Manner.NUMBER:
        manner = Manner.COUNTED
    elif _WEEKDAY.search(spoken, one.start, one.end):
        manner, days = Manner.COUNTED, Days(low=days.high // 2, high=days.high // 2)
    elif manner is Manner.SHARE and _FEW.search(spoken, one.start, one.end):
        days = Days(low=days.low, high=min(days.high, ALL.high // 2))
    elif manner in {Manner.SHARE, Manner.LOOSE} and "seven" not in spoken[one.start : one.end]:
        days = Days(low=ceil(days.low / 2), high=floor(days.high / 2))
    week = _week_of(named)
    return replace(one, end=after.end() if after else one.end, days=days, manner=manner, week=week)


def week_in(spoken: str) -> str:
    """Return which week words name first, an empty text where they name none."""
    named = _part("of_one_week").search(spoken)
    return _week_of(named) if named else ""


def _week_of(named: re.Match[str]) -> str:
    return next(name for name in _WEEKS if named[name])


def _counted(found: re.Match[str]) -> Days | None:
    said = {name: word for name, word in found.groupdict().items() if word}
    low = _number(said["low"])
    if low > ALL.high and not _DAY.search(found[0]):
        # "Which is 58."
        return None
    high = _number(said.get("high", said["low"]))
    if low > high:
        return Days(low=high, high=low)
    if "or_so" in said and low == high:
        low, high = low - 1, high + 1
    times = 2 if "weekly" in said else 1
    most = ALL.high // times
    low, high = _bounded(said.get("bound", said.get("edge", "")).strip(" ,"), low, high, most)
    return Days(low=low * times, high=high * times)


def _bounded(bound: str, low: int, high: int, most: int) -> tuple[int, int]:
    if bound in {
        "at least",
        "or more",
        "plus",
        "minimum",
        "a minimum of",
        "no fewer than",
        "no less than",
        "and up",
        "or over",
        "upwards",
        "upwards of",
        "at the very least",
        "at the least",
    }:
        return low, max(most, low)
    if bound in {"over", "more than", "above", "just over", "well over"}:
        return low + 1, max(most, low + 1)
    if bound in {
        "less than",
        "under",
        "fewer than",
        "below",
        "just under",
        "nearly",
        "almost",
        "not even",
    }:
        is_near = bound in {"just under", "nearly", "almost"}
        return (low - 1 if is_near else 0), high - 1
    is_at_most = bound in {"at most", "at the most"} and low != high
    if is_at_most or bound in {"tops", "max", "maximum", "if that"}:
        # Who says so means about as many.
        return max(low - 1, 0) if low == high else low, high
    return (0 if bound else low), high


def _few_times(found: re.Match[str]) -> Days | None:
    counts = {"once": 1, "twice": 2, "thrice": 3}
    low = counts[found["few"]]
    high = counts[found["many"]] if found["many"] else _number(found["high"] or str(low))
    times = 2 if found["weekly"] else 1
    if found["bound"] or found["edge"]:
        low, high = _bounded(
            (found["bound"] or found["edge"]).strip(" ,"), low, high, ALL.high // times
        )
    return Days(low=low * times, high=high * times)


def _all_but(found: re.Match[str]) -> Days | None:
    if found["ends"]:
        return Days(low=10, high=10)
    if found.groupdict().get("odd"):
        return Days(low=12, high=13)
    if found.groupdict().get("one"):
        return Days(low=13, high=13)
    if found["off"]:
        off = len(found["off"].replace(" ,", "").replace(" and", "").split())
        return Days(low=ALL.high - 2 * off, high=ALL.high - off)
    less = _number(found["less"])
    most = _number(found.groupdict().get("most") or found["less"])
    return Days(low=ALL.high - most, high=ALL.high - less)


def _every(found: re.Match[str]) -> Days | None:
    step = _step(found["step"])
    most = _step(found["most"] or found["step"])
    if step <= 1:
        return None
    return Days(low=ALL.high // most, high=ceil(ALL.high / step))


def _step(word: str) -> int:
    ordinals = {"third": 3, "3rd": 3, "fourth": 4, "4th": 4, "fifth": 5, "5th": 5}
    return ordinals.get(word) or _number(word)


def _out_of(found: re.Match[str]) -> Days | None:
    of = _number(found["of"])
    has_days = _DAY.search(found[0]) is not None or " time" in found[0]
    if not has_days and of != ALL.high:
        return None
    count = 1 if found["count"] == "a" else _number(found["count"])
    return _share(count / of) if of > 0 and count <= of <= ALL.high else Days(low=1, high=0)


def _fraction(found: re.Match[str]) -> Days | None:
    said = found.groupdict().get("count") or "a"
    return _share((1 if said == "a" else _number(said)) / _FRACTIONS[found["part"]])


def _beside_half(found: re.Match[str]) -> Days:
    count = 1 if found["count"] == "a" else _number(found["count"])
    is_less = found["sign"] not in {"plus", "and", "more than", "over", "above"}
    days = ALL.high // 2 + (-count if is_less else count)
    return Days(low=days, high=days)


def _sum(found: re.Match[str]) -> Days | None:
    days = _number(found["low"]) + _number(found["each"])
    return Days(low=days, high=days)


def _product(found: re.Match[str]) -> Days | None:
    days = _number(found["low"]) * _number(found["each"])
    return Days(low=days, high=days)


def _percent(found: re.Match[str]) -> Days | None:
    tens = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
    if found["tens"]:
        percent = 10 * (tens.index(found["tens"]) + 2) + _number(found["units"] or "0")
    else:
        percent = _HUNDRED if "hundred" in found["percent"] else _number(found["percent"])
    if percent > _HUNDRED:
        return None
    days = _share(percent / _HUNDRED)
    if found["bound"] is None:
        return days
    is_over = found["bound"] in {"more than", "over", "above", "at least"}
    if is_over and days.low == ALL.high // 2:
        return Days(low=days.low, high=11)
    return Days(low=days.low, high=ALL.high) if is_over else Days(low=0, high=days.high)


def _share(share: float) -> Days:
    """Return the whole days of a share; both neighbours where it lies between them."""
    days = share * ALL.high
    nearest = round(days)
    if abs(days - nearest) <= _CLEAR:
        return Days(low=nearest, high=nearest)
    return Days(low=floor(days), high=ceil(days))


def _named(found: re.Match[str]) -> Days | None:
    names = _WEEKDAY.findall(found[0])
    if re.search(r"through|thru|to|till|until", found[0]):
        order = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
        count = (order.index(names[-1]) - order.index(names[0])) % 7 + 1
        is_each_week = (names[0], names[-1]) == ("monday", "friday")
    else:
        count = len(set(names))
        is_each_week = re.search(r"days(?!\S)", found[0]) is not None
    is_each_week = is_each_week or bool(found.groupdict().get("every")) or "both" in found[0]
    return Days(low=2 * count if is_each_week else count, high=2 * count)


def _about_half(found: re.Match[str]) -> Days:
    return Days(low=6, high=7) if found[0].startswith(("nearly", "almost")) else Days(low=7, high=7)


def _always(days: Days) -> _Reader:
    return lambda _: days


def _number(word: str) -> int:
    if "couple" in word:
        return 2
    if "dozen" in word:
        return 6 if "half" in word else 12
    return whole_number(word)


_VAGUE: Final = {"vague": ALL, "vague_few": Days(low=0, high=6)}
_READERS: Final[Mapping[str, tuple[Manner, _Reader]]] = {
    "count": (Manner.COUNTED, _counted),
    "count_alone": (Manner.NUMBER, _counted),
    "count_of_the_rest": (Manner.LOOSE, _counted),
    "few_times": (Manner.COUNTED, _few_times),
    "one_day": (Manner.COUNTED, _always(Days(low=1, high=1))),
    "one_day_alone": (Manner.NUMBER, _always(Days(low=1, high=1))),
    "two_days": (Manner.COUNTED, _always(Days(low=2, high=2))),
    "no_day": (Manner.SHARE, _always(NO_DAY)),
    "any_day": (Manner.SHARE, _always(NO_DAY)),
    "every_day": (Manner.SHARE, _always(EVERY_DAY)),
    "a_week_or_so": (Manner.COUNTED, _always(Days(low=1, high=13))),
    "all_but": (Manner.COUNTED, _all_but),
    "every_step": (Manner.SHARE, _every),
    "out_of": (Manner.COUNTED, _out_of),
    "fraction": (Manner.SHARE, _fraction),
    "percent": (Manner.SHARE, _percent),
    "about_half": (Manner.SHARE, _about_half),
    "beside_half": (Manner.COUNTED, _beside_half),
    "sum": (Manner.COUNTED, _sum),
    "product": (Manner.COUNTED, _product),
    "below_half": (Manner.SHARE, _always(Days(low=0, high=6))),
    "weekdays": (Manner.NAMED, _named),
    "frame": (Manner.FRAME, _always(ALL)),
}
