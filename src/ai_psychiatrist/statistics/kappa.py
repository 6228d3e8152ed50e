"""Cohen's kappa with quadratic weights, from the moments of pairs of numbers."""

import numpy as np

from ai_psychiatrist.statistics.arrays import Array, BoolArray

MOMENTS = 6
"""How many sums a kappa is computed from."""


def moments(x: Array, y: Array, is_both: BoolArray) -> Array:
    """Return how many pairs each unit has, and its sums of x, y, x², y² and xy, (units, 6).

    `x`, `y`, `is_both`: (units, places); what is not known on both sides adds nothing.
    """
    first, second = (np.where(is_both, side, 0.0) for side in (x, y))
    columns = (is_both, first, second, first * first, second * second, first * second)
    return np.stack([column.sum(axis=1) for column in columns], axis=1, dtype=np.float64)


def quadratic_kappa(sums: Array) -> Array:
    """Return agreement beyond chance: 1 − n·Σ(x−y)² ÷ (n·Σx² + n·Σy² − 2·Σx·Σy).

    With squared distances as weights the table of agreement counts through its moments only; NaN
    where only one value occurs. `sums`: (6, samples). Source: Cohen 1968, Psychol Bull 70:213-220.
    """
    count, x, y, xx, yy, xy = sums
    observed = count * (xx + yy - 2 * xy)
    expected = count * (xx + yy) - 2 * x * y
    kappa: Array = 1 - observed / np.where(expected > 0, expected, np.nan)
    return kappa


def mean_kappa(sums: Array) -> Array:
    """Return the mean of the kappas of several pairs of raters, each weighted by its pairs.

    A pair of raters without a kappa counts in no mean; NaN where none has one. `sums`: (6 · pairs
    of raters, samples).
    """
    by_pair = sums.reshape(len(sums) // MOMENTS, MOMENTS, sums.shape[1])
    kappas = np.array([quadratic_kappa(one) for one in by_pair])
    counts = np.where(np.isnan(kappas), 0.0, by_pair[:, 0])
    mean: Array = (np.nan_to_num(kappas) * counts).sum(axis=0) / counts.sum(axis=0)
    return mean
