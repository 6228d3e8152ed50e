"""What units add to sums: columns as they are, or values that are told apart by their level."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_psychiatrist.statistics.arrays import (
    Array,
    BoolArray,
    Places,
    Scalar,
    narrowest,
    two_dimensional,
)
from ai_psychiatrist.statistics.ranks import RankedValues


class Part(ABC):
    """Some columns of what units add."""

    @property
    @abstractmethod
    def by_unit(self) -> Array:
        """(units, k)"""

    @property
    @abstractmethod
    def concerned(self) -> BoolArray:
        """(units,): which of them add anything."""

    @abstractmethod
    def summed(self, places: Places | None, count: int) -> Array:
        """Return the sums of the units in each of so many places, (count, k); without, of all."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Kept(Part):
    """Columns as they are."""

    columns: Array | NDArray[np.int8]
    """(units, k) in an eighth of the memory where all are small whole numbers, as most are."""

    @property
    def by_unit(self) -> Array:
        """(units, k)"""
        return self.columns.astype(np.float64, copy=False)

    @property
    def concerned(self) -> BoolArray:
        """(units,): where a column is not 0."""
        return np.asarray(self.columns.any(axis=1), dtype=np.bool_)

    def summed(self, places: Places | None, count: int) -> Array:
        """Return the sums of the units in each place."""
        found = [_added(column, places, count) for column in self.columns.T]
        return np.array(found, dtype=np.float64).reshape(len(found), count).T


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tally(Part):
    """Values with a level each; a column for each level adds up its own."""

    levels: NDArray[np.integer]
    """(units, m), below 0 for what does not count."""
    width: int
    """How many levels there are."""
    values: Array | BoolArray | RankedValues | None = None
    """(units, m); 1 without."""

    @property
    def by_unit(self) -> Array:
        """(units, k)"""
        units = len(self.levels)
        return self.summed(np.arange(units), units)

    @property
    def concerned(self) -> BoolArray:
        """(units,): where a value is not 0."""
        counts = self.levels >= 0
        if self.values is not None:
            counts &= _numbers(self.values) != 0
        return np.asarray(counts.any(axis=1), dtype=np.bool_)

    def summed(self, places: Places | None, count: int) -> Array:
        """Return the sums of the units in each place."""
        counts = self.levels >= 0
        cells = self.levels[counts].astype(np.intp)
        if places is not None:
            cells += np.repeat(places * self.width, counts.sum(axis=1))
        weights = None if self.values is None else _numbers(self.values)[counts]
        sums = np.bincount(cells, weights, minlength=count * self.width)
        return sums.reshape(count, self.width).astype(np.float64)


def tally_of(values: NDArray[Scalar], *wheres: BoolArray) -> list[Tally]:
    """Return how often each value occurs, for each way to say where it counts: (units, m)."""
    levels = np.unique(np.concatenate([values[where] for where in wheres]))
    found = narrowest(np.searchsorted(levels, values), below=len(levels))
    return [Tally(levels=np.where(one, found, -1), width=len(levels)) for one in wheres]


def _numbers(values: Array | BoolArray | RankedValues) -> Array | BoolArray:
    return values.numbers if isinstance(values, RankedValues) else values


def kept(column: ArrayLike) -> Kept:
    """Keep columns of (units,) or (units, k)."""
    whole = two_dimensional(np.asarray(column))
    if whole.dtype in (np.bool_, np.int8):
        return Kept(columns=whole.astype(np.int8, copy=False))
    with np.errstate(invalid="ignore"):
        small = whole.astype(np.int8)
    if np.array_equal(small, whole):
        return Kept(columns=small)
    return Kept(columns=whole.astype(np.float64, copy=False))


def _added(column: NDArray[np.generic], places: Places | None, count: int) -> Array:
    if places is None:
        return np.array([column.sum(dtype=np.float64)])
    return np.bincount(places, column, minlength=count).astype(np.float64, copy=False)
