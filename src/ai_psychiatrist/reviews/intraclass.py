"""Intraclass correlations and limits of agreement of scores that every rater gave."""

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Final

import numpy as np

from ai_psychiatrist.reviews.agreement_result import Intraclass, Limits
from ai_psychiatrist.statistics.arrays import Array
from ai_psychiatrist.statistics.bootstrap import Owners
from ai_psychiatrist.statistics.figure import rounded

_TAIL: Final = 0.975
_WIDTH: Final = 1.96
"""Standard deviations from the mean difference to a limit. Source: Bland & Altman 1986, Lancet
327:307-310."""
_TOO_FEW: Final = "it needs two raters, and two cases that all of them scored"
_ALL_ALIKE: Final = "every score is the same"
_NO_SPREAD: Final = (
    "it cannot be told: the cases differ too little beside the differences of their raters"
)
_WIDE: Final = "no interval: it would be wider than all values that a correlation can have"
_NO_ERROR: Final = "no interval: the raters differ by nothing, or by the same in every case"
_NO_SCIPY: Final = "no interval: it needs scipy where the service runs: pip install scipy"
_REPEATED: Final = "no interval: it takes participants with one case each, and some have more"


@dataclass(frozen=True, slots=True, kw_only=True)
class _MeanSquares:
    """The mean squares of a two-way table: between its rows, between its columns, and what is
    left."""

    rows: float
    columns: float
    error: float
    subjects: int
    raters: int

    @classmethod
    def of(cls, scores: Array) -> "_MeanSquares":
        count, raters = scores.shape
        of_rows, of_columns = scores.mean(axis=1) - scores.mean(), scores.mean(axis=0)
        left = scores - of_rows[:, None] - of_columns
        freedom = (count - 1) * (raters - 1)
        return cls(
            rows=float(raters * (of_rows**2).sum() / (count - 1)),
            columns=float(count * ((of_columns - scores.mean()) ** 2).sum() / (raters - 1)),
            error=float((left**2).sum() / freedom),
            subjects=count,
            raters=raters,
        )


def intraclass(scores: Array, *, form: str, subjects: Owners) -> Intraclass:
    """Return how far single scores of raters agree: `ICC(2,1)` or `ICC(3,1)`.

    ICC(2,1) takes the raters as drawn from many and counts a rater who is always higher against
    agreement; ICC(3,1) is about these raters, and does not. `scores`: (cases, raters), NaN where
    one is missing; cases that not every rater scored are left out. `subjects`: (cases,), whose
    each case is. Source: Shrout & Fleiss 1979, Psychol Bull 86:420-428.
    """
    is_whole = ~np.isnan(scores).any(axis=1)
    whole = scores[is_whole]
    is_repeated = len(np.unique(subjects[is_whole])) < len(whole)
    shape = {"subjects": len(whole), "raters": scores.shape[1], "incomplete": _left_out(scores)}
    if min(whole.shape) < 2:
        return Intraclass(form=form, value=None, interval=None, reason=_TOO_FEW, **shape)
    found = _MeanSquares.of(whole)
    spread = found.rows + (found.raters - 1) * found.error
    if form == "ICC(2,1)":
        spread += found.raters * (found.columns - found.error) / found.subjects
    if rounded(spread) <= 0:
        return Intraclass(form=form, value=None, interval=None, reason=_ALL_ALIKE, **shape)
    value = (found.rows - found.error) / spread
    if value < -1:
        # The estimate of the variance between raters is so far below zero that it takes away all
        # others, which happens with a few cases: a quotient of such estimates is no correlation.
        return Intraclass(form=form, value=None, interval=None, reason=_NO_SPREAD, **shape)
    reason = _REPEATED if is_repeated else _NO_ERROR if rounded(found.error) == 0 else None
    if find_spec("scipy") is None:
        reason = _NO_SCIPY
    ends = None
    if reason is None:
        ends = _absolute(found, value) if form == "ICC(2,1)" else _consistent(found)
        if ends[0] < -1:
            ends, reason = None, _WIDE
    return Intraclass(form=form, value=rounded(value), interval=ends, reason=reason, **shape)


def limits_of_agreement(scores: Array) -> Limits:
    """Return between which limits 95 % of the differences of two coders' scores lie.

    `scores`: (cases, 2), NaN where one is missing.
    """
    whole = scores[~np.isnan(scores).any(axis=1)]
    incomplete, reason = _left_out(scores), None if len(whole) > 1 else _TOO_FEW
    if reason is not None:
        return Limits(n=len(whole), incomplete=incomplete, reason=reason)
    differences = whole[:, 0] - whole[:, 1]
    mean, reach = float(differences.mean()), _WIDTH * float(differences.std(ddof=1))
    return Limits(
        mean=rounded(mean),
        lower=rounded(mean - reach),
        upper=rounded(mean + reach),
        n=len(whole),
        incomplete=incomplete,
        reason=None,
    )


def _left_out(scores: Array) -> int:
    """Return how many cases only some of the raters scored."""
    is_missing = np.isnan(scores)
    return int((is_missing.any(axis=1) & ~is_missing.all(axis=1)).sum())


def _consistent(found: _MeanSquares) -> tuple[float, float]:
    """Return the interval of ICC(3,1). Source: McGraw & Wong 1996, Psychol Methods 1:30-46."""
    of_rows, of_error = found.subjects - 1, (found.subjects - 1) * (found.raters - 1)
    ratio = found.rows / found.error
    ends = ratio / _quantile(of_rows, of_error), ratio * _quantile(of_error, of_rows)
    low, high = (rounded((end - 1) / (end + found.raters - 1)) for end in ends)
    return low, high


def _absolute(found: _MeanSquares, value: float) -> tuple[float, float]:
    """Return the interval of ICC(2,1). Source: McGraw & Wong 1996, table 7."""
    n, k = found.subjects, found.raters
    a = k * value / (n * (1 - value))
    b = 1 + k * value * (n - 1) / (n * (1 - value))
    of_columns, of_error = a * found.columns, b * found.error
    freedom = (of_columns + of_error) ** 2 / (
        of_columns**2 / (k - 1) + of_error**2 / ((n - 1) * (k - 1))
    )
    spread = k * found.columns + (k * n - k - n) * found.error
    low, high = _quantile(n - 1, freedom), _quantile(freedom, n - 1)
    lower = n * (found.rows - low * found.error) / (low * spread + n * found.rows)
    upper = n * (high * found.rows - found.error) / (spread + n * high * found.rows)
    return rounded(lower), rounded(upper)


def _quantile(numerator: float, denominator: float) -> float:
    # SciPy belongs to an extra, and takes a second to load.
    from scipy.special import fdtri  # noqa: PLC0415

    return float(fdtri(numerator, denominator, _TAIL))
