"""Up to which strangeness scores belong to sets, and how well a cohort of people tells it.

The items of one person rise and fall together, so people are counted, each of them alike: one with
many interviews is one. Sources: Vovk, Gammerman & Shafer 2005; Lee, Barber & Willett 2023
(arXiv 2306.06342), on cases that come in groups.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ai_psychiatrist.belief.fit import Stratum
from ai_psychiatrist.belief.sets import WHOLE, least_people
from ai_psychiatrist.statistics.arrays import Array

_SCORES: Final = 4
_ROUNDING: Final = 1e-9


def threshold(strange: Array, owners: NDArray[np.intp], level: float) -> float:
    """Return up to which strangeness scores belong to a set that is to hold `level` of truths.

    The smallest that holds `level` of all earlier cases and one more, which is as strange as can
    be; the cases of a person share the weight of one. All scores belong where people are too few.
    """
    people, place, sizes = np.unique(owners, return_inverse=True, return_counts=True)
    if len(people) < least_people(level):
        return WHOLE
    order = np.argsort(strange, kind="stable")
    held = np.cumsum(1 / sizes[place][order])
    wanted = level * _weight(len(people), len(strange)) - _ROUNDING
    found = int(np.searchsorted(held, wanted))
    return WHOLE if found == len(held) else float(strange[order][found])


def stratum_of(
    strange: Array, truths: NDArray[np.intp], owners: NDArray[np.intp], level: float
) -> Stratum:
    """Return a threshold, and the coverage of those that are made without each participant.

    `strange`, `truths`, `owners`: (items,), of one dataset.
    """
    _, place, sizes = np.unique(owners, return_inverse=True, return_counts=True)
    held = _held_without(strange, place, sizes, level).astype(np.float64)
    shares = np.bincount(place, weights=held) / sizes
    spread = float(shares.std(ddof=1) / np.sqrt(len(sizes))) if len(sizes) > 1 else 1.0
    by_score = (held[truths == score] for score in range(_SCORES))
    first, second, third, fourth = (float(one.mean()) if len(one) else None for one in by_score)
    return Stratum(
        threshold=threshold(strange, owners, level),
        participants=len(sizes),
        items=len(strange),
        coverage=float(shares.mean()),
        coverage_by_score=(first, second, third, fourth),
        spread=min(spread, 1.0),
    )


def _weight(people: int, items: int) -> float:
    """Return the weight of all cases and one more, where each person's weigh 1."""
    return people * (1 + 1 / items)


def _held_without(
    strange: Array, place: NDArray[np.intp], sizes: NDArray[np.intp], level: float
) -> NDArray[np.bool_]:
    """Return which cases are no stranger than the threshold that the other people give.

    They are where less weight of the others than is wanted is less strange.
    """
    people = len(sizes) - 1
    if people < least_people(level):
        return np.ones(len(strange), dtype=np.bool_)
    order = np.argsort(strange, kind="stable")
    weights = np.concatenate([[0.0], np.cumsum(1 / sizes[place][order])])
    below = weights[np.searchsorted(strange[order], strange)]
    wanted = level * people * (1 + 1 / (len(strange) - sizes[place]))
    return below - _own_below(strange, place, sizes) < wanted - _ROUNDING


def _own_below(strange: Array, place: NDArray[np.intp], sizes: NDArray[np.intp]) -> Array:
    """Return the weight of a person's own cases that are less strange than each."""
    order = np.lexsort((strange, place))
    is_new = np.ones(len(order), dtype=np.bool_)
    is_new[1:] = (np.diff(place[order]) != 0) | (np.diff(strange[order]) != 0)
    first = np.maximum.accumulate(np.where(is_new, np.arange(len(order)), 0))
    begin = np.concatenate([[0], np.cumsum(sizes)[:-1]])[place[order]]
    below = np.empty(len(order))
    below[order] = (first - begin) / sizes[place[order]]
    return below
