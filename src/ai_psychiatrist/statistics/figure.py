"""One figure of a report."""

from dataclasses import dataclass
from typing import Final, TypeAlias

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"

DECIMALS: Final = 10
"""Figures are rounded to this, so that the order of a sum leaves no trace in the bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A value with its 95 % interval, or the reason why there is none."""

    value: float | None
    reason: str | None = None
    """Why the value is not defined; or, where it is, why there is no interval. A plain count of the
    run has neither interval nor reason."""
    interval: tuple[float, float] | None = None
    n: int
    """How many items or units the value rests on."""

    def as_json(self) -> dict[str, Json]:
        """Return it as plain JSON values."""
        return {
            "value": None if self.value is None else rounded(self.value),
            "reason": self.reason,
            "interval": None if self.interval is None else [*map(rounded, self.interval)],
            "n": self.n,
        }


def rounded(value: float) -> float | int:
    """Round for writing; whole numbers stay whole, and there is no negative zero."""
    return value if isinstance(value, int) else round(value, DECIMALS) + 0.0
