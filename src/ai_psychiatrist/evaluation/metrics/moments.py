"""Agreement and correlation of two whole-number scales, from sums alone."""

import numpy as np

from ai_psychiatrist.evaluation.metrics.measure import (
    Array,
    BoolArray,
    Measure,
    Statistics,
    statistics,
    two_dimensional,
)

ONE_VALUE = "only one value occurs, so there is no agreement beyond chance to measure"


def quadratic_kappa(first: Array, second: Array, where: BoolArray) -> Measure:
    """Return Cohen's kappa with quadratic weights over the places named by `where`.

    `first`, `second`, `where`: (units,) or (units, places); whole numbers.
    Source: Cohen 1968, Psychol Bull 70:213-220. With squared distances as weights it depends on the
    table of agreement through its moments only, so no table is needed.
    """
    return Measure(
        statistics=_moments(first, second, where),
        combine=_kappa,
        n=int(where.sum()),
        undefined=ONE_VALUE if where.any() else "nothing to compare",
    )


def pearson(first: Array, second: Array, where: BoolArray) -> Measure:
    """Return Pearson's correlation over the units named by `where`."""
    return Measure(
        statistics=_moments(first, second, where),
        combine=_correlation,
        n=int(where.sum()),
        undefined="one side does not vary" if where.any() else "nothing to compare",
    )


def _moments(first: Array, second: Array, where: BoolArray) -> Statistics:
    x = two_dimensional(np.where(where, first, 0.0))
    y = two_dimensional(np.where(where, second, 0.0))
    columns = (two_dimensional(where), x, y, x * x, y * y, x * y)
    return statistics(*(column.sum(axis=1) for column in columns))


def _kappa(sums: Array) -> Array:
    count, x, y, xx, yy, xy = sums
    observed = count * (xx + yy - 2 * xy)
    expected = count * (xx + yy) - 2 * x * y
    kappa: Array = 1 - observed / np.where(expected > 0, expected, np.nan)
    return kappa


def _correlation(sums: Array) -> Array:
    count, x, y, xx, yy, xy = sums
    spread = (count * xx - x * x) * (count * yy - y * y)
    correlation: Array = (count * xy - x * y) / np.sqrt(np.where(spread > 0, spread, np.nan))
    return correlation
