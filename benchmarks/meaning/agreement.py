"""Shares with their intervals, and the agreement of two people's labels."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final, TypeVar

NOTHING: Final = "–"
_NORMAL_97_5: Final = 1.959964
_Case = TypeVar("_Case")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proportion:
    """A count out of a number."""

    count: int
    of: int

    @property
    def value(self) -> float | None:
        """0–1; unknown where there is nothing to count."""
        return self.count / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float]:
        """Give the 95 % interval, 0 to 1 where there is nothing to count.

        Source: Wilson 1927, J Am Stat Assoc 22:209-212.
        """
        if not self.of:
            return 0.0, 1.0
        share, spread = self.count / self.of, _NORMAL_97_5**2 / self.of
        middle = share + spread / 2
        reach = sqrt(share * (1 - share) * spread + spread**2 / 4)
        return max(0.0, (middle - reach) / (1 + spread)), min(1.0, (middle + reach) / (1 + spread))

    def __str__(self) -> str:
        """Write the share, its interval and the number, as a cell of a table."""
        if self.value is None:
            return NOTHING
        low, high = self.interval
        return f"{self.value:.3f} [{low:.3f}, {high:.3f}] of {self.of}"


def share_of(cases: Iterable[_Case], holds: Callable[[_Case], bool]) -> Proportion:
    """Count the cases for which something holds."""
    held = [holds(case) for case in cases]
    return Proportion(count=sum(held), of=len(held))


def kappa(pairs: Sequence[tuple[Hashable, Hashable]]) -> float | None:
    """Return Cohen's kappa of two people's labels; `None` where only one label occurs.

    Source: Cohen 1960, Educ Psychol Meas 20:37-46.
    """
    first, second = (Counter(pair[side] for pair in pairs) for side in (0, 1))
    chance = sum(count * second[label] for label, count in first.items())
    if chance == len(pairs) ** 2:
        return None
    observed = len(pairs) * sum(one == other for one, other in pairs)
    return (observed - chance) / (len(pairs) ** 2 - chance)


def kappa_row(name: str, pairs: Sequence[tuple[Hashable, Hashable]]) -> str:
    """Write a line of the table of agreement."""
    value = kappa(pairs)
    same = share_of(pairs, lambda pair: pair[0] == pair[1])
    return f"| {name} | {same} | {NOTHING if value is None else f'{value:.3f}'} |"
