"""A value with its interval."""

from dataclasses import dataclass
from typing import Final

DECIMALS: Final = 10
"""Figures are rounded to this, so that the order of a sum leaves no trace in the bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A value with its 95 % interval, or the reason why there is none."""

    value: int | float | None
    """Whole only where it is a count."""
    reason: str | None = None
    """Why the value is not defined; or, where it is, why there is no interval. A plain count of the
    run has neither interval nor reason."""
    interval: tuple[float, float] | None = None
    n: int
    """How many items or units the value rests on."""


def rounded(value: float) -> float:
    """Round for writing; there is no negative zero."""
    return round(value, DECIMALS) + 0.0
