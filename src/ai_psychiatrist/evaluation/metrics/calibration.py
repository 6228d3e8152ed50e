"""How far a signal of confidence can be read as the probability that an item's score is right.

Every probability is one for a participant whom the fit did not see: participants fall into folds
with all their units, and the isotonic regression for each fold is fitted on the others.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ai_psychiatrist.evaluation.metrics.auroc import auroc
from ai_psychiatrist.evaluation.metrics.bootstrap import Owners
from ai_psychiatrist.evaluation.metrics.isotonic import fit_isotonic
from ai_psychiatrist.evaluation.metrics.measure import Array, BoolArray, Measure, ratio, statistics
from ai_psychiatrist.evaluation.metrics.scores import Scores
from ai_psychiatrist.evaluation.metrics.signals import SIGNALS, signal_values
from ai_psychiatrist.evaluation.metrics.tree import Tree

FOLDS: Final = 5
BINS: Final = 10
TOO_FEW: Final = "fewer than two participants have an item with both a label and a score"


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """Probabilities that the scores are right, for units that the fit did not see."""

    where: BoolArray
    """(units, 8): the items that have one."""
    probability: Array
    base_rate: Array
    """The share of right scores in the units of the fit: what one knows without the signal."""
    is_right: BoolArray


def calibration_section(scores: Scores, *, seed: int) -> dict[str, Tree]:
    """Return Brier score, expected calibration error and reliability for each signal."""
    return {
        "folds": FOLDS,
        "bins": BINS,
        "by_signal": {
            signal: _quality(forecast(scores, signal, seed=seed), signal_values(scores, signal))
            for signal in SIGNALS
        },
    }


def forecast(scores: Scores, signal: str, *, seed: int) -> Forecast:
    """Return out-of-fold probabilities; none when fewer than two participants can be used."""
    values = signal_values(scores, signal)
    right = scores.is_both & (scores.score == scores.label)
    folds = _folds(scores.is_both.sum(axis=1) > 0, scores.owners, seed=seed)
    probability, base_rate = np.zeros_like(values), np.zeros_like(values)
    for fold in range(folds.max(initial=-1) + 1):
        seen = scores.is_both & ((folds >= 0) & (folds != fold))[:, None]
        asked = scores.is_both & (folds == fold)[:, None]
        fitted = fit_isotonic(values[seen], right[seen].astype(np.float64))
        probability[asked] = fitted(values[asked])
        base_rate[asked] = right[seen].mean()
    return Forecast(
        where=scores.is_both & (folds >= 0)[:, None],
        probability=probability,
        base_rate=base_rate,
        is_right=right,
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


def _quality(found: Forecast, values: Array) -> dict[str, Tree]:
    where = found.where
    miss = np.where(where, (found.probability - found.is_right) ** 2, 0.0).sum(axis=1)
    base_miss = np.where(where, (found.base_rate - found.is_right) ** 2, 0.0).sum(axis=1)
    count = where.sum(axis=1)
    return {
        "brier": ratio(miss, count, undefined=TOO_FEW),
        "brier_of_base_rate": ratio(base_miss, count, undefined=TOO_FEW),
        "ece": _expected_error(found),
        "auroc_of_right": auroc(
            values,
            where & found.is_right,
            where & ~found.is_right,
            undefined="all scores are right, or none is, or there are none",
        ),
        "reliability": _reliability(found),
    }


def _binned(found: Forecast) -> Array:
    """Return, by unit, for each bin: items, sum of their probabilities, how many are right."""
    place = np.minimum((found.probability * BINS).astype(np.intp), BINS - 1)
    is_in = found.where[:, :, None] & (place[:, :, None] == np.arange(BINS))
    parts = (np.ones_like(found.probability), found.probability, found.is_right)
    return np.concatenate([(is_in * part[:, :, None]).sum(axis=1) for part in parts], axis=1)


def _expected_error(found: Forecast) -> Measure:
    """Source: Guo et al. 2017, ICML, eq. 3, with bins of equal width."""
    return Measure(
        statistics=statistics(_binned(found)),
        combine=_mean_gap,
        n=int(found.where.sum()),
        undefined=TOO_FEW,
    )


def _mean_gap(sums: Array) -> Array:
    counts, probabilities, rights = np.split(sums, 3)
    gap: Array = np.abs(probabilities - rights).sum(axis=0) / counts.sum(axis=0)
    return gap


def _reliability(found: Forecast) -> list[Tree]:
    """Return the bins that hold items, as bounds, count, mean probability and share right."""
    counts, probabilities, rights = np.split(_binned(found).sum(axis=0), 3)
    return [
        {
            "low": place / BINS,
            "high": (place + 1) / BINS,
            "n": int(counts[place]),
            "mean_probability": float(probabilities[place] / counts[place]),
            "share_right": float(rights[place] / counts[place]),
        }
        for place in range(BINS)
        if counts[place]
    ]
