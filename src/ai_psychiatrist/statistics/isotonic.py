"""Isotonic regression."""

from dataclasses import dataclass

import numpy as np

from ai_psychiatrist.statistics.arrays import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Isotonic:
    """A rising step function, joined by straight lines and level beyond its ends."""

    at: Array
    """The distinct inputs it was fitted on, rising."""
    values: Array

    def __call__(self, inputs: Array) -> Array:
        """Return its value at each input."""
        return np.interp(inputs, self.at, self.values)


def fit_isotonic(inputs: Array, targets: Array) -> Isotonic:
    """Return the rising function nearest to the targets in squares; `inputs` must not be empty.

    Neighbours that fall are pooled into their mean until none does. Source: Barlow et al. 1972,
    Statistical Inference under Order Restrictions, ch. 1.
    """
    at, places = np.unique(inputs, return_inverse=True)
    counts = np.bincount(places).astype(np.float64)
    totals = np.bincount(places, weights=targets).astype(np.float64)
    return fit_isotonic_sums(at, totals, counts)


def fit_isotonic_sums(at: Array, totals: Array, counts: Array) -> Isotonic:
    """As `fit_isotonic`, from the sum of the targets and their number at each distinct input."""
    pools: list[tuple[float, float, int]] = []
    for total, count in zip(totals, counts, strict=True):
        pool = (float(total), float(count), 1)
        while pools and pools[-1][0] * pool[1] >= pool[0] * pools[-1][1]:
            before = pools.pop()
            pool = (before[0] + pool[0], before[1] + pool[1], before[2] + pool[2])
        pools.append(pool)
    means = [total / count for total, count, _ in pools]
    return Isotonic(at=at, values=np.repeat(means, [width for _, _, width in pools]))
