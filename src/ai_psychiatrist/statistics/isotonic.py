"""Isotonic regression."""

import numpy as np

from ai_psychiatrist.statistics.arrays import Array


def isotonic_means(totals: Array, counts: Array) -> Array:
    """Return the rising means nearest to the targets in squares, one for each distinct input.

    `totals`, `counts`: (inputs,), the sum of the targets at each input, in rising order, and how
    many there are. Neighbours that fall are pooled into their mean until none does. Source: Barlow
    et al. 1972, Statistical Inference under Order Restrictions, ch. 1.
    """
    pools: list[tuple[float, float, int]] = []
    for total, count in zip(totals.tolist(), counts.tolist(), strict=True):
        pool = (total, count, 1)
        while pools and pools[-1][0] * pool[1] >= pool[0] * pools[-1][1]:
            before = pools.pop()
            pool = (before[0] + pool[0], before[1] + pool[1], before[2] + pool[2])
        pools.append(pool)
    means = [total / count for total, count, _ in pools]
    return np.repeat(means, [width for _, _, width in pools])
