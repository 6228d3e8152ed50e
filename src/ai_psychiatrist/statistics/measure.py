"""What a figure is computed from: sums over units, so that resampling is one matrix product."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_psychiatrist.statistics.arrays import Array, BoolArray, Places, Scalar
from ai_psychiatrist.statistics.parts import Part, kept

SMALLEST_N: Final = 10
"""With fewer participants no interval holds what it promises (see `benchmarks/coverage.py`)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Statistics:
    """What each unit adds; measures that share it share the sums as well."""

    parts: Sequence[Part]
    """Side by side."""

    @property
    def by_unit(self) -> Array:
        """(units, k)"""
        return np.concatenate([part.by_unit for part in self.parts], axis=1)

    @property
    def total(self) -> Array:
        """(k,): the sums over all units."""
        return np.concatenate([part.summed(None, 1)[0] for part in self.parts])

    @property
    def concerned(self) -> BoolArray:
        """(units,): which of them add anything."""
        found: BoolArray = np.logical_or.reduce([part.concerned for part in self.parts])
        return found

    def summed(self, places: Places, count: int) -> Array:
        """Return the sums of the units in each of so many places, (count, k)."""
        return np.concatenate([part.summed(places, count) for part in self.parts], axis=1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measure:
    """A figure as a function of the sums of its statistics."""

    statistics: Statistics
    combine: Callable[[Array], Array]
    """(k, samples) sums to (samples,) values; NaN where the value is not defined."""
    n: int
    undefined: str
    """The reason to give where the value is not defined."""
    smallest_n: int = SMALLEST_N
    """Participants that an interval needs."""
    combine_resampled: Callable[[Array], Array] | None = None
    """As `combine`, for sums of resamples, where these need another formula."""
    no_interval: str | None = None
    """Why resampling tells nothing of its uncertainty; `None` where it does."""


def statistics(*columns: ArrayLike | Part) -> Statistics:
    """Stand columns of (units,) or (units, k), and other parts, side by side."""
    return Statistics(parts=[one if isinstance(one, Part) else kept(one) for one in columns])


def by_unit(values: NDArray[Scalar]) -> Array:
    """Add up the places of each unit."""
    return np.asarray(values.sum(axis=1), dtype=np.float64)


def ratio(numerators: ArrayLike, denominators: ArrayLike, *, undefined: str) -> Measure:
    """Return the sum of the numerators over that of the denominators, which is also its n."""
    counts = np.asarray(denominators, dtype=np.float64)
    return Measure(
        statistics=statistics(numerators, counts),
        combine=lambda sums: sums[0] / sums[1],
        n=int(counts.sum()),
        undefined=undefined,
    )


def root_of_ratio(numerators: ArrayLike, denominators: ArrayLike, *, undefined: str) -> Measure:
    """Return the square root of `ratio`."""
    inner = ratio(numerators, denominators, undefined=undefined)
    return Measure(
        statistics=inner.statistics,
        combine=lambda sums: np.sqrt(sums[0] / sums[1]),
        n=inner.n,
        undefined=undefined,
    )
