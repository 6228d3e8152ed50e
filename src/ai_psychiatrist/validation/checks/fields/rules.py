"""The field rules of a rule block: allowed values and ranges."""

import math
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class EnumRule:
    """The allowed values of a field."""

    values: tuple[object, ...]
    match: Literal["casefold", "none"] = "casefold"
    """With `casefold` a text of other case is taken, and written as the value is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeRule:
    """The numbers that a field may hold; `None` is a side without a bound."""

    low: float | None
    high: float | None
    is_low_open: bool = False
    """Whether the low bound itself is outside."""
    is_high_open: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether no number is inside."""
        if self.low is None or self.high is None:
            return False
        is_open = self.is_low_open or self.is_high_open
        return self.low > self.high or (self.low == self.high and is_open)

    def holds(self, number: float) -> bool:
        """Return whether a number is inside; NaN never is."""
        if math.isnan(number):
            return False
        low, high = self.low, self.high
        if low is not None and (number < low or (self.is_low_open and number == low)):
            return False
        return high is None or number < high or (number == high and not self.is_high_open)

    @property
    def wanted(self) -> str:
        """What the range asks for, in words."""
        bounds = []
        if self.low is not None:
            bounds.append(f"{'more than' if self.is_low_open else 'at least'} {self.low:g}")
        if self.high is not None:
            bounds.append(f"{'less than' if self.is_high_open else 'at most'} {self.high:g}")
        return f"must be {' and '.join(bounds)}" if bounds else "must be a number"
