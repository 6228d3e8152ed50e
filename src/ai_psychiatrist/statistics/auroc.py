"""The area under the ROC curve."""

import numpy as np

from ai_psychiatrist.statistics.measure import (
    Array,
    BoolArray,
    Measure,
    statistics,
    two_dimensional,
)


def auroc(values: Array, is_case: BoolArray, is_control: BoolArray, *, undefined: str) -> Measure:
    """Return how often a case has a higher value than a control; a tie counts half.

    `values`, `is_case`, `is_control`: (units,) or (units, places).
    Source: Hanley & McNeil 1982, Radiology 143:29-36.
    """
    counted = is_case | is_control
    levels = np.unique(values[counted])
    is_at = two_dimensional(values)[:, :, None] == levels

    def by_level(where: BoolArray) -> Array:
        at_level = is_at & two_dimensional(where)[:, :, None]
        counts: Array = at_level.sum(axis=1, dtype=np.float64)
        return counts

    return Measure(
        statistics=statistics(by_level(is_case), by_level(is_control)),
        combine=_area,
        n=int(counted.sum()),
        undefined=undefined,
    )


def _area(sums: Array) -> Array:
    cases, controls = np.split(sums, 2)
    below = np.cumsum(controls, axis=0) - controls
    won = (cases * (below + controls / 2)).sum(axis=0)
    area: Array = won / (cases.sum(axis=0) * controls.sum(axis=0))
    return area
