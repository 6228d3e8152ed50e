"""The bootstrap over participants: all figures of a report see the same resamples.

A participant is drawn with all units and all their items, which are not independent of one another.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ai_psychiatrist.statistics.measure import Array, Measure, Statistics

Owners = NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrap:
    """How often participants are drawn anew, and from which seed."""

    owners: Owners
    """(units,): whose each unit is, numbered from 0 without gaps."""
    resamples: int
    seed: int
    cells_at_once: int = 1 << 21
    """How many weights are in memory at a time; the resamples do not depend on it."""

    @property
    def participants(self) -> int:
        """How many participants there are."""
        return int(self.owners.max(initial=-1)) + 1

    def weights(self) -> Iterator[Array]:
        """Yield how often each resample holds each participant: parts of (resamples, those)."""
        count = self.participants
        if count == 0:
            return
        random = np.random.default_rng(self.seed)
        rows = max(1, self.cells_at_once // count)
        for start in range(0, self.resamples, rows):
            height = min(rows, self.resamples - start)
            drawn = random.integers(count, size=(height, count))
            cells = drawn + count * np.arange(height)[:, None]
            counts = np.bincount(cells.ravel(), minlength=height * count)
            yield counts.reshape(height, count).astype(np.float64)

    def by_participant(self, by_unit: Array) -> Array:
        """Add up the rows of each participant's units."""
        if self.participants == len(self.owners):
            return by_unit[np.argsort(self.owners)]
        summed = np.zeros((self.participants, by_unit.shape[1]))
        np.add.at(summed, self.owners, by_unit)
        return summed


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The values of one measure; NaN where it is not defined."""

    value: float
    samples: Array
    """(resamples,)"""
    left_out: Array
    """(participants,): the value without each of them."""
    participants: int
    """How many of them the measure concerns."""

    def minus(self, other: "Estimate") -> "Estimate":
        """Return the paired difference of two measures over the same resamples."""
        return Estimate(
            value=self.value - other.value,
            samples=self.samples - other.samples,
            left_out=self.left_out - other.left_out,
            participants=min(self.participants, other.participants),
        )


def owners_of(units: Sequence[str], participants: Mapping[str, str]) -> Owners:
    """Number the participants by their first unit; a unit without one is a participant's own."""
    numbers: dict[tuple[bool, str], int] = {}
    keys = [(unit in participants, participants.get(unit, unit)) for unit in units]
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp)


def estimate(measures: Sequence[Measure], bootstrap: Bootstrap) -> list[Estimate]:
    """Compute measures on the units, on each resample, and without each participant in turn."""
    if not measures:
        return []
    every = list({id(measure.statistics): measure.statistics for measure in measures}.values())
    rows = bootstrap.by_participant(np.concatenate([one.by_unit for one in every], axis=1))
    whole = rows.sum(axis=0, keepdims=True)
    points = _values(measures, every, whole)
    left_out = _values(measures, every, whole - rows)
    parts = [_values(measures, every, w @ rows, resampled=True) for w in bootstrap.weights()]
    samples = np.concatenate([np.empty((len(measures), 0)), *parts], axis=1)
    concerned = {key: int(part.any(axis=0).sum()) for key, part in _cut(every, rows).items()}
    return [
        Estimate(
            value=float(points[place, 0]),
            samples=samples[place],
            left_out=left_out[place],
            participants=concerned[id(measure.statistics)],
        )
        for place, measure in enumerate(measures)
    ]


def _values(
    measures: Sequence[Measure],
    every: Sequence[Statistics],
    rows: Array,
    *,
    resampled: bool = False,
) -> Array:
    sums = _cut(every, rows)

    def combining(measure: Measure) -> Callable[[Array], Array]:
        return (measure.combine_resampled if resampled else None) or measure.combine

    with np.errstate(divide="ignore", invalid="ignore"):
        found = [combining(measure)(sums[id(measure.statistics)]) for measure in measures]
    values = np.array(found, dtype=np.float64).reshape(len(found), -1)
    values[~np.isfinite(values)] = np.nan
    return values


def _cut(every: Sequence[Statistics], rows: Array) -> dict[int, Array]:
    """Cut (samples, all columns) into (k, samples) for each of the statistics."""
    columns = np.ascontiguousarray(rows.T)
    ends = np.cumsum([one.by_unit.shape[1] for one in every])
    return dict(zip(map(id, every), np.split(columns, ends[:-1]), strict=True))
