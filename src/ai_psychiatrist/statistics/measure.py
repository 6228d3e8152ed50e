"""What a figure is computed from: sums over units, so that resampling is one matrix product."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Scalar = TypeVar("Scalar", bound=np.generic)

SMALLEST_N: Final = 10
"""With fewer participants no interval holds what it promises (see `benchmarks/coverage.py`)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Statistics:
    """What each unit adds; measures that share it share the sums as well."""

    kept: NDArray[np.float64] | NDArray[np.int8]
    """(units, k) in an eighth of the memory where all are small whole numbers, as most are."""

    @property
    def by_unit(self) -> Array:
        """(units, k); a unit that a measure does not concern has a row of zeros."""
        return self.kept.astype(np.float64, copy=False)


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


def statistics(*columns: ArrayLike) -> Statistics:
    """Stand columns of (units,) or (units, k) side by side."""
    tables = [two_dimensional(np.asarray(column, dtype=np.float64)) for column in columns]
    whole = np.concatenate(tables, axis=1)
    with np.errstate(invalid="ignore"):
        small = whole.astype(np.int8)
    return Statistics(kept=small if np.array_equal(small, whole) else whole)


def by_unit(values: NDArray[Scalar]) -> Array:
    """Add up the places of each unit."""
    return np.asarray(values.sum(axis=1), dtype=np.float64)


def two_dimensional(values: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return (units,) as (units, 1), and (units, k) as it is."""
    return values[:, None] if values.ndim == 1 else values


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
