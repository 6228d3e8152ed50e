"""Rated cases as arrays: answers and marks of everybody, and who stands beside whom."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.review import ItemRating
from ai_psychiatrist.reviews.rated_case import RatedCase
from ai_psychiatrist.statistics.alpha import MISSING, Values
from ai_psychiatrist.statistics.span_overlap import Marks, Places, marks_of

ITEMS: Final = tuple(Item)
_PLACE: Final = {item: place for place, item in enumerate(ITEMS)}
PROGRAM: Final = "program"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheets:
    """One sheet for each person, or program, and case: eight answers, and marks."""

    cases: int
    coders: tuple[str, ...]
    """The program is the last."""
    case: Places
    """(sheets,), as all below."""
    coder: Places
    answers: Values
    """(sheets, 8)"""
    first_mark: Places
    """(sheets + 1,): where each sheet's marks begin."""
    marks: NDArray[np.int64]
    """(marks, 3): place of the item, start, end."""

    def marks_on(self, sheets: Places) -> Marks:
        """Return the marks of some sheets; each item of each of these is a text."""
        counts = np.diff(self.first_mark)[sheets]
        rows = np.repeat(np.arange(len(sheets)), counts)
        before = np.cumsum(counts) - counts
        places = np.arange(counts.sum()) + np.repeat(self.first_mark[sheets] - before, counts)
        item, start, end = self.marks[places].T
        return marks_of(rows * len(ITEMS) + item, start, end)


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetPairs:
    """Two sheets of one case, (pairs,) each."""

    first: Places
    second: Places


def sheets_of(cases: Sequence[RatedCase], raters: Sequence[str]) -> Sheets:
    """Write down what the raters named, and the program, say of each case."""
    number = {rater: place for place, rater in enumerate(raters)}
    said = [
        (place, number.get(rater, len(raters)), items)
        for place, case in enumerate(cases)
        for rater, items in (
            *((rater, one.items) for rater, one in case.committed.items()),
            (PROGRAM, case.program),
        )
        if items
    ]
    marks = [_marks(items) for _, _, items in said]
    counts = np.array([len(one) for one in marks], dtype=np.int64)
    return Sheets(
        cases=len(cases),
        coders=(*raters, PROGRAM),
        case=np.array([case for case, _, _ in said], dtype=np.int64),
        coder=np.array([coder for _, coder, _ in said], dtype=np.int64),
        answers=np.array([_answers(items) for _, _, items in said], dtype=np.int8).reshape(-1, 8),
        first_mark=np.concatenate([[0], np.cumsum(counts)]),
        marks=np.array([mark for one in marks for mark in one], dtype=np.int64).reshape(-1, 3),
    )


def _answers(items: Sequence[ItemRating]) -> list[int]:
    scores = {one.item: one.score for one in items}
    return [MISSING if (score := scores[item]) is None else score for item in ITEMS]


def _marks(items: Sequence[ItemRating]) -> list[tuple[int, int, int]]:
    return [(_PLACE[one.item], span.start, span.end) for one in items for span in one.evidence]


def pairs_of_raters(sheets: Sheets) -> SheetPairs:
    """Stand every two raters of a case beside each other."""
    pairs = [pair for raters, _ in _by_case(sheets) for pair in combinations(raters, 2)]
    return _pairs(pairs)


def pairs_with_program(sheets: Sheets) -> SheetPairs:
    """Stand every rater of a case beside the program."""
    return _pairs(
        [
            (rater, one)
            for raters, program in _by_case(sheets)
            for rater in raters
            for one in program
        ]
    )


def _by_case(sheets: Sheets) -> list[tuple[list[int], list[int]]]:
    """Return the sheets of each case's raters, in the raters' order, and the program's, if any."""
    order = np.lexsort((sheets.coder, sheets.case))
    is_program = (sheets.coder[order] == len(sheets.coders) - 1).tolist()
    numbers = order.tolist()
    ends = np.cumsum(np.bincount(sheets.case, minlength=sheets.cases)).tolist()
    middles = [end - 1 if end and is_program[end - 1] else end for end in ends]
    return [
        (numbers[start:middle], numbers[middle:end])
        for (start, end), middle in zip(pairwise([0, *ends]), middles, strict=True)
    ]


def _pairs(pairs: Sequence[tuple[int, int]]) -> SheetPairs:
    table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return SheetPairs(first=table[:, 0], second=table[:, 1])
