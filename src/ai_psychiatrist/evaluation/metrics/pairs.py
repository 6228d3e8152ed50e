"""Predicted and true numbers side by side, whatever they are of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ai_psychiatrist.evaluation.metrics.registry import Scale
from ai_psychiatrist.statistics.arrays import Array, BoolArray, two_dimensional
from ai_psychiatrist.statistics.kappa import moments
from ai_psychiatrist.statistics.measure import Measure, Statistics, by_unit

Rows: TypeAlias = Sequence[Sequence[int | None]]
"""One a unit, of equal length; `None` where the number is not known."""


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Numbers of (units, places), whole ones, and where they are known; 0 where they are not."""

    no_pair: ClassVar[str]
    """The reason to give where no number is known on both sides."""
    no_truth: ClassVar[str]
    points: ClassVar[Scale]

    said: Array
    truth: Array
    is_said: BoolArray
    is_true: BoolArray
    """Where the truth is known."""

    @classmethod
    def of(cls, said: Rows, truth: Rows, *, places: int = 1) -> Self:
        """Stand both sides beside each other."""
        sides = [
            np.array(
                [[np.nan if one is None else one for one in row] for row in rows], dtype=np.float64
            ).reshape(len(rows), places)
            for rows in (said, truth)
        ]
        is_said, is_true = (~np.isnan(side) for side in sides)
        numbers = [np.nan_to_num(side) for side in sides]
        return cls(said=numbers[0], truth=numbers[1], is_said=is_said, is_true=is_true)

    @classmethod
    def beside(cls, said: ArrayLike, truth: ArrayLike) -> Self:
        """Stand columns of (units, places) beside each other; below 0 is not known."""
        sides = [two_dimensional(np.asarray(side)) for side in (said, truth)]
        is_said, is_true = (side >= 0 for side in sides)
        numbers = [np.maximum(side, 0).astype(np.float64) for side in sides]
        return cls(said=numbers[0], truth=numbers[1], is_said=is_said, is_true=is_true)

    @cached_property
    def is_both(self) -> BoolArray:
        """Where both are known."""
        return self.is_said & self.is_true

    @cached_property
    def distance(self) -> Array:
        """How far apart they are; 0 wherever one is not known."""
        return np.where(self.is_both, np.abs(self.said - self.truth), 0.0)

    @cached_property
    def is_right(self) -> BoolArray:
        """Where they are the same."""
        is_right: BoolArray = self.is_both & (self.distance == 0)
        return is_right

    @cached_property
    def answered(self) -> Array:
        """How many places of each unit are known on both sides."""
        return by_unit(self.is_both)

    @cached_property
    def asked(self) -> Array:
        """How many places of each unit have a known truth."""
        return by_unit(self.is_true)

    @cached_property
    def moments(self) -> Statistics:
        """How many pairs there are, and the sums of x, y, x², y² and xy."""
        return moments(self.said, self.truth, self.is_both)

    def of_moments(self, combine: Callable[[Array], Array], *, undefined: str) -> Measure:
        """Return a measure of the sums of `moments`; `undefined`: why, where there are pairs."""
        return Measure(
            statistics=self.moments, combine=combine, n=self.count, undefined=self.reason(undefined)
        )

    @property
    def count(self) -> int:
        """How many pairs there are."""
        return int(self.is_both.sum())

    def reason(self, otherwise: str) -> str:
        """Return why a figure over the pairs is not defined."""
        return otherwise if self.count else "nothing to compare"
