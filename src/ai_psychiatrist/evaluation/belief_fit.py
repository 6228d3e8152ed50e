"""Make a fit from runs over labelled participants: recalibration, and thresholds of sets.

Everything that is told of a fit is of participants whom it had not seen: they fall into folds with
all their interviews, and each fold is foretold from the others.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ai_psychiatrist.belief.facts import FEATURES
from ai_psychiatrist.belief.fit import LEAST_PARTICIPANTS, Fit, Recalibration
from ai_psychiatrist.belief.premises import digest_of
from ai_psychiatrist.belief.sets import strangeness
from ai_psychiatrist.evaluation.belief_cases import BelievedCases, believed_cases
from ai_psychiatrist.evaluation.belief_strata import stratum_of
from ai_psychiatrist.statistics.arrays import Array
from ai_psychiatrist.statistics.ordered_logit import OrderedLogit, fit_ordered_logit

FOLDS: Final = 5
RIDGE: Final = 1.0
"""Fixed before any figure: as much as one participant's worth of evidence against each weight."""
_SCORES: Final = 4
_LEAST_LOG: Final = 1e-6


@dataclass(frozen=True, kw_only=True)
class BeliefReport:
    """What the runs say of the beliefs in them, and the fit, where there are enough of them."""

    participants: int
    items: int
    raw: dict[str, float]
    """Figures of the belief as it was given."""
    fit: Fit | None


def fit_beliefs(runs: Sequence[Path], *, level: float) -> BeliefReport:
    """Return what runs over labelled participants teach about their beliefs.

    There is no fit below `LEAST_PARTICIPANTS`. Raises `InputError` for a folder that is no run, for
    runs without beliefs or labels, and `ArtifactMismatch` for runs whose beliefs were made by
    different means.
    """
    cases = believed_cases(runs)
    raw = np.array([_conditional(one.belief_raw) for one in cases.items])
    truths = np.array([one.truth for one in cases.items], dtype=np.intp)
    owners = np.array(cases.participants, dtype=np.intp)
    participants = len(set(owners.tolist()))
    fit = None
    if participants >= LEAST_PARTICIPANTS:
        fit = _fit(cases, raw, truths, owners, level=level)
    return BeliefReport(
        participants=participants, items=len(truths), raw=_figures(raw, truths), fit=fit
    )


def _fit(
    cases: BelievedCases,
    raw: Array,
    truths: NDArray[np.intp],
    owners: NDArray[np.intp],
    *,
    level: float,
) -> Fit:
    features = np.array([one.features for one in cases.items])
    unseen = np.empty_like(raw)
    for fold in range(FOLDS):
        is_in = owners % FOLDS == fold
        model = _fitted(features[~is_in], truths[~is_in])
        unseen[is_in] = model.probabilities(features[is_in])
    whole = _fitted(features, truths)
    strange = np.array(
        [
            strangeness(shares, int(truth))
            for shares, truth in zip(unseen.tolist(), truths, strict=True)
        ]
    )
    strata = {}
    datasets = np.array([one.dataset for one in cases.items])
    for dataset in sorted(set(datasets.tolist())):
        at = datasets == dataset
        strata[dataset] = stratum_of(strange[at], truths[at], owners[at], level)
    return Fit(
        digest=digest_of(cases.made_by),
        made_by=dict(cases.made_by),
        level=level,
        participants=len(set(owners.tolist())),
        recalibration=Recalibration(
            features=FEATURES,
            means=tuple(whole.means.tolist()),
            scales=tuple(whole.scales.tolist()),
            weights=tuple(whole.weights.tolist()),
            thresholds=_three(whole.thresholds.tolist()),
        ),
        strata=strata,
        figures={
            **{f"{name}_before": value for name, value in _figures(raw, truths).items()},
            **{f"{name}_after": value for name, value in _figures(unseen, truths).items()},
        },
    ).sealed()


def _fitted(features: Array, truths: NDArray[np.intp]) -> OrderedLogit:
    return fit_ordered_logit(features, truths, count=_SCORES, ridge=RIDGE)


def _conditional(raw: tuple[float, ...]) -> tuple[float, ...]:
    """Return the probabilities of the scores where one can be told."""
    *scores, not_determinable = raw
    whole = sum(scores)
    return tuple((one + not_determinable / _SCORES) / (whole + not_determinable) for one in scores)


def _figures(shares: Array, truths: NDArray[np.intp]) -> dict[str, float]:
    """Return log loss and ranked probability score, both smaller the better."""
    if not len(truths):
        return {}
    rows = np.arange(len(truths))
    logs = -np.log(np.maximum(shares[rows, truths], _LEAST_LOG))
    is_below = truths[:, None] <= np.arange(_SCORES - 1)[None, :]
    ranked = ((np.cumsum(shares, axis=1)[:, :-1] - is_below) ** 2).sum(axis=1)
    return {
        "log_loss": round(float(logs.mean()), 6),
        "ranked_probability_score": round(float(ranked.mean()), 6),
    }


def _three(values: Iterable[float]) -> tuple[float, float, float]:
    first, second, third = values
    return first, second, third
