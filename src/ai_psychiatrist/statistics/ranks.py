"""Numbers by the ranks of their values, which take a fraction of their memory."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ai_psychiatrist.statistics.arrays import Array, BoolArray, narrowest


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedValues:
    """Numbers of few values."""

    values: Array
    """The distinct ones, rising."""
    places: NDArray[np.integer]
    """As the numbers: which of the values each is; of no meaning where they were not asked for."""

    @property
    def numbers(self) -> Array:
        """The numbers that were asked for, and others among them."""
        return self.values[self.places] if len(self.values) else np.zeros(self.places.shape)


def ranked(numbers: Array, where: BoolArray) -> RankedValues:
    """Rank the numbers that are asked for."""
    values = np.unique(numbers[where])
    places = np.minimum(np.searchsorted(values, numbers), max(0, len(values) - 1))
    return RankedValues(values=values, places=narrowest(places, below=len(values)))
