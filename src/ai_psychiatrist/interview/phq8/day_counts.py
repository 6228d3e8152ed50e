"""Counts of days out of fourteen, as the scores that they leave open.

Source of the scores: the instrument's not at all (no day), several days (1 to 6 days), more than
half the days (7 to 11) and nearly every day (12 to 14).
"""

import re
from collections.abc import Callable
from typing import Final, TypeAlias

Scores: TypeAlias = frozenset[int]
"""The scores, 0–3, that words leave open."""

NONE: Final[Scores] = frozenset({0})
SEVERAL: Final[Scores] = frozenset({1})
MORE_THAN_HALF: Final[Scores] = frozenset({2})
NEARLY_EVERY_DAY: Final[Scores] = frozenset({3})
SOME: Final[Scores] = frozenset({1, 2, 3})
ANY: Final[Scores] = frozenset({0, 1, 2, 3})
NO_ANSWER: Final[Scores] = frozenset()
"""Of words that sound like a frequency within the two weeks and are none."""

Reader: TypeAlias = Callable[[re.Match[str]], Scores]

_DAYS: Final = 14
_NUMBERS: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen".split()
)
_MORE: Final = frozenset({"over", "more than", "above"})
_LESS: Final = frozenset({"under", "less than", "fewer than", "below"})

NUMBER: Final = rf"(?:{'|'.join(_NUMBERS)}|\d{{1,3}}|half a dozen|a couple|couple)"
"""A pattern of one number."""
_EDGE: Final = (
    r"(?:(?P<edge>at least|at most|up to|over|more than|less than|under|fewer than|not more than"
    r"|no more than|above|below) |between |the best part of |best part of |close to )?"
)
COUNT: Final = (
    rf"{_EDGE}(?P<low>{NUMBER})(?: of)?(?: (?:or|to|maybe|and) (?P<high>{NUMBER})(?: of)?)?"
)
"""A pattern of a number or a range, with the groups `edge`, `low` and `high`."""


def always(scores: Scores) -> Reader:
    """Read any match as the same scores."""
    return lambda _: scores


def counted(found: re.Match[str]) -> Scores:
    """Read a count of days."""
    low = _number(found["low"])
    return _between(found["edge"], low, _number(found["high"] or found["low"]))


def counted_per_week(found: re.Match[str]) -> Scores:
    """Read a count of days in each of the weeks."""
    low, high = _number(found["low"]), _number(found["high"] or found["low"])
    return _between(found["edge"], 2 * low, 2 * high)


def counted_alone(found: re.Match[str]) -> Scores:
    """Read a number alone: days, but 2 and 3 may as well be numbers of the offered answers."""
    low = _number(found["low"])
    if found["high"] is None and low in {2, 3} and not found["rough"]:
        return SEVERAL | {low}
    return counted(found)


def all_but(found: re.Match[str]) -> Scores:
    """Read how many days are left out."""
    days = _DAYS - _number(found["but"])
    return _scores(days, days)


def every_few(found: re.Match[str]) -> Scores:
    """Read every how many days it is."""
    step = _number(found["step"])
    return _scores(_DAYS // step, -(-_DAYS // step)) if step else ANY


def percentage(found: re.Match[str]) -> Scores:
    """Read a share of the days."""
    percent = _number(found["percent"])
    if found["edge"]:
        return MORE_THAN_HALF if percent == 50 else ANY
    days = percent * _DAYS / 100
    return _scores(int(days), int(days) + (days != int(days)))


def _between(edge: str | None, low: int, high: int) -> Scores:
    if edge == "at least":
        return _scores(low, _DAYS)
    if edge in _MORE:
        return _scores(low + 1, _DAYS)
    # "No more than three" is said of some days, not of none.
    return _scores(1, high - 1) if edge in _LESS else _scores(low, high)


def _scores(low: int, high: int) -> Scores:
    if not 0 <= low <= high <= _DAYS:
        return ANY
    return frozenset(_score(days) for days in range(low, high + 1))


def _score(days: int) -> int:
    if days == 0:
        return 0
    return 1 if days <= 6 else 2 if days <= 11 else 3


def _number(word: str) -> int:
    if word.isdecimal():
        return int(word)
    if word in {"a couple", "couple"}:
        return 2
    return 6 if word == "half a dozen" else _NUMBERS.index(word)
