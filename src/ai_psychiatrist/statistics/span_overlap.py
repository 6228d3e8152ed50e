"""How far marks of two raters in the same texts cover one another."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_psychiatrist.statistics.arrays import Array

Places = NDArray[np.int64]
LONGEST_TEXT = 1 << 40
"""Characters of one text, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """Stretches of many texts laid end to end: sorted, none empty, none touching another."""

    starts: Places
    ends: Places
    """Exclusive."""

    @property
    def texts(self) -> Places:
        """In which text each stretch lies."""
        return self.starts // LONGEST_TEXT


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """What two raters share in each text, (texts,) each."""

    characters: Array
    """Marked by both."""
    marked: Array
    """Characters of one and of the other, added up."""
    met: Array
    """Stretches of either that share a character with one of the other."""
    stretches: Array
    """Stretches of one and of the other, added up."""
    by_first: NDArray[np.bool_]
    """Whether the first marked anything."""
    by_second: NDArray[np.bool_]


def marks_of(texts: Places, starts: Places, ends: Places) -> Marks:
    """Unite what overlaps or touches; characters from 0, the end exclusive, all (marks,)."""
    is_some = ends > starts
    low = (texts * LONGEST_TEXT + starts)[is_some]
    high = (texts * LONGEST_TEXT + ends)[is_some]
    order = np.argsort(low, kind="stable")
    low, high = low[order], np.maximum.accumulate(high[order])
    is_first = np.ones(len(low), dtype=np.bool_)
    is_first[1:] = low[1:] > high[:-1]
    is_last = np.roll(is_first, -1)
    return Marks(starts=low[is_first], ends=high[is_last])


def overlap(one: Marks, other: Marks, *, texts: int) -> Overlap:
    """Return what the marks of two raters share in each of so many texts."""
    shared, shared_of_other = _shared(one, other), _shared(other, one)

    def by_text(marks: Marks, values: ArrayLike) -> Array:
        weights = np.asarray(values, dtype=np.float64)
        return np.bincount(marks.texts, weights=weights, minlength=texts).astype(np.float64)

    ones, others = (by_text(side, side.ends - side.starts) for side in (one, other))
    return Overlap(
        characters=by_text(one, shared),
        marked=ones + others,
        met=by_text(one, shared > 0) + by_text(other, shared_of_other > 0),
        stretches=by_text(one, np.ones_like(one.starts))
        + by_text(other, np.ones_like(other.starts)),
        by_first=ones > 0,
        by_second=others > 0,
    )


def _shared(one: Marks, other: Marks) -> Places:
    """Return how many characters of each stretch of one the other marked."""
    return _covered(other, one.ends) - _covered(other, one.starts)


def _covered(marks: Marks, upto: Places) -> Places:
    """Return how many marked characters lie before each place."""
    before = np.concatenate([[0], np.cumsum(marks.ends - marks.starts)])
    begun = np.searchsorted(marks.starts, upto, side="right")
    last = np.maximum(begun - 1, 0)
    if not len(marks.starts):
        return np.zeros_like(upto)
    within = np.minimum(upto, marks.ends[last]) - marks.starts[last]
    covered: Places = np.where(begun > 0, before[last] + within, 0)
    return covered
