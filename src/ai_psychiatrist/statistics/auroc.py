"""The area under the ROC curve."""

import numpy as np
from numpy.typing import NDArray

from ai_psychiatrist.statistics.arrays import Array, BoolArray, two_dimensional
from ai_psychiatrist.statistics.measure import Measure, statistics
from ai_psychiatrist.statistics.parts import tally_of


def auroc(
    values: NDArray[np.number], is_case: BoolArray, is_control: BoolArray, *, undefined: str
) -> Measure:
    """Return how often a case has a higher value than a control; a tie counts half.

    `values`, `is_case`, `is_control`: (units,) or (units, places).
    Source: Hanley & McNeil 1982, Radiology 143:29-36.
    """
    cases, controls = map(two_dimensional, (is_case, is_control))
    return Measure(
        statistics=statistics(*tally_of(two_dimensional(values), cases, controls)),
        combine=_area,
        n=int((cases | controls).sum()),
        undefined=undefined,
    )


def _area(sums: Array) -> Array:
    cases, controls = np.split(sums, 2)
    below = np.cumsum(controls, axis=0) - controls
    won = (cases * (below + controls / 2)).sum(axis=0)
    area: Array = won / (cases.sum(axis=0) * controls.sum(axis=0))
    return area
