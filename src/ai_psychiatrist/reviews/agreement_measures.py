"""What the figures of agreement are computed from, for pairs of sheets."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ai_psychiatrist.domain.phq8 import MAX_ITEM_SCORE
from ai_psychiatrist.reviews.agreement_arrays import ITEMS, SheetPairs, Sheets
from ai_psychiatrist.statistics.alpha import MISSING, coincidences, ordinal_alpha
from ai_psychiatrist.statistics.arrays import Array, BoolArray
from ai_psychiatrist.statistics.kappa import MOMENTS, mean_kappa, moments
from ai_psychiatrist.statistics.measure import Measure, ratio, statistics
from ai_psychiatrist.statistics.span_overlap import Overlap, Places, overlap

MOST_PAIRS: Final = 6
"""Pairs of raters that have a kappa of their own: those of four people. All others are one."""
LEVELS: Final = MAX_ITEM_SCORE + 1
_NO_SCORES: Final = "no item has scores of both"
_ONE_VALUE: Final = "only one value occurs, so there is no agreement beyond chance to measure"
_NO_PAIRS: Final = "no case has two that can be compared"
_NO_MARKS: Final = "nobody marked evidence"
_NO_MARKS_OF_ONE: Final = "one of the two sides marked no evidence at all"


@dataclass(frozen=True, kw_only=True)
class Compared:
    """Pairs of sheets, and everything that is counted of them by case and item."""

    sheets: Sheets
    pairs: SheetPairs
    with_program: bool

    @cached_property
    def groups(self) -> list[tuple[int, int]]:
        """The pairs of coders, those with most cases in common first."""
        keys, counts = np.unique(self._keys, return_counts=True)
        order = np.argsort(-counts, kind="stable")
        return [divmod(int(key), len(self.sheets.coders)) for key in keys[order]]

    @cached_property
    def group(self) -> Places:
        """Which of them each pair of sheets belongs to; the last kappa is that of all others."""
        width = len(self.sheets.coders)
        ranks = {first * width + second: rank for rank, (first, second) in enumerate(self.groups)}
        found = np.array([ranks[key] for key in self._keys.tolist()], dtype=np.int64)
        return np.minimum(found, MOST_PAIRS)

    @property
    def group_count(self) -> int:
        """How many kappas there are."""
        return min(len(self.groups), MOST_PAIRS + 1)

    @cached_property
    def _keys(self) -> Places:
        coder = self.sheets.coder
        keys: Places = coder[self.pairs.first] * len(self.sheets.coders) + coder[self.pairs.second]
        return keys

    @cached_property
    def _case(self) -> Places:
        return self.sheets.case[self.pairs.first]

    @cached_property
    def _first(self) -> Array:
        return self.sheets.answers[self.pairs.first].astype(np.float64)

    @cached_property
    def _second(self) -> Array:
        return self.sheets.answers[self.pairs.second].astype(np.float64)

    @cached_property
    def scored(self) -> Array:
        """(pairs, 8): how many of the two give a score."""
        counts: Array = (self._first != MISSING).astype(np.float64) + (self._second != MISSING)
        return counts

    @cached_property
    def overlap(self) -> Overlap:
        """What they share of their marks, (pairs · 8,) each."""
        first, second = map(self.sheets.marks_on, (self.pairs.first, self.pairs.second))
        return overlap(first, second, texts=len(self._case) * len(ITEMS))

    def measures(self, items: slice) -> dict[str, Measure]:
        """Return the figures over some of the items."""
        both = self.scored[:, items] == 2
        same = (self._first == self._second)[:, items]
        return {
            "kappa": self._kappa(both, items),
            "alpha": self._alpha(both, items),
            "exact": self._share(same, np.ones_like(same), _NO_PAIRS),
            "exact_scored": self._share(same & both, both, _NO_SCORES),
            "span_characters": self._f1(2 * self.overlap.characters, self.overlap.marked, items),
            "span_overlap": self._f1(self.overlap.met, self.overlap.stretches, items),
        }

    def kappa_of(self, group: int) -> Measure:
        """Return the kappa of one pair of coders over all items."""
        items = slice(None)
        both = (self.scored == 2) & (self.group == group)[:, None]
        return self._kappa(both, items)

    def counts(self, items: slice) -> Mapping[str, Mapping[str, int]]:
        """Return how many pairs of answers there are, by how many of the two say something."""
        scored = self.scored[:, items]
        first, second = self._marked(items)
        by_both, by_one = (first & second).sum(), (first != second).sum()
        return {
            "answers": {
                "both": int((scored == 2).sum()),
                "one": int((scored == 1).sum()),
                "none": int((scored == 0).sum()),
            },
            "marks": {
                "both": int(by_both),
                "one": int(by_one),
                "none": scored.size - int(by_both) - int(by_one),
            },
        }

    def _kappa(self, both: BoolArray, items: slice) -> Measure:
        sums = moments(self._first[:, items], self._second[:, items], both)
        width = max(self.group_count, 1)
        table = np.zeros((self.sheets.cases, width, MOMENTS))
        np.add.at(table, (self._case, self.group), sums)
        return _measure(table.reshape(-1, width * MOMENTS), mean_kappa, n=int(both.sum()))

    def _alpha(self, both: BoolArray, items: slice) -> Measure:
        table = self._coincidences[:, items].sum(axis=1)
        return _measure(table, ordinal_alpha(LEVELS), n=int(both.sum()))

    @cached_property
    def _coincidences(self) -> Array:
        """(cases, 8, k)"""
        cases = self.sheets.cases
        if self.with_program:
            beside = np.array([self._first, self._second], dtype=np.int8)
            by_pair = [coincidences(beside[:, :, place], levels=LEVELS) for place in range(8)]
            return np.stack([self._by_case(one) for one in by_pair], axis=1)
        answers = np.full((len(self.sheets.coders) - 1, cases, 8), MISSING, dtype=np.int8)
        is_rater = self.sheets.coder < len(answers)
        places = self.sheets.coder[is_rater], self.sheets.case[is_rater]
        answers[places] = self.sheets.answers[is_rater]
        return np.stack(
            [coincidences(answers[:, :, place], levels=LEVELS) for place in range(8)], axis=1
        )

    def _share(self, some: BoolArray, of: BoolArray, undefined: str) -> Measure:
        columns = np.stack([some.sum(axis=1), of.sum(axis=1)], axis=1, dtype=np.float64)
        part, whole = self._by_case(columns).T
        return ratio(part, whole, undefined=undefined)

    def _f1(self, shared: Array, marked: Array, items: slice) -> Measure:
        texts = [one.reshape(-1, len(ITEMS))[:, items].sum(axis=1) for one in (shared, marked)]
        part, whole = self._by_case(np.stack(texts, axis=1)).T
        is_marked = [bool(side.any()) for side in self._marked(slice(None))]
        if any(is_marked) and not all(is_marked):
            # Who marks no words of any item says nothing about evidence: that is no disagreement.
            return ratio(0 * part, 0 * whole, undefined=_NO_MARKS_OF_ONE)
        return ratio(part, whole, undefined=_NO_MARKS)

    def _marked(self, items: slice) -> Sequence[BoolArray]:
        """Return which items the first and the second of each pair marked, (pairs, items)."""
        sides = self.overlap.by_first, self.overlap.by_second
        return [side.reshape(-1, len(ITEMS))[:, items] for side in sides]

    def _by_case(self, rows: Array) -> Array:
        table = np.zeros((self.sheets.cases, rows.shape[1]))
        np.add.at(table, self._case, rows)
        return table


def _measure(by_case: ArrayLike, combine: Callable[[Array], Array], *, n: int) -> Measure:
    return Measure(
        statistics=statistics(by_case),
        combine=combine,
        n=n,
        undefined=_ONE_VALUE if n else _NO_SCORES,
    )
