"""Read a number, a truth value, a list or the absence of a value from text, or read nothing."""

import math
import re
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.validation.reply.json_decoder import NotJson, decode
from ai_psychiatrist.validation.reply.limits import STRICT_LIMITS

MAX_DIGITS: Final = 15
"""A whole number of so many digits is exact as a double."""
MAX_WHOLE: Final = 10.0**MAX_DIGITS

NO_VALUE_WORDS: Final = frozenset({"", "null", "n/a", "na", "none", "unknown"})

_SPACES: Final = " \t\r\n"
_WHOLE: Final = re.compile(r"([+-]?[0-9]{1,15})(?:\.0{1,15})?")
_DECIMAL: Final = re.compile(
    r"[+-]?(?:[0-9]{1,15}(?:\.[0-9]{1,17})?|\.[0-9]{1,17})(?:[eE][+-]?[0-9]{1,3})?"
)


def whole_number_of(text: str) -> int | None:
    """Read a whole number of at most 15 ASCII digits, "5.0" included."""
    found = _WHOLE.fullmatch(text.strip(_SPACES))
    return int(found[1]) if found else None


def number_of(text: str) -> int | float | None:
    """Read a finite decimal number; a whole one that is written without a point is an integer."""
    stripped = text.strip(_SPACES)
    if not _DECIMAL.fullmatch(stripped):
        return None
    if stripped.lstrip("+-").isdecimal():
        return int(stripped)
    value = float(stripped)
    return value if math.isfinite(value) else None


def whole_of_float(value: float) -> int | None:
    """Return the integer that a float of at most 15 digits stands for."""
    return int(value) if value.is_integer() and abs(value) < MAX_WHOLE else None


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeNumber:
    """A number of a scale, and whether it was read from another type."""

    value: int
    coerced: bool


def read_whole_number(value: object, *, low: int, high: int) -> WholeNumber | None:
    """Read an integer from `low` to `high`; `None` for anything else.

    A text ("2") and an integral float (2.0) are read and marked as coerced. `true`, 2.5, NaN and
    numbers outside the scale are not read: nothing is rounded or clamped.
    """
    match value:
        case bool():
            return None
        case int():
            number: int | None = value
        case float():
            number = whole_of_float(value)
        case str():
            number = whole_number_of(value)
        case _:
            return None
    if number is None or not low <= number <= high:
        return None
    return WholeNumber(value=number, coerced=not isinstance(value, int))


def truth_of(text: str) -> bool | None:
    """Read `true` or `false` in any case, and nothing else."""
    return {"true": True, "false": False}.get(text.strip(_SPACES).lower())


def means_no_value(text: str) -> bool:
    """Return whether a text is empty or a word for the absence of a value, such as `N/A`."""
    return text.strip(_SPACES).lower() in NO_VALUE_WORDS


def array_of(text: str) -> list[object] | None:
    """Read a list that is written as JSON; `None` for all else, also for a JSON object."""
    value = _json_of(text) if text.lstrip(_SPACES).startswith("[") else None
    return value if isinstance(value, list) else None


def object_in(text: str) -> dict[str, object] | None:
    """Read an object that is written as JSON."""
    value = _json_of(text) if text.lstrip(_SPACES).startswith("{") else None
    return value if isinstance(value, dict) else None


def _json_of(text: str) -> object:
    try:
        return decode(text, STRICT_LIMITS)
    except (NotJson, OutputRejected):
        return None
