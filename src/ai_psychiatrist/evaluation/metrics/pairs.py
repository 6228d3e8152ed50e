"""Predicted and true numbers side by side, whatever they are of."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ai_psychiatrist.evaluation.metrics.scale import Scale
from ai_psychiatrist.statistics.measure import (
    Array,
    BoolArray,
    Statistics,
    by_unit,
    statistics,
)


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Numbers of (units, places), whole ones, and where they are known."""

    no_pair: ClassVar[str]
    """The reason to give where no number is known on both sides."""
    no_truth: ClassVar[str]
    points: ClassVar[Scale]

    said: Array
    truth: Array
    is_said: BoolArray
    is_true: BoolArray
    """Where the truth is known."""

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
        x, y = (np.where(self.is_both, side, 0.0) for side in (self.said, self.truth))
        columns = (self.is_both, x, y, x * x, y * y, x * y)
        return statistics(*(column.sum(axis=1) for column in columns))

    @property
    def count(self) -> int:
        """How many pairs there are."""
        return int(self.is_both.sum())

    def reason(self, otherwise: str) -> str:
        """Return why a figure over the pairs is not defined."""
        return otherwise if self.is_both.any() else "nothing to compare"
