"""How far a signal of confidence can be read as the probability that an item's score is right.

Every probability is one for a participant whom the fit did not see: participants fall into folds
with all their units, and the isotonic regression for each fold is fitted on the others.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from ai_psychiatrist.evaluation.metrics.kinds import LabelledUnits
from ai_psychiatrist.evaluation.metrics.metric import Row, measured, metric
from ai_psychiatrist.evaluation.metrics.run_metrics import Better, Scale
from ai_psychiatrist.evaluation.metrics.selective import SIGNALS, ranked_signal
from ai_psychiatrist.evaluation.metrics.tree import Tree
from ai_psychiatrist.statistics.arrays import Array, BoolArray
from ai_psychiatrist.statistics.bootstrap import Owners
from ai_psychiatrist.statistics.figure import rounded
from ai_psychiatrist.statistics.measure import Measure, counted, ratio, statistics
from ai_psychiatrist.statistics.ranking import auroc

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

    @cached_property
    def bins(self) -> NDArray[np.intp]:
        """The bin of each probability."""
        return np.minimum((self.probability * BINS).astype(np.intp), BINS - 1)

    @cached_property
    def binned(self) -> NDArray[np.generic]:
        """For each bin: items, probabilities less outcomes, and both squared by participant."""
        gaps = self.probability - self.is_right
        sums = [
            counted(self.bins, self.where, width=BINS, values=values) for values in (None, gaps)
        ]
        return statistics(*sums, *(_squared_by_participant(one, self.owners) for one in sums))

    def squared_miss(self, probability: Array) -> Measure:
        """Return the mean squared distance of probabilities and outcomes."""
        misses = np.where(self.where, (probability - self.is_right) ** 2, 0.0)
        return ratio(misses.sum(axis=1), self.where.sum(axis=1), undefined=TOO_FEW)


def _squared_by_participant(table: Array, owners: Owners) -> Array:
    """Return squared sums of each participant, in the row of the first unit: they add up."""
    _, first = np.unique(owners, return_index=True)
    squares = np.zeros(table.shape)
    for place, column in enumerate(table.T):
        squares[first, place] = np.bincount(owners, column) ** 2
    return squares


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
    return {"reliability": _reliability(found), **measured(found)}


def forecast(labelled: LabelledUnits, signal: str, *, seed: int) -> Forecast:
    """Return out-of-fold probabilities; none when fewer than two participants can be used."""
    ranks = ranked_signal(labelled, signal)
    is_both, right = labelled.items.is_both, labelled.items.is_right
    folds = _folds(np.asarray(is_both.any(axis=1)), labelled.owners, seed=seed)
    where = is_both & (folds >= 0)[:, None]
    count, width = int(folds.max(initial=-1)) + 1, len(ranks.values)
    cells = folds[:, None] * width + ranks.places
    asked, rights = (
        np.bincount(cells[some], minlength=count * width).reshape(count, width).astype(np.float64)
        for some in (where, where & right)
    )
    # What all others have of each value: a row for each fold.
    totals, counts = rights.sum(axis=0) - rights, asked.sum(axis=0) - asked
    fitted = np.empty((count, width))
    for fold in range(count):
        seen = counts[fold] > 0
        weights = counts[fold, seen]
        means = isotonic_regression(totals[fold, seen] / weights, weights=weights).x
        fitted[fold] = np.interp(ranks.values, ranks.values[seen], means)
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
    bins, where = found.bins[found.where], found.where
    counts = np.bincount(bins, minlength=BINS)
    probabilities = np.bincount(bins, found.probability[where], minlength=BINS)
    rights = np.bincount(bins, found.is_right[where], minlength=BINS)
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


@metric(
    on={Forecast: Row(1, "Brier score", "out of sample; less is better")},
    source="Brier 1950",
    better=Better.LOWER,
    scale=Scale.UNIT,
)
def brier(found: Forecast) -> Measure:
    """Mean squared distance of probability and outcome."""
    return found.squared_miss(found.probability)


@metric(
    on={Forecast: Row(2, "Brier score of the base rate", "what one gets without the signal")},
    source="Brier 1950",
    better=Better.NEITHER,
    scale=Scale.UNIT,
)
def brier_of_base_rate(found: Forecast) -> Measure:
    """`brier` when every probability is the share of right scores in the fit."""
    return found.squared_miss(found.base_rate)


@metric(
    on={Forecast: Row(3, "Calibration error (ECE)", "to be read with the next two")},
    source="Guo et al. 2017",
    better=Better.LOWER,
    scale=Scale.UNIT,
)
def ece(found: Forecast) -> Measure:
    """Mean over items of |mean probability − share right| of the item's bin, 10 bins of equal
    width. Never 0 by chance, so read it beside `ece_of_calibrated`.

    The larger the noise, the larger it is.
    """
    return Measure(
        statistics=found.binned,
        combine=_mean_gap,
        n=int(found.where.sum()),
        undefined=TOO_FEW,
        no_interval="its resamples are further from 0 than itself; see the debiased error",
    )


def _mean_gap(sums: Array) -> Array:
    counts, gaps = np.split(sums, 4)[:2]
    gap: Array = np.abs(gaps).sum(axis=0) / counts.sum(axis=0)
    return gap


@metric(
    on={Forecast: Row(4, "The same of a calibrated signal", "what noise alone gives")},
    source="Bröcker & Smith 2007",
    better=Better.NEITHER,
    scale=Scale.UNIT,
)
def ece_of_calibrated(found: Forecast) -> Measure:
    """The mean of `ece` were the probabilities right: each bin's summed gap g is then about normal
    around 0, so E|g| = √(2/π · Σ s²) over the participants' own gaps s.

    The spread is taken between participants, whose items go together.
    """
    return Measure(
        statistics=found.binned,
        combine=_mean_gap_of_noise,
        n=int(found.where.sum()),
        undefined=TOO_FEW,
        no_interval="it is the expectation under a hypothesis",
    )


def _mean_gap_of_noise(sums: Array) -> Array:
    counts, _, _, squared_gaps = np.split(sums, 4)
    mean: Array = np.sqrt(2 / np.pi * squared_gaps).sum(axis=0) / counts.sum(axis=0)
    return mean


@metric(
    on={
        Forecast: Row(
            5,
            "Squared calibration error, debiased",
            "out of sample; noise is centred on 0 and may be below",
        )
    },
    source="Kumar, Liang & Ma 2019; Bröcker 2012",
    better=Better.LOWER,
    scale=Scale.UNIT,
)
def debiased_calibration_error(found: Forecast) -> Measure:
    """Mean over items of the squared gap of the item's bin, from products of different
    participants alone: (g² − Σ s²) ÷ (n² − Σ m²), with the bin's summed gap g and n items, and
    each participant's own s and m.

    In the units of the Brier score, whose part it is; bins of one participant take no part.
    """
    return Measure(
        statistics=found.binned,
        combine=lambda sums: _squared_gap(sums, taken_out=1),
        # Two copies of a participant in a resample are no pair of different ones either.
        combine_resampled=lambda sums: _squared_gap(sums, taken_out=2),
        n=int(found.where.sum()),
        undefined=TOO_FEW,
    )


def _squared_gap(sums: Array, *, taken_out: int) -> Array:
    counts, gaps, squared_counts, squared_gaps = np.split(sums, 4)
    pairs = counts**2 - squared_counts
    is_shared = pairs > 0
    squares = (gaps**2 - taken_out * squared_gaps) / np.where(is_shared, pairs, 1)
    weights = np.where(is_shared, counts, 0)
    mean: Array = (weights * squares).sum(axis=0) / weights.sum(axis=0)
    return mean


@metric(
    on={Forecast: Row(6, "Tells right from wrong (AUROC)", "0.5 is chance")},
    source="Hanley & McNeil 1982",
    better=Better.HIGHER,
    scale=Scale.UNIT,
)
def auroc_of_right(found: Forecast) -> Measure:
    """How often a right score has a higher signal than a wrong one."""
    return auroc(
        found.signal,
        found.where & found.is_right,
        found.where & ~found.is_right,
        undefined="all scores are right, or none is, or there are none",
    )
