"""What the figures of agreement are computed from, for pairs of coders: raters and the program."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ai_psychiatrist.domain.phq8 import MAX_ITEM_SCORE, Item
from ai_psychiatrist.domain.review import Committed, ItemRating
from ai_psychiatrist.statistics.alpha import MISSING, Values, coincidences, ordinal_alpha
from ai_psychiatrist.statistics.arrays import Array, BoolArray
from ai_psychiatrist.statistics.kappa import MOMENTS, mean_kappa, moments
from ai_psychiatrist.statistics.measure import Measure, ratio, statistics
from ai_psychiatrist.statistics.span_overlap import Marks, Overlap, Places, marks_of, overlap

ITEMS: Final = tuple(Item)
PROGRAM: Final = "program"
MOST_PAIRS: Final = 6
"""Pairs of coders that have a kappa of their own: those of four people. All others are one."""
LEVELS: Final = MAX_ITEM_SCORE + 1
_NO_SCORES: Final = "no item has scores of both"
_ONE_VALUE: Final = "only one value occurs, so there is no agreement beyond chance to measure"
_NO_PAIRS: Final = "no case has two that can be compared"
_NO_MARKS: Final = "no one marked evidence"
_NO_MARKS_OF_ONE: Final = "one of the two sides marked no evidence at all"


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedCase:
    """What the program and the raters say of one interview, without a word of it."""

    subject: str
    """Whose interview it is: cases of one subject are not independent of one another."""
    program: tuple[ItemRating, ...]
    """All eight items, without a score where one is unknown; empty where there is no result."""
    committed: Mapping[str, Committed]
    """What each rater committed first."""
    is_random: bool
    """Whether it belongs to the tenth that is drawn whatever the program makes of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coded:
    """Rated cases as arrays: scores and marks of every coder, of whom the program is the last."""

    coders: tuple[str, ...]
    answers: Values
    """(coders, cases, 8), `MISSING` where there is no score."""
    has_scores: BoolArray
    """(coders, cases): whether items were scored; each without a score is then "cannot tell"."""
    has_marks: BoolArray
    """(coders, cases): whether evidence was looked for, found or not."""
    marks: Mapping[tuple[int, int], Sequence[tuple[int, int, int]]]
    """By coder and case: place of the item, start, end."""

    @classmethod
    def of(cls, cases: Sequence[RatedCase], raters: Sequence[str]) -> "Coded":
        """Return what the raters named, and the program, say of the cases."""
        shape = (len(raters) + 1, len(cases))
        answers = np.full((*shape, len(ITEMS)), MISSING, dtype=np.int8)
        has_scores, has_marks = np.zeros((2, *shape), dtype=np.bool_)
        marks: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
        for at, case in enumerate(cases):
            for coder, name in enumerate((*raters, PROGRAM)):
                said = case.committed.get(name)
                items = case.program if coder == len(raters) else said.items if said else ()
                has_scores[coder, at] = bool(items) and (said is None or said.has_scores)
                has_marks[coder, at] = bool(items) and (said is None or said.has_evidence)
                for one in items:
                    place = ITEMS.index(one.item)
                    answers[coder, at, place] = MISSING if one.score is None else one.score
                    found = [(place, span.start, span.end) for span in one.evidence]
                    marks.setdefault((coder, at), []).extend(found)
        return cls(
            coders=(*raters, PROGRAM),
            answers=answers,
            has_scores=has_scores,
            has_marks=has_marks,
            marks=marks,
        )

    def table(self, coders: Sequence[int], item: int | None) -> Array:
        """Return the scores of an item, or without one the totals, as (cases, coders).

        NaN where a score is missing, in a total where any of the eight is.
        """
        scores = self.answers[list(coders)].astype(np.float64)
        scores[scores == MISSING] = np.nan
        found: Array = (scores.sum(axis=2) if item is None else scores[:, :, item]).T
        return found


@dataclass(frozen=True, kw_only=True)
class Compared:
    """Pairs of coders, and everything that is counted of them by case and item."""

    coded: Coded
    with_program: bool
    """Whether each rater is compared with the program, and not with the other raters."""

    @cached_property
    def _common(self) -> list[tuple[tuple[int, int], Places]]:
        """The pairs of coders and the cases that both coded, those with most of them first."""
        raters = range(len(self.coded.coders) - 1)
        is_there = self.coded.has_scores | self.coded.has_marks
        pairs = [(one, len(raters)) for one in raters]
        if not self.with_program:
            pairs = list(combinations(raters, 2))
        found = [(pair, np.flatnonzero(is_there[pair[0]] & is_there[pair[1]])) for pair in pairs]
        return sorted((one for one in found if len(one[1])), key=lambda one: -len(one[1]))

    @property
    def groups(self) -> list[tuple[int, int]]:
        """The pairs of coders, those with most cases in common first."""
        return [pair for pair, _ in self._common]

    @property
    def group_count(self) -> int:
        """How many kappas there are."""
        return min(len(self._common), MOST_PAIRS + 1)

    @cached_property
    def group(self) -> Places:
        """(pairs,): of which pair of coders each is; the last kappa is that of all others."""
        counts = [len(cases) for _, cases in self._common]
        return np.minimum(np.repeat(np.arange(len(counts)), counts), MOST_PAIRS)

    @cached_property
    def _case(self) -> Places:
        """(pairs,)"""
        none = np.empty(0, dtype=np.int64)
        return np.concatenate([none, *(cases for _, cases in self._common)])

    @cached_property
    def _coders(self) -> Places:
        """(2, pairs): the first and the second coder of each pair."""
        counts = [len(cases) for _, cases in self._common]
        return np.array(self.groups, dtype=np.int64).reshape(-1, 2).repeat(counts, axis=0).T

    @cached_property
    def _scores(self) -> tuple[Array, Array]:
        """(pairs, 8) each: what the first and the second coder of each pair answered."""
        first, second = self.coded.answers[self._coders, self._case].astype(np.float64)
        return first, second

    @cached_property
    def _rated(self) -> BoolArray:
        """(pairs, 1): whether both scored items."""
        return self._of_both(self.coded.has_scores)

    @cached_property
    def _marked(self) -> BoolArray:
        """(pairs, 1): whether both looked for evidence."""
        return self._of_both(self.coded.has_marks)

    def _of_both(self, coded: BoolArray) -> BoolArray:
        first, second = coded[self._coders, self._case]
        found: BoolArray = (first & second)[:, None]
        return found

    @cached_property
    def _scored(self) -> Array:
        """(pairs, 8): how many of the two give a score."""
        first, second = self._scores
        counts: Array = (first != MISSING).astype(np.float64) + (second != MISSING)
        return counts

    @cached_property
    def overlap(self) -> Overlap:
        """What they share of their marks, (pairs · 8,) each."""
        texts = len(self._case) * len(ITEMS)
        return overlap(self._marks(0), self._marks(1), texts=texts)

    def _marks(self, side: int) -> Marks:
        coders, cases = self._coders[side].tolist(), self._case.tolist()
        places = zip(coders, cases, self._marked.ravel(), strict=True)
        rows = [
            (number * len(ITEMS) + item, start, end)
            for number, (coder, case, is_marked) in enumerate(places)
            if is_marked
            for item, start, end in self.coded.marks.get((coder, case), ())
        ]
        return marks_of(*np.array(rows, dtype=np.int64).reshape(-1, 3).T)

    def measures(self, items: slice) -> dict[str, Measure]:
        """Return the figures over some of the items."""
        both = self._scored[:, items] == 2
        first, second = self._scores
        same = (first == second)[:, items] & self._rated
        return {
            "kappa": self._kappa(both, items),
            "alpha": self._alpha(both, items),
            "exact": self._share(same, np.ones_like(same) & self._rated, _NO_PAIRS),
            "exact_scored": self._share(same & both, both, _NO_SCORES),
            "span_characters": self._f1(2 * self.overlap.characters, self.overlap.marked, items),
            "span_overlap": self._f1(self.overlap.met, self.overlap.stretches, items),
        }

    def kappa_of(self, group: int) -> Measure:
        """Return the kappa of one pair of coders over all items."""
        both = (self._scored == 2) & (self.group == group)[:, None]
        return self._kappa(both, slice(None))

    def counts(self, items: slice) -> Mapping[str, Mapping[str, int]]:
        """Return how many pairs of answers there are, by how many of the two say something."""
        scored = self._scored[self._rated[:, 0], items]
        first, second = self._has_marks(items)
        both, one = int((first & second).sum()), int((first != second).sum())
        texts = int(self._marked.sum()) * len(ITEMS[items])
        by_count = {"both": 2, "one": 1, "none": 0}
        return {
            "answers": {name: int((scored == count).sum()) for name, count in by_count.items()},
            "marks": {"both": both, "one": one, "none": texts - both - one},
        }

    def _kappa(self, both: BoolArray, items: slice) -> Measure:
        first, second = self._scores
        sums = moments(first[:, items], second[:, items], both)
        width = max(self.group_count, 1)
        table = np.zeros((self.coded.answers.shape[1], width, MOMENTS))
        np.add.at(table, (self._case, self.group), sums)
        return _measure(table.reshape(-1, width * MOMENTS), mean_kappa, n=int(both.sum()))

    def _alpha(self, both: BoolArray, items: slice) -> Measure:
        table = self._coincidences[:, items].sum(axis=1)
        return _measure(table, ordinal_alpha(LEVELS), n=int(both.sum()))

    @cached_property
    def _coincidences(self) -> Array:
        """(cases, 8, k)"""
        if self.with_program:
            beside = np.array(self._scores, dtype=np.int8)
            by_pair = [coincidences(beside[:, :, place], levels=LEVELS) for place in range(8)]
            return np.stack([self._by_case(one) for one in by_pair], axis=1)
        answers = self.coded.answers[:-1]
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
        is_marked = [bool(side.any()) for side in self._has_marks(slice(None))]
        if any(is_marked) and not all(is_marked):
            # Who marks no words of any item says nothing about evidence: that is no disagreement.
            return ratio(0 * part, 0 * whole, undefined=_NO_MARKS_OF_ONE)
        return ratio(part, whole, undefined=_NO_MARKS)

    def _has_marks(self, items: slice) -> Sequence[BoolArray]:
        """Return which items the first and the second of each pair marked, (pairs, items)."""
        sides = self.overlap.by_first, self.overlap.by_second
        return [side.reshape(-1, len(ITEMS))[:, items] for side in sides]

    def _by_case(self, rows: Array) -> Array:
        table = np.zeros((self.coded.answers.shape[1], rows.shape[1]))
        np.add.at(table, self._case, rows)
        return table


def _measure(by_case: ArrayLike, combine: Callable[[Array], Array], *, n: int) -> Measure:
    return Measure(
        statistics=statistics(by_case),
        combine=combine,
        n=n,
        undefined=_ONE_VALUE if n else _NO_SCORES,
    )
