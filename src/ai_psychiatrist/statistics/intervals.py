"""The 95 % interval of a figure: BCa over participants, widened for few of them.

Percentile intervals are too narrow for few participants and ignore that errors are skewed. BCa
corrects the levels for bias and skewness (Efron 1987, J Am Stat Assoc 82:171-185); the levels
themselves are those of Student's t on a spread that resampling does not shrink (Hesterberg 2015, Am
Stat 69:371-386). Where all resamples give one value, as with no error among few participants, an
interval without width would claim certainty; there is none then.
"""

import math
from statistics import NormalDist
from typing import Final

import numpy as np
from scipy.special import stdtrit

from ai_psychiatrist.statistics.arrays import Array
from ai_psychiatrist.statistics.bootstrap import Estimate
from ai_psychiatrist.statistics.figure import DECIMALS, Figure, rounded
from ai_psychiatrist.statistics.measure import Measure

INTERVAL: Final = 0.95
MOST_UNDEFINED: Final = 0.05
"""A figure that more resamples than this share leave undefined has no interval."""
_NORMAL: Final = NormalDist()


def figure_of(measure: Measure, found: Estimate) -> Figure:
    """Return the figure of a measure with its interval, or say why one is missing."""
    if math.isnan(found.value):
        return Figure(value=None, reason=measure.undefined, n=measure.n)
    reason = measure.no_interval or _obstacle(found, measure.smallest_n)
    interval = None if reason else _interval(found)
    if interval is None:
        reason = f"no interval: {reason or 'the resamples do not differ'}"
    return Figure(value=rounded(found.value), reason=reason, interval=interval, n=measure.n)


def _obstacle(found: Estimate, smallest_n: int) -> str | None:
    if found.participants < smallest_n:
        count = found.participants
        people = f"{count} participant{'' if count == 1 else 's'}"
        return f"it rests on {people}, and needs {smallest_n}"
    missing = np.isnan(found.samples)
    if missing.all() or missing.mean() > MOST_UNDEFINED:
        share = f"{missing.mean():.0%}" if len(missing) else "all"
        return f"undefined in {share} of the resamples"
    return None


def _interval(found: Estimate) -> tuple[float, float] | None:
    """Return the ends, `None` where they are the same."""
    samples = found.samples[~np.isnan(found.samples)]
    above = np.round(samples - found.value, DECIMALS)
    below = (above < 0).mean() + (above == 0).mean() / 2
    rarest = 0.5 / len(samples)
    bias = _NORMAL.inv_cdf(min(max(float(below), rarest), 1 - rarest))
    skew = _acceleration(found.left_out)
    reach = _reach(found.participants)

    def level(z: float) -> float:
        shifted = bias + z
        return _NORMAL.cdf(bias + shifted / max(1 - skew * shifted, rarest))

    low, high = map(rounded, np.quantile(samples, [level(-reach), level(reach)]).tolist())
    return (low, high) if low < high else None


def _acceleration(left_out: Array) -> float:
    """Return a sixth of the skewness of what leaving one participant out does (Efron 1987)."""
    defined = left_out[~np.isnan(left_out)]
    change = defined.mean() - defined if len(defined) else defined
    spread = float((change**2).sum())
    return float((change**3).sum()) / (6 * spread**1.5) if spread > 0 else 0.0


def _reach(participants: int) -> float:
    """Return how many standard deviations of resamples lie between the middle and either end."""
    free = participants - 1
    return math.sqrt(participants / free) * float(stdtrit(free, (1 + INTERVAL) / 2))
