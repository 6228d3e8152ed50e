"""Ordered logistic regression with a ridge: probabilities of ordered answers from features."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from ai_psychiatrist.statistics.arrays import Array

_MOST_STEPS: Final = 500
_LEAST_GRADIENT: Final = 1e-8
"""For each case."""
_LEAST_SHARE: Final = 1e-12
_LEAST_SPREAD: Final = 1e-4
"""Of a feature beside its size: less is what rounding leaves of values kept to six digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderedLogit:
    """P(answer <= k) = 1 / (1 + exp(x·weights - thresholds[k])); features are standardised."""

    means: Array
    scales: Array
    weights: Array
    thresholds: Array
    """Rising; one fewer than there are answers."""

    def probabilities(self, features: Array) -> Array:
        """Return the probability of each answer, (n, answers)."""
        standard = (features - self.means) / self.scales
        return _shares(self.thresholds, standard @ self.weights)


def fit_ordered_logit(
    features: Array, answers: NDArray[np.intp], *, count: int, ridge: float
) -> OrderedLogit:
    """Return the fit of the largest likelihood less `ridge`/2 times the squared weights.

    `features`: (n, features); `answers`: (n,), 0 to `count` - 1. The intervals between thresholds
    are fitted by their logarithms, so that thresholds rise; these are kept near those of the
    answers' frequencies by the same ridge, which keeps an answer that never occurs possible. A
    feature that never varies has no weight.
    Source: McCullagh 1980, J R Stat Soc B 42:109-142.
    """
    means, scales = features.mean(axis=0), features.std(axis=0)
    varies = scales > _LEAST_SPREAD * np.maximum(1.0, np.abs(means))
    scales = np.where(varies, scales, 1.0)
    standard = np.where(varies, (features - means) / scales, 0.0)
    start = np.concatenate([np.zeros(features.shape[1]), _first_cuts(answers, count)])
    found = minimize(
        _loss,
        start,
        args=(standard, answers, start, ridge),
        jac=True,
        method="BFGS",
        options={"gtol": _LEAST_GRADIENT * len(answers), "maxiter": _MOST_STEPS},
    )
    weights, cuts = np.split(found.x, [features.shape[1]])
    return OrderedLogit(means=means, scales=scales, weights=weights, thresholds=_rising(cuts))


def _first_cuts(answers: NDArray[np.intp], count: int) -> Array:
    """Return thresholds that give the frequencies of the answers, each one seen half a time more.

    The first one as it is, the others as the logarithm of how much higher they are.
    """
    seen = np.bincount(answers, minlength=count) + 0.5
    below = np.cumsum(seen)[:-1] / seen.sum()
    thresholds = np.log(below / (1 - below))
    return np.concatenate([thresholds[:1], np.log(np.diff(thresholds))])


def _rising(cuts: Array) -> Array:
    return np.cumsum(np.concatenate([cuts[:1], np.exp(cuts[1:])]))


def _sigmoid(at: Array) -> Array:
    return 0.5 * (1 + np.tanh(at / 2))


def _shares(thresholds: Array, scores: Array) -> Array:
    below = _sigmoid(thresholds[None, :] - scores[:, None])
    edges = np.ones((len(scores), 1))
    return np.diff(np.hstack([0 * edges, below, edges]), axis=1)


def _loss(
    parameters: Array, features: Array, answers: NDArray[np.intp], start: Array, ridge: float
) -> tuple[float, Array]:
    """Return the penalised loss and its gradient."""
    weights, cuts = np.split(parameters, [features.shape[1]])
    thresholds, scores = _rising(cuts), features @ weights
    rows = np.arange(len(answers))
    below = _sigmoid(thresholds[None, :] - scores[:, None])
    edges = np.ones((len(scores), 1))
    held = np.hstack([0 * edges, below, edges])
    slopes = held * (1 - held)
    shares = np.maximum(held[rows, answers + 1] - held[rows, answers], _LEAST_SHARE)
    upper, lower = slopes[rows, answers + 1] / shares, slopes[rows, answers] / shares
    by_threshold = np.zeros((len(answers), len(thresholds) + 2))
    by_threshold[rows, answers + 1] -= upper
    by_threshold[rows, answers] += lower
    of_thresholds = by_threshold[:, 1:-1].sum(axis=0)
    later = np.cumsum(of_thresholds[::-1])[::-1]
    of_cuts = np.concatenate([later[:1], later[1:] * np.exp(cuts[1:])])
    off = parameters - start
    penalised = -np.log(shares).sum() + ridge / 2 * (off @ off)
    gradient = np.concatenate([features.T @ (upper - lower), of_cuts]) + ridge * off
    return float(penalised), gradient
