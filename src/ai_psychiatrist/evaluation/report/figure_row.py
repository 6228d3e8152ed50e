"""A figure as a row: its words, and where its mark lies on the scale (0-100 from the left)."""

from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.evaluation.metrics.registry import Better, Scale, shown_on
from ai_psychiatrist.evaluation.metrics.run_metrics import Figures
from ai_psychiatrist.evaluation.report.wording import amount, grouped, span
from ai_psychiatrist.statistics.figure import Figure

WIDE: Final = 0.1
"""An interval that spans more than this part of its scale is called wide."""


@dataclass(frozen=True, kw_only=True)
class FigureRow:
    """A figure on its own scale."""

    name: str
    figure: Figure
    scale: Scale
    note: str = ""

    is_signed = False

    @property
    def value(self) -> str | None:
        """The value with its unit, `None` when it is not defined."""
        value = self.figure.value
        return None if value is None else amount(value, self.scale, signed=self.is_signed)

    @property
    def span(self) -> str | None:
        """The interval, `None` when there is none."""
        return span(self.figure, self.scale, signed=self.is_signed)

    @property
    def aside(self) -> str:
        """The interval, or why there is none."""
        return self.span or self.figure.reason or "no interval"

    @property
    def count(self) -> str:
        """What it rests on."""
        return grouped(self.figure.n)

    @property
    def dot(self) -> float | None:
        """Where the value lies."""
        return None if self.figure.value is None else self.position(self.figure.value)

    @property
    def whisker(self) -> tuple[float, float] | None:
        """Where both ends of the interval lie."""
        ends = self.figure.interval
        return None if ends is None else (self.position(ends[0]), self.position(ends[1]))

    def position(self, value: float) -> float:
        """Return where a value lies."""
        low, high, *_ = self.scale.value
        return round(100 * min(max((value - low) / (high - low), 0.0), 1.0), 2)

    @property
    def ends(self) -> list[str]:
        """Both ends of the scale in words."""
        if self.scale is Scale.SHARE:
            return [amount(end, self.scale) for end in self.scale.value[:2]]
        return [f"{end:g}".replace("-", "\u2212") for end in self.scale.value[:2]]

    @property
    def is_wide(self) -> bool:
        """Whether the interval spans so much of the scale that the value alone misleads."""
        if self.figure.interval is None:
            return False
        (start, end), (low, high, *_) = self.figure.interval, self.scale.value
        return end - start > WIDE * (high - low)

    @property
    def spoken(self) -> str:
        """All of it as one phrase, for those who do not see the mark."""
        if self.value is None:
            return f"not defined: {self.figure.reason}"
        span = "" if self.span is None else f", 95 % interval {self.span}"
        return f"{self.value}{span}, n {self.count}"


@dataclass(frozen=True, kw_only=True)
class DifferenceRow(FigureRow):
    """A difference between two runs around 0, which lies at 50."""

    sides: tuple[float | None, float | None]
    """The figure of the first run and of the second."""
    better: Better
    reach: float
    """What lies at either end."""

    is_signed = True

    def position(self, value: float) -> float:
        """Return where a difference lies."""
        if self.reach == 0:
            return 50.0
        return round(50 + 50 * min(max(value / self.reach, -1.0), 1.0), 2)

    @property
    def both(self) -> list[str]:
        """Both sides with their unit."""
        return ["–" if side is None else amount(side, self.scale) for side in self.sides]

    @property
    def verdict(self) -> str:
        """What the interval says of the second run."""
        if self.figure.interval is None:
            return "cannot be told"
        low, high = self.figure.interval
        if low <= 0 <= high:
            return "no difference shown"
        direction = Better.LOWER if high < 0 else Better.HIGHER
        if self.better is Better.NEITHER:
            return f"{direction.value} in the second"
        return "second is better" if direction is self.better else "second is worse"


def rows_of(figures: Figures, kind: type) -> tuple[FigureRow, ...]:
    """Return the rows of the metrics that a kind of data has, in their order."""
    return tuple(
        FigureRow(
            name=row.title, note=row.note, figure=figures[metric.key], scale=metric.scale_on(kind)
        )
        for metric, row in shown_on(kind)
    )


def row_of(figures: Figures, kind: type, key: str) -> FigureRow:
    """Return the row of one metric, which must be shown for the kind of data."""
    keys = [metric.key for metric, _ in shown_on(kind)]
    return rows_of(figures, kind)[keys.index(key)]
