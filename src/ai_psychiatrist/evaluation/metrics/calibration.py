"""How far a signal of confidence can be read as the probability that an item's score is right.

Every probability is one for a participant whom the fit did not see: participants fall into folds
with all their units, and the isotonic regression for each fold is fitted on the others.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ai_psychiatrist.evaluation.metrics.labelled_units import LabelledUnits
from ai_psychiatrist.evaluation.metrics.registry import measured
from ai_psychiatrist.evaluation.metrics.signals import SIGNALS, ranked_signal
from ai_psychiatrist.evaluation.metrics.tree import Tree
from ai_psychiatrist.statistics.arrays import Array, BoolArray
from ai_psychiatrist.statistics.bootstrap import Owners
from ai_psychiatrist.statistics.figure import rounded
from ai_psychiatrist.statistics.isotonic import fit_isotonic_sums
from ai_psychiatrist.statistics.measure import Statistics, by_unit, statistics
from ai_psychiatrist.statistics.parts import Kept, Part, Tally
from ai_psychiatrist.statistics.ranks import ranked

FOLDS: Final = 5
BINS: Final = 10
BIN_POLICY: Final = "equal width; fixed before any figure; empty bins do not count"
TOO_FEW: Final = "fewer than two participants have an item with both a label and a score"


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """Probabilities that the scores are right, for participants whom the fit did not see."""

    where: BoolArray
    """(units, 8): the items that have one."""
    signal: NDArray[np.number]
    """Ranks alone matter."""
    probability: Array
    base_rate: Array
    """The share of right scores in the units of the fit: what one knows without the signal."""
    is_right: BoolArray
    owners: Owners

    @property
    def count(self) -> Array:
        """How many items of each unit have a probability."""
        return by_unit(self.where)

    def squared_miss(self, probability: Array) -> Array:
        """Return, by unit, the squared distances of probabilities and outcomes."""
        return by_unit(np.where(self.where, (probability - self.is_right) ** 2, 0.0))

    @cached_property
    def bins(self) -> Tally:
        """How many items are in each bin of probability."""
        place = np.minimum((self.probability * BINS).astype(np.int8), BINS - 1)
        return Tally(levels=np.where(self.where, place, np.int8(-1)), width=BINS)

    def in_bins(self, values: Array | BoolArray) -> Tally:
        """Return values of the items, added up in the bins of their probabilities."""
        return replace(self.bins, values=values)

    @cached_property
    def binned(self) -> Statistics:
        """For each bin: items, probabilities less outcomes, and both squared by participant."""
        counts = self.bins
        gaps = replace(counts, values=ranked(self.probability - self.is_right, self.where))
        squares = (Squares(sums=one, owners=self.owners) for one in (counts, gaps))
        return statistics(counts, gaps, *squares)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Squares(Part):
    """Squared sums of each participant.

    They stand in the first of its units, so that they add up as the rest.
    """

    sums: Part
    owners: Owners

    @property
    def by_unit(self) -> Array:
        """(units, k)"""
        return self.summed(np.arange(len(self.owners)), len(self.owners))

    @property
    def concerned(self) -> BoolArray:
        """(units,): where a participant's sums may be."""
        return self.sums.concerned

    def summed(self, places: Owners | None, count: int) -> Array:
        """Return the sums of the participants in each place, of which each has all its units."""
        _, first = np.unique(self.owners, return_index=True)
        squares = self.sums.summed(self.owners, len(first)) ** 2
        return Kept(columns=squares).summed(None if places is None else places[first], count)


def calibration_section(labelled: LabelledUnits, *, seed: int) -> dict[str, Tree]:
    """Return Brier score, calibration errors and reliability for each signal."""
    return {
        "folds": FOLDS,
        "bins": BINS,
        "bin_policy": BIN_POLICY,
        "by_signal": {
            # One after the other: what a forecast holds is large.
            signal: _by_signal(forecast(labelled, signal, seed=seed))
            for signal in SIGNALS
        },
    }


def _by_signal(found: Forecast) -> dict[str, Tree]:
    return {**measured(found), "reliability": _reliability(found)}


def forecast(labelled: LabelledUnits, signal: str, *, seed: int) -> Forecast:
    """Return out-of-fold probabilities; none when fewer than two participants can be used."""
    ranks = ranked_signal(labelled, signal)
    is_both, right = labelled.items.is_both, labelled.items.is_right
    folds = _folds(is_both.sum(axis=1) > 0, labelled.owners, seed=seed)
    where = is_both & (folds >= 0)[:, None]
    count, width = int(folds.max(initial=-1)) + 1, len(ranks.values)
    cells = folds[:, None] * width + ranks.places
    asked, rights = (
        np.bincount(cells[some], minlength=count * width).reshape(count, width).astype(np.float64)
        for some in (where, where & right)
    )
    # What all others have of each value: a row for each fold.
    totals, counts = rights.sum(axis=0) - rights, asked.sum(axis=0) - asked
    fitted = np.array(
        [_at_all(ranks.values, *sums) for sums in zip(totals, counts, strict=True)]
    ).reshape(count, len(ranks.values))
    probability, base_rate = np.zeros(is_both.shape), np.zeros(is_both.shape)
    probability[where] = fitted.ravel()[cells[where]]
    base_rate[where] = (totals.sum(axis=1) / counts.sum(axis=1))[cells[where] // width]
    return Forecast(
        where=where,
        signal=ranks.places,
        probability=probability,
        base_rate=base_rate,
        is_right=right,
        owners=labelled.owners,
    )


def _at_all(values: Array, totals: Array, counts: Array) -> Array:
    """Fit to those values that occur, and return what follows for all."""
    seen = counts > 0
    return fit_isotonic_sums(values[seen], totals[seen], counts[seen])(values)


def _folds(is_usable: BoolArray, owners: Owners, *, seed: int) -> NDArray[np.intp]:
    """Return the fold of each unit, −1 for one that takes no part."""
    folds = np.full(len(is_usable), -1, dtype=np.intp)
    usable = np.unique(owners[is_usable])
    if len(usable) >= 2:
        shuffled = np.random.default_rng(seed).permutation(usable)
        fold_of = np.zeros(owners.max() + 1, dtype=np.intp)
        fold_of[shuffled] = np.arange(len(usable)) % FOLDS
        folds[is_usable] = fold_of[owners[is_usable]]
    return folds


def _reliability(found: Forecast) -> list[Tree]:
    """Return the bins that hold items, as bounds, count, mean probability and share right."""
    parts = found.bins, found.in_bins(found.probability), found.in_bins(found.is_right)
    counts, probabilities, rights = (part.summed(None, 1)[0] for part in parts)
    return [
        {
            "low": rounded(place / BINS),
            "high": rounded((place + 1) / BINS),
            "n": int(counts[place]),
            "mean_probability": rounded(float(probabilities[place] / counts[place])),
            "share_right": rounded(float(rights[place] / counts[place])),
        }
        for place in range(BINS)
        if counts[place]
    ]
