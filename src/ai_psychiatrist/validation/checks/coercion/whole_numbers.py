"""Read whole numbers of a scale as models write them, and say when a type had to be changed."""

import math
import re
from dataclasses import dataclass
from typing import Final

_WHOLE: Final = re.compile(r"\s*(\d{1,2})(?:\.0+)?\s*\Z", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeNumber:
    """A number of a scale, and whether it was read from another type."""

    value: int
    coerced: bool


def whole_number(value: object, *, low: int, high: int) -> WholeNumber | None:
    """Read an integer from `low` to `high`; `None` for anything else.

    A numeric string ("2") and an integral float (2.0) are read and marked as coerced. `true`, 2.5,
    NaN and numbers outside the scale are not read: nothing is rounded or clamped.
    """
    match value:
        case bool():
            return None
        case int():
            number, coerced = value, False
        case float() if math.isfinite(value) and value.is_integer():
            number, coerced = int(value), True
        case str() if found := _WHOLE.match(value):
            number, coerced = int(found[1]), True
        case _:
            return None
    return WholeNumber(value=number, coerced=coerced) if low <= number <= high else None
