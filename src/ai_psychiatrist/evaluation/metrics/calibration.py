"""How far a signal of confidence can be read as the probability that an item's score is right.

Every probability is one for a participant whom the fit did not see: participants fall into folds
with all their units, and the isotonic regression for each fold is fitted on the others.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ai_psychiatrist.evaluation.metrics.labelled_units import LabelledUnits
from ai_psychiatrist.evaluation.metrics.registry import measured
from ai_psychiatrist.evaluation.metrics.signals import SIGNALS, signal_values
from ai_psychiatrist.evaluation.metrics.tree import Tree
from ai_psychiatrist.statistics.bootstrap import Owners
from ai_psychiatrist.statistics.figure import rounded
from ai_psychiatrist.statistics.isotonic import fit_isotonic
from ai_psychiatrist.statistics.measure import Array, BoolArray, Statistics, by_unit, statistics

FOLDS: Final = 5
BINS: Final = 10
BIN_POLICY: Final = "equal width; fixed before any figure; empty bins do not count"
TOO_FEW: Final = "fewer than two participants have an item with both a label and a score"


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """Probabilities that the scores are right, for participants whom the fit did not see."""

    where: BoolArray
    """(units, 8): the items that have one."""
    signal: Array
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
    def bins(self) -> Array:
        """(units, 3, bins): items, sum of their probabilities, how many are right."""
        place = np.minimum((self.probability * BINS).astype(np.intp), BINS - 1)
        is_in = self.where[:, :, None] & (place[:, :, None] == np.arange(BINS))
        parts = (np.ones_like(self.probability), self.probability, self.is_right)
        return np.stack([(is_in * part[:, :, None]).sum(axis=1) for part in parts], axis=1)

    @cached_property
    def binned(self) -> Statistics:
        """For each bin: items, probabilities less outcomes, and both squared by participant.

        A participant's squares stand in the first of its units, so that they add up as the rest.
        """
        counts, probabilities, rights = self.bins.transpose(1, 0, 2)
        gaps = probabilities - rights
        _, first = np.unique(self.owners, return_index=True)
        squares = [np.zeros_like(counts), np.zeros_like(counts)]
        for square, sums in zip(squares, (counts, gaps), strict=True):
            by_owner = np.zeros((len(first), BINS))
            np.add.at(by_owner, self.owners, sums)
            square[first] = by_owner**2
        return statistics(counts, gaps, *squares)


def calibration_section(labelled: LabelledUnits, *, seed: int) -> dict[str, Tree]:
    """Return Brier score, calibration errors and reliability for each signal."""
    forecasts = {signal: forecast(labelled, signal, seed=seed) for signal in SIGNALS}
    return {
        "folds": FOLDS,
        "bins": BINS,
        "bin_policy": BIN_POLICY,
        "by_signal": {
            signal: {**measured(found), "reliability": _reliability(found)}
            for signal, found in forecasts.items()
        },
    }


def forecast(labelled: LabelledUnits, signal: str, *, seed: int) -> Forecast:
    """Return out-of-fold probabilities; none when fewer than two participants can be used."""
    values = signal_values(labelled, signal)
    is_both, right = labelled.items.is_both, labelled.items.is_right
    folds = _folds(is_both.sum(axis=1) > 0, labelled.owners, seed=seed)
    probability, base_rate = np.zeros_like(values), np.zeros_like(values)
    for fold in range(folds.max(initial=-1) + 1):
        seen = is_both & ((folds >= 0) & (folds != fold))[:, None]
        asked = is_both & (folds == fold)[:, None]
        fitted = fit_isotonic(values[seen], right[seen].astype(np.float64))
        probability[asked] = fitted(values[asked])
        base_rate[asked] = right[seen].mean()
    return Forecast(
        where=is_both & (folds >= 0)[:, None],
        signal=values,
        probability=probability,
        base_rate=base_rate,
        is_right=right,
        owners=labelled.owners,
    )


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
    counts, probabilities, rights = found.bins.sum(axis=0)
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
