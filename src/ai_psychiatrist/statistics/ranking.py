"""Areas under the ROC curve and under the risk–coverage curve, from counts by level.

Items are accepted in falling confidence. The risk at k accepted items is their mean loss; within a
group of equal confidence every order is as likely as another, so the loss of the first k items is
its expectation over these orders: it grows by the group's mean with each item. All functions take
`counts` and `losses` of shape (groups, samples), most confident group first; counts are whole.

Sources: Geifman & El-Yaniv 2017, NeurIPS (risk and coverage); Geifman, Uziel & El-Yaniv 2019, ICLR
(AURC); Traub et al. 2024, NeurIPS (AUGRC); Hanley & McNeil 1982, Radiology 143:29-36 (ROC).
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ai_psychiatrist.statistics.arrays import Array, BoolArray, two_dimensional
from ai_psychiatrist.statistics.measure import Measure, counted, statistics


def auroc(
    values: NDArray[np.number], is_case: BoolArray, is_control: BoolArray, *, undefined: str
) -> Measure:
    """Return how often a case has a higher value than a control; a tie counts half.

    `values`, `is_case`, `is_control`: (units,) or (units, places).
    """
    cases, controls = two_dimensional(is_case), two_dimensional(is_control)
    numbers = two_dimensional(values)
    levels = np.unique(numbers[cases | controls])
    places = np.searchsorted(levels, numbers)
    sides = [counted(places, side, width=len(levels)) for side in (cases, controls)]
    return Measure(
        statistics=statistics(*sides),
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Items in groups of equal confidence, and what lies before each group."""

    counts: Array
    means: Array
    """Mean loss of each group; 0 for an empty one."""
    counts_before: Array
    losses_before: Array

    @property
    def total(self) -> Array:
        """How many items there are in each sample."""
        total: Array = self.counts.sum(axis=0)
        return total

    def within(self, accepted: Array) -> Array:
        """Return how many of each group are among the first `accepted`, which may be fractional."""
        return np.clip(accepted - self.counts_before, 0.0, self.counts)


def ranking(counts: Array, losses: Array) -> Ranking:
    """Prepare groups for the functions below."""
    return Ranking(
        counts=counts,
        means=losses / np.where(counts > 0, counts, 1.0),
        counts_before=np.cumsum(counts, axis=0) - counts,
        losses_before=np.cumsum(losses, axis=0) - losses,
    )


def charged_ranking(
    unknown: Array, counts: Array, losses: Array, *, largest_loss: float
) -> Ranking:
    """Put the unknown items, (samples,), before all others, each with the largest loss."""
    return ranking(
        np.concatenate([unknown[None], counts]),
        np.concatenate([largest_loss * unknown[None], losses]),
    )


def risk_at(ranked: Ranking, accepted: Array) -> Array:
    """Return the mean loss of the first `accepted` items; NaN beyond the last one, and for none."""
    loss = (ranked.means * ranked.within(accepted)).sum(axis=0)
    is_reached = (accepted > 0) & (accepted <= ranked.total + 1e-9)
    risk: Array = loss / np.where(is_reached, accepted, np.nan)
    return risk


def aurc(ranked: Ranking, accepted: Array | None = None) -> Array:
    """Return the mean, over k = 1 … `accepted` (all), of the risk at k; whole numbers only."""
    upto = ranked.total if accepted is None else accepted
    taken = ranked.within(upto)
    before = ranked.counts_before
    fixed = ranked.losses_before - before * ranked.means
    last = np.rint(before + taken).astype(np.intp)
    harmonic = _harmonic(int(last.max(initial=0)))
    steps = harmonic[last] - harmonic[np.minimum(np.rint(before).astype(np.intp), last)]
    area: Array = (fixed * steps + taken * ranked.means).sum(axis=0) / np.where(
        upto > 0, upto, np.nan
    )
    return area


def augrc(ranked: Ranking) -> Array:
    """Return the mean, over k = 1 … n, of the loss of the first k items divided by n."""
    taken, total = ranked.counts, ranked.total
    area = taken * ranked.losses_before + ranked.means * taken * (taken + 1) / 2
    mean: Array = area.sum(axis=0) / np.where(total > 0, total * total, np.nan)
    return mean


def _harmonic(last: int) -> Array:
    """Return 0, 1, 1 + 1/2, … up to the number of terms asked for."""
    return _harmonic_numbers(1 << max(last, 1).bit_length())


@lru_cache(maxsize=4)
def _harmonic_numbers(count: int) -> Array:
    return np.concatenate([[0.0], np.cumsum(1 / np.arange(1, count + 1))])
