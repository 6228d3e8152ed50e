"""What a figure is computed from: sums over units, so that resampling is one matrix product."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_psychiatrist.statistics.arrays import Array, BoolArray, two_dimensional

SMALLEST_N: Final = 10
"""With fewer participants no interval holds what it promises (see `benchmarks/coverage.py`)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measure:
    """A figure as a function of the sums of its statistics."""

    statistics: NDArray[np.generic]
    """(units, k): what each unit adds; measures that share the array share its sums as well."""
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


def statistics(*columns: ArrayLike) -> NDArray[np.generic]:
    """Stand columns of (units,) or (units, k) side by side, (units, sum of k).

    The table has one byte a cell where all its numbers are small and whole, as most are: all
    measures of a run are in memory together.
    """
    table = np.concatenate([two_dimensional(np.asarray(one)) for one in columns], axis=1)
    with np.errstate(invalid="ignore"):
        small = table.astype(np.int8)
    return small if np.array_equal(small, table) else table.astype(np.float64)


def counted(
    levels: NDArray[np.integer], where: BoolArray, *, width: int, values: Array | None = None
) -> Array:
    """Return how often each unit has each level, or the sum of its values there, (units, width).

    `levels`, `where`, `values`: (units, m); levels are 0 to `width` - 1 where they count.
    """
    units, _ = np.nonzero(where)
    cells = units * width + levels[where].astype(np.intp)
    weights = None if values is None else values[where]
    sums = np.bincount(cells, weights, minlength=len(levels) * width)
    return sums.reshape(len(levels), width).astype(np.float64)


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
    counts = np.asarray(denominators, dtype=np.float64)
    return Measure(
        statistics=statistics(numerators, counts),
        combine=lambda sums: np.sqrt(sums[0] / sums[1]),
        n=int(counts.sum()),
        undefined=undefined,
    )
