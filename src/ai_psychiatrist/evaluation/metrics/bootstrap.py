"""The bootstrap over units: all figures of a report see the same resamples.

Source: Efron & Tibshirani 1993, An Introduction to the Bootstrap, ch. 13 (percentile interval). A
unit is drawn with all its items, which are not independent of one another. Where all resamples give
one value, as with no error among few units, an interval without width would claim certainty; there
is none then.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ai_psychiatrist.evaluation.metrics.figure import Figure
from ai_psychiatrist.evaluation.metrics.measure import Array, Measure, Statistics

INTERVAL: Final = 0.95
MOST_UNDEFINED: Final = 0.05
"""A figure that more resamples than this share leave undefined has no interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrap:
    """How often units are drawn anew, and from which seed."""

    units: int
    resamples: int
    seed: int
    cells_at_once: int = 1 << 21
    """How many weights are in memory at a time; the resamples do not depend on it."""

    def weights(self) -> Iterator[Array]:
        """Yield how often each resample holds each unit: parts of (resamples, units)."""
        if self.units == 0:
            return
        random = np.random.default_rng(self.seed)
        rows = max(1, self.cells_at_once // self.units)
        for start in range(0, self.resamples, rows):
            count = min(rows, self.resamples - start)
            drawn = random.integers(self.units, size=(count, self.units))
            cells = drawn + self.units * np.arange(count)[:, None]
            counts = np.bincount(cells.ravel(), minlength=count * self.units)
            yield counts.reshape(count, self.units).astype(np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimates:
    """Values of some measures; NaN where one is not defined."""

    points: Array
    """(measures,): on the units as they are."""
    samples: Array
    """(measures, resamples)"""


def estimate(measures: Sequence[Measure], bootstrap: Bootstrap) -> Estimates:
    """Compute measures, of which there is at least one, on the units and on each resample."""
    every = list({id(measure.statistics): measure.statistics for measure in measures}.values())
    stacked = np.concatenate(
        [np.empty((bootstrap.units, 0)), *(one.by_unit for one in every)], axis=1
    )
    points = _values(measures, _sums(every, np.ones((1, bootstrap.units)) @ stacked))
    parts = [_values(measures, _sums(every, weights @ stacked)) for weights in bootstrap.weights()]
    return Estimates(
        points=points[:, 0],
        samples=np.concatenate([np.empty((len(measures), 0)), *parts], axis=1),
    )


def _sums(every: Sequence[Statistics], summed: Array) -> dict[int, Array]:
    """Cut (samples, all columns) into (k, samples) for each of the statistics."""
    columns = np.ascontiguousarray(summed.T)
    ends = np.cumsum([one.by_unit.shape[1] for one in every])
    return dict(zip(map(id, every), np.split(columns, ends[:-1]), strict=True))


def _values(measures: Sequence[Measure], sums: Mapping[int, Array]) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = [measure.combine(sums[id(measure.statistics)]) for measure in measures]
    values = np.array(rows, dtype=np.float64).reshape(len(rows), -1)
    values[~np.isfinite(values)] = np.nan
    return values


def figures(measures: Sequence[Measure], estimates: Estimates) -> list[Figure]:
    """Return each measure's value with its percentile interval."""
    return [
        figure(
            float(point),
            samples,
            n=measure.n,
            units=measure.statistics.units,
            undefined=measure.undefined,
        )
        for measure, point, samples in zip(
            measures, estimates.points, estimates.samples, strict=True
        )
    ]


def figure(value: float, samples: Array, *, n: int, units: int, undefined: str) -> Figure:
    """Return a value with the interval of its resamples, or say why one is missing."""
    if np.isnan(value):
        return Figure(value=None, reason=undefined, n=n)
    if units <= 1:
        return Figure(value=value, reason="no interval: it rests on a single unit", n=n)
    defined = samples[~np.isnan(samples)]
    if len(defined) == 0 or len(defined) < (1 - MOST_UNDEFINED) * len(samples):
        reason = f"no interval: undefined in {_share_undefined(samples)} of the resamples"
        return Figure(value=value, reason=reason, n=n)
    outside = (1 - INTERVAL) / 2
    low, high = np.quantile(defined, [outside, 1 - outside])
    if low == high:
        return Figure(value=value, reason="no interval: the resamples do not differ", n=n)
    return Figure(value=value, interval=(float(low), float(high)), n=n)


def _share_undefined(samples: Array) -> str:
    return f"{np.isnan(samples).mean():.0%}" if len(samples) else "all"
