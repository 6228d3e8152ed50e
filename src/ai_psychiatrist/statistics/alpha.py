"""Krippendorff's alpha for ordered values, any number of raters, and values that are missing.

Source: Krippendorff 2019, Content Analysis, 4th ed., ch. 12 (coincidences; ordinal metric).
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ai_psychiatrist.statistics.arrays import Array

Values = NDArray[np.int8]
MISSING = -1


def coincidences(values: Values, *, levels: int) -> Array:
    """Return how often two raters gave each pair of values, (units, levels · (levels + 1) / 2).

    `values`: (raters, units), 0 to `levels` − 1, or `MISSING`. Each unit counts as many pairs as it
    has values; one with fewer than two counts none. Pairs have no order: of the table, which is the
    same on both sides of its diagonal, one half is returned, row by row.
    """
    counts = (values[:, :, None] == np.arange(levels)).sum(axis=0, dtype=np.float64)
    given = counts.sum(axis=1)
    share = np.where(given > 1, 1 / np.maximum(given - 1, 1), 0.0)
    rows, columns = np.triu_indices(levels)
    pairs = counts[:, rows] * (counts[:, columns] - (rows == columns))
    table: Array = pairs * share[:, None]
    return table


def ordinal_alpha(levels: int) -> Callable[[Array], Array]:
    """Return the function from sums of coincidences to alpha."""
    return partial(_alpha, levels=levels)


def _alpha(sums: Array, *, levels: int) -> Array:
    """Return 1 − observed ÷ expected disagreement; NaN where only one value occurs."""
    table = np.empty((levels, levels, sums.shape[1]))
    rows, columns = np.triu_indices(levels)
    table[rows, columns] = table[columns, rows] = sums
    seen = table.sum(axis=0)
    total = seen.sum(axis=0)
    distances = _ordinal_distances(seen)
    observed = (table * distances).sum(axis=(0, 1))
    expected = (seen[:, None] * seen[None, :] * distances).sum(axis=(0, 1)) / (total - 1)
    alpha: Array = 1 - observed / np.where(expected > 0, expected, np.nan)
    return alpha


def _ordinal_distances(seen: Array) -> Array:
    """Return squared numbers of values that lie between two, each end counting half."""
    middles = np.cumsum(seen, axis=0) - seen / 2
    distances: Array = (middles[:, None] - middles[None, :]) ** 2
    return distances
