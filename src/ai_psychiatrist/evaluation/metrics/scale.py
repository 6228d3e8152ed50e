"""What a figure is measured in, and how it is written for people."""

from enum import Enum
from typing import Final

from ai_psychiatrist.statistics.figure import Figure

WIDE: Final = 0.1
"""An interval that spans more than this part of its scale is called wide."""


class Scale(Enum):
    """Its ends, how many decimals it is read to, its unit."""

    ITEM_POINTS = (0.0, 3.0, 2, "")
    TOTAL_POINTS = (0.0, 24.0, 1, "")
    ITEMS = (0.0, 8.0, 1, "")
    """How many of the eight items."""
    SHARE = (0.0, 1.0, 0, " %")
    AGREEMENT = (-1.0, 1.0, 2, "")
    UNIT = (0.0, 1.0, 3, "")
    """Areas and scores between 0 and 1 that are no shares."""

    @property
    def low(self) -> float:
        """The smallest value."""
        return self.value[0]

    @property
    def high(self) -> float:
        """The largest value."""
        return self.value[1]

    def number(self, value: float, *, signed: bool = False) -> str:
        """Write a value, a share in per cent; a true minus sign, and no minus before zero."""
        decimals, scaled = self.value[2], value * (100 if self is Scale.SHARE else 1)
        rounded = round(scaled, decimals) + 0.0
        sign = "\u2212" if rounded < 0 else "+" if signed and rounded > 0 else ""
        return f"{sign}{abs(rounded):.{decimals}f}"

    def amount(self, value: float, *, signed: bool = False) -> str:
        """Write a value with its unit; a difference of shares is one of percentage points."""
        unit = " pp" if signed and self is Scale.SHARE else self.value[3]
        return self.number(value, signed=signed) + unit.replace(" ", "\u00a0")

    def span(self, figure: Figure, *, signed: bool = False) -> str | None:
        """Write the interval of a figure, or `None` when it has none."""
        if figure.interval is None:
            return None
        low, high = figure.interval
        return f"{self.number(low, signed=signed)} to {self.amount(high, signed=signed)}"

    def position(self, value: float) -> float:
        """Return where a value lies on the scale, 0-100."""
        part = (value - self.low) / (self.high - self.low)
        return round(100 * min(max(part, 0.0), 1.0), 2)

    @property
    def ends(self) -> tuple[str, str]:
        """Both ends in words."""
        low, high = (
            self.amount(end) if self is Scale.SHARE else f"{end:g}".replace("-", "\u2212")
            for end in (self.low, self.high)
        )
        return low, high

    def is_wide(self, figure: Figure) -> bool:
        """Whether the interval spans so much of the scale that the value alone misleads."""
        if figure.interval is None:
            return False
        low, high = figure.interval
        return high - low > WIDE * (self.high - self.low)
