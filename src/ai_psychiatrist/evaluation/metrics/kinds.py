"""Kinds of data that metrics are of, where predictions stand beside labels."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_psychiatrist.domain.phq8 import MAX_ITEM_SCORE, Item
from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.metrics.run_metrics import Scale
from ai_psychiatrist.evaluation.scores.predicted_units import (
    UNKNOWN,
    PredictedUnits,
    UnitRows,
    predicted_units,
)
from ai_psychiatrist.evaluation.scores.prediction import UnitPrediction
from ai_psychiatrist.statistics.arrays import Array, BoolArray, two_dimensional
from ai_psychiatrist.statistics.bootstrap import Owners, owners_of
from ai_psychiatrist.statistics.kappa import moments
from ai_psychiatrist.statistics.measure import Measure

NO_LABEL: Final = "no item has a label"
NO_LABELLED_SCORE: Final = "no item has both a label and a score"
NO_TOTAL: Final = "no unit has a labelled total"


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Predicted and true whole numbers, (units, places); below 0 is not known."""

    no_pair: ClassVar[str]
    """The reason to give where no number is known on both sides."""
    no_truth: ClassVar[str]
    points: ClassVar[Scale]

    said: Array
    truth: Array

    @classmethod
    def beside(cls, said: ArrayLike, truth: ArrayLike) -> Self:
        """Stand columns of (units,) or (units, places) beside each other."""
        sides = [two_dimensional(np.asarray(side, dtype=np.float64)) for side in (said, truth)]
        return cls(said=sides[0], truth=sides[1])

    def only(self, place: int) -> Self:
        """Return the pairs of one place."""
        places = slice(place, place + 1)
        return type(self)(said=self.said[:, places], truth=self.truth[:, places])

    @cached_property
    def is_true(self) -> BoolArray:
        """Where the truth is known."""
        return self.truth >= 0

    @cached_property
    def is_both(self) -> BoolArray:
        """Where both are known."""
        return (self.said >= 0) & self.is_true

    @cached_property
    def distance(self) -> Array:
        """How far apart they are; 0 wherever one is not known."""
        return np.where(self.is_both, np.abs(self.said - self.truth), 0.0)

    @cached_property
    def is_right(self) -> BoolArray:
        """Where they are the same."""
        is_right: BoolArray = self.is_both & (self.distance == 0)
        return is_right

    @cached_property
    def answered(self) -> Array:
        """How many places of each unit are known on both sides."""
        return np.asarray(self.is_both.sum(axis=1), dtype=np.float64)

    @cached_property
    def asked(self) -> Array:
        """How many places of each unit have a known truth."""
        return np.asarray(self.is_true.sum(axis=1), dtype=np.float64)

    @cached_property
    def moments(self) -> Array:
        """How many pairs each unit has, and its sums of x, y, x², y² and xy."""
        return moments(self.said, self.truth, self.is_both)

    def of_moments(self, combine: Callable[[Array], Array], *, undefined: str) -> Measure:
        """Return a measure of the sums of `moments`; `undefined`: why, where there are pairs."""
        return Measure(
            statistics=self.moments, combine=combine, n=self.count, undefined=self.reason(undefined)
        )

    @property
    def count(self) -> int:
        """How many pairs there are."""
        return int(self.is_both.sum())

    def reason(self, otherwise: str) -> str:
        """Return why a figure over the pairs is not defined."""
        return otherwise if self.count else "nothing to compare"


class ScoredItems(Pairs):
    """Some items of all units."""

    no_pair = NO_LABELLED_SCORE
    no_truth = NO_LABEL
    points = Scale.ITEM_POINTS


class AllItems(ScoredItems):
    """The eight items of all units."""


class RatedItems(Pairs):
    """A second rater's labels and the first one's: how well people agree."""

    no_pair = "no item has the labels of two raters"
    no_truth = NO_LABEL
    points = Scale.ITEM_POINTS


class ExactTotals(Pairs):
    """Totals of units whose eight items are all scored."""

    no_pair = "no unit has both a labelled total and an exact one"
    no_truth = NO_TOTAL
    points = Scale.TOTAL_POINTS


class Severities(Pairs):
    """Bands; one is decided when all totals of the range share it."""

    no_pair = "no unit has both a labelled total and a range within one band"
    no_truth = NO_TOTAL
    points = Scale.AGREEMENT


@dataclass(frozen=True, kw_only=True)
class TotalRanges:
    """The smallest and the largest possible total of each unit, (units,)."""

    no_truth = NO_TOTAL
    points = Scale.TOTAL_POINTS

    low: Array
    high: Array
    truth: Array
    """Below 0 where it is not known."""

    @property
    def is_true(self) -> BoolArray:
        """Where the truth is known."""
        return self.truth >= 0

    @property
    def off_middle(self) -> Array:
        """How far the truth is from the middle; 0 where it is not known."""
        return np.where(self.is_true, np.abs((self.low + self.high) / 2 - self.truth), 0.0)


@dataclass(frozen=True, kw_only=True)
class Classifier:
    """Units labelled as depressed or not, and what a classifier says of them, (units,)."""

    no_truth = "no unit is labelled as depressed or not"

    is_case: BoolArray
    is_control: BoolArray
    yes: BoolArray
    no: BoolArray
    """A unit that is neither `yes` nor `no` is undecided."""

    @property
    def asked(self) -> Array:
        """Which units are labelled."""
        return (self.is_case | self.is_control).astype(np.float64)

    @property
    def answered(self) -> Array:
        """Which of them are decided."""
        return self.asked * (self.yes | self.no)


@dataclass(frozen=True, kw_only=True)
class RangeClassifier(Classifier):
    """One by the range of the total."""

    middle: Array


@dataclass(frozen=True, kw_only=True)
class Rates:
    """The units of a classifier as hits, misses, false alarms and passes."""

    no_pair = "no labelled unit is decided"

    hits: BoolArray
    misses: BoolArray
    alarms: BoolArray
    passes: BoolArray

    @cached_property
    def cases(self) -> BoolArray:
        """Labelled as depressed."""
        return self.hits | self.misses

    @cached_property
    def controls(self) -> BoolArray:
        """Labelled as not depressed."""
        return self.alarms | self.passes

    @cached_property
    def everyone(self) -> BoolArray:
        """Labelled as either."""
        return self.cases | self.controls


class DecidedUnits(Rates):
    """Without the undecided ones."""


class AllUnits(Rates):
    """An undecided case is a miss, an undecided control a false alarm."""


Numbers = NDArray[np.int8]


@dataclass(frozen=True, kw_only=True)
class LabelledUnits:
    """Units in the order of their ids, so that the order of files changes nothing.

    A unit with labels and without a prediction counts as failed: every item of it is unknown.
    """

    unit_ids: Sequence[str]
    rows: UnitRows
    """(units,)"""
    true_items: Numbers
    """(units, 8): 0-3, `UNKNOWN` for what is not known, as below."""
    second_items: Numbers
    """(units, 8): those of a second rater."""
    given_totals: Numbers
    """(units,): 0-24."""
    flags: Numbers
    """(units,): 1 for depressed, 0 for not."""
    owners: Owners
    """(units,): whose each unit is, numbered from 0."""
    missing: int
    """How many of the units have no prediction."""

    @cached_property
    def items(self) -> AllItems:
        """Scores beside labels."""
        return AllItems.beside(self.rows["scores"], self.true_items)

    @cached_property
    def rated(self) -> RatedItems:
        """A second rater's labels and the first one's."""
        return RatedItems.beside(self.second_items, self.true_items)

    @cached_property
    def low(self) -> NDArray[np.int64]:
        """(units,): the smallest total that each can have."""
        return np.asarray(np.maximum(self.rows["scores"], 0).sum(axis=1), dtype=np.int64)

    @cached_property
    def high(self) -> NDArray[np.int64]:
        """(units,): the largest one."""
        unknown = (self.rows["scores"] < 0).sum(axis=1)
        return np.asarray(self.low + MAX_ITEM_SCORE * unknown, dtype=np.int64)

    @cached_property
    def totals(self) -> NDArray[np.int64]:
        """(units,): the labelled totals, `UNKNOWN` where there is none."""
        has_all = (self.true_items != UNKNOWN).all(axis=1)
        follows = np.where(has_all, self.true_items.sum(axis=1, dtype=np.int64), UNKNOWN)
        return np.where(self.given_totals == UNKNOWN, follows, self.given_totals)


def beside_labels(
    predictions: Sequence[UnitPrediction] | PredictedUnits,
    labels: Mapping[str, Labels],
    participants: Mapping[str, str] | None = None,
) -> LabelledUnits:
    """Stand predictions and labels side by side; units without any label are left out.

    `participants`: unit id → whose it is; a unit that is not in it is a participant's only one.
    """
    unit_ids = sorted(unit for unit, one in labels.items() if is_label(one))
    known = [labels[unit] for unit in unit_ids]
    predicted = predicted_units(predictions).among(unit_ids)
    return LabelledUnits(
        unit_ids=unit_ids,
        rows=predicted.rows,
        true_items=_items_of([one.items for one in known]),
        second_items=_items_of([one.second_items for one in known]),
        given_totals=_known(one.total for one in known),
        flags=_known(one.binary for one in known),
        owners=owners_of(unit_ids, participants or {}),
        missing=predicted.missing,
    )


def is_label(labels: Labels) -> bool:
    """Return whether there is anything to compare with."""
    values = (labels.total, labels.binary, *labels.items.values())
    return any(value is not None for value in values)


def _items_of(every: Sequence[Mapping[Item, int | None]]) -> Numbers:
    scores = _known(items.get(item) for items in every for item in Item)
    return scores.reshape(len(every), len(Item))


def _known(values: Iterable[int | None]) -> Numbers:
    return np.array([UNKNOWN if value is None else value for value in values], dtype=np.int8)
