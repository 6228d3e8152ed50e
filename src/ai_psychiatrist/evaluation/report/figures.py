"""Figures as `metrics.json` holds them, and how they are written for people."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from ai_psychiatrist.domain.errors import InputError

NOT_COMPUTED: Final = "not among the metrics of this run"
WIDE: Final = 0.1
"""An interval that spans more than this part of its scale is called wide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure with its 95 % interval, or the reason why it is not defined."""

    value: float | None
    reason: str | None = None
    """Why there is no value; or, where there is one, why it has no interval."""
    low: float | None = None
    high: float | None = None
    count: int | None = None
    """How many units, items or pairs it rests on."""


class Scale(Enum):
    """What a figure is measured in: its ends, how many decimals it is read to, its unit."""

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
        if figure.low is None or figure.high is None:
            return None
        return (
            f"{self.number(figure.low, signed=signed)} to {self.amount(figure.high, signed=signed)}"
        )

    def position(self, value: float) -> float:
        """Return where a value lies on the scale, 0-100."""
        part = (value - self.low) / (self.high - self.low)
        return round(100 * min(max(part, 0.0), 1.0), 2)

    @property
    def ends(self) -> tuple[str, str]:
        """Both ends in words."""
        return _end(self, self.low), _end(self, self.high)

    def is_wide(self, figure: Figure) -> bool:
        """Whether the interval spans so much of the scale that the value alone misleads."""
        if figure.low is None or figure.high is None:
            return False
        return figure.high - figure.low > WIDE * (self.high - self.low)


def _end(scale: Scale, value: float) -> str:
    return scale.amount(value) if scale is Scale.SHARE else f"{value:g}".replace("-", "\u2212")


class Metrics:
    """The parsed `metrics.json`, read by paths such as `items.mae_micro`."""

    def __init__(self, document: Mapping[str, object]) -> None:
        self._document = document

    def at(self, path: str) -> object | None:
        """Return what lies at a path, or `None` when nothing does."""
        found: object = self._document
        for name in path.split("."):
            if not isinstance(found, Mapping):
                return None
            found = found.get(name)
        return found

    def figure(self, path: str) -> Figure:
        """Return the figure at a path; where there is none it is undefined and says so.

        Raises `InputError` when something else lies there.
        """
        return figure_of(self.at(path), path=path)

    def rows(self, path: str) -> Sequence[Mapping[str, object]]:
        """Return the list of objects at a path, empty when there is none.

        Raises `InputError` when something else lies there.
        """
        found = self.at(path)
        if found is None:
            return ()
        if not isinstance(found, list) or not all(isinstance(row, Mapping) for row in found):
            raise unreadable(path)
        return found

    def count(self, path: str) -> int:
        """Return the whole number at a path, 0 when there is none.

        Raises `InputError` when something else lies there.
        """
        found = self.at(path)
        if found is None:
            return 0
        if isinstance(found, bool) or not isinstance(found, int):
            raise unreadable(path)
        return found

    def word(self, path: str) -> str:
        """Return the text at a path. Raises `InputError` when there is none."""
        found = self.at(path)
        if not isinstance(found, str):
            raise unreadable(path)
        return found

    def numbers(self, path: str) -> list[float]:
        """Return the list of numbers at a path. Raises `InputError` when there is none."""
        found = self.at(path)
        if not isinstance(found, list):
            raise unreadable(path)
        return [_known(number_of(number, path=path), path) for number in found]

    def matrix(self, path: str) -> list[list[int]]:
        """Return the rows of whole numbers at a path. Raises `InputError` when there are none."""
        found = self.at(path)
        if not isinstance(found, list) or not all(isinstance(row, list) for row in found):
            raise unreadable(path)
        if not all(type(count) is int for row in found for count in row):
            raise unreadable(path)
        return found

    def table(self, path: str) -> Mapping[str, object]:
        """Return the object at a path, empty when there is none.

        Raises `InputError` when something else lies there.
        """
        found = self.at(path)
        if found is None:
            return {}
        if not isinstance(found, Mapping):
            raise unreadable(path)
        return found


def figure_of(found: object, *, path: str) -> Figure:
    """Read a figure in the form value, reason, interval, n. Raises `InputError` naming the path."""
    if found is None:
        return Figure(value=None, reason=NOT_COMPUTED)
    if not isinstance(found, Mapping):
        raise unreadable(path)
    value, reason, interval = found.get("value"), found.get("reason"), found.get("interval")
    low, high = interval if isinstance(interval, list) and len(interval) == 2 else (None, None)
    return Figure(
        value=number_of(value, path=path),
        reason=reason if isinstance(reason, str) else None,
        low=number_of(low, path=path),
        high=number_of(high, path=path),
        count=_count_of(found.get("n"), path=path),
    )


def number_of(found: object, *, path: str) -> float | None:
    """Read a finite number or `None`. Raises `InputError` naming the path."""
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
        raise unreadable(path)
    return float(found)


def _known(number: float | None, path: str) -> float:
    if number is None:
        raise unreadable(path)
    return number


def _count_of(found: object, *, path: str) -> int | None:
    number = number_of(found, path=path)
    return None if number is None else int(number)


def unreadable(path: str) -> InputError:
    """Say which part of the metrics has not the form that a report reads."""
    message = f"metrics hold something unexpected at {path!r}; compute them again with this version"
    return InputError(message, field=f"metrics.{path}")
