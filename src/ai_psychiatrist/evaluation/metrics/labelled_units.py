"""Predictions beside labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ai_psychiatrist.domain.phq8 import MAX_ITEM_SCORE, Item
from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.metrics.items import ITEMS, AllItems, RatedItems
from ai_psychiatrist.evaluation.scores.column_reader import columns_of
from ai_psychiatrist.evaluation.scores.prediction import UnitPrediction
from ai_psychiatrist.evaluation.scores.prediction_columns import UNKNOWN, PredictionColumns
from ai_psychiatrist.statistics.bootstrap import Owners, owners_of
from ai_psychiatrist.statistics.measure import Array


@dataclass(frozen=True, kw_only=True)
class LabelledUnits:
    """Units in the order of their ids, so that the order of files changes nothing.

    A unit with labels and without a prediction counts as failed: every item of it is unknown.
    """

    predictions: PredictionColumns
    labels: tuple[Labels, ...]
    owners: Owners
    """(units,): whose each unit is, numbered from 0."""

    @cached_property
    def items(self) -> AllItems:
        """Scores beside labels."""
        return AllItems.beside(self.predictions.rows.scores, self._truth)

    @cached_property
    def _truth(self) -> NDArray[np.int8]:
        return _items_of([label.items for label in self.labels])

    @cached_property
    def low(self) -> NDArray[np.int64]:
        """(units,): the smallest total that each can have."""
        known = np.maximum(self.predictions.rows.scores, 0)
        return np.asarray(known.sum(axis=1), dtype=np.int64)

    @cached_property
    def high(self) -> NDArray[np.int64]:
        """(units,): the largest one."""
        unknown = (self.predictions.rows.scores < 0).sum(axis=1)
        return np.asarray(self.low + MAX_ITEM_SCORE * unknown, dtype=np.int64)

    @cached_property
    def confidences(self) -> dict[str, Array]:
        """What `signal_values` has read, by signal."""
        return {}

    @cached_property
    def rated(self) -> RatedItems:
        """A second rater's labels beside the first one's."""
        return RatedItems.beside(
            _items_of([label.second_items for label in self.labels]), self._truth
        )

    @cached_property
    def totals(self) -> NDArray[np.int8]:
        """(units,): the labelled totals, `UNKNOWN` where there is none."""
        given = [UNKNOWN if label.total is None else label.total for label in self.labels]
        totals = np.array(given, dtype=np.int8)
        has_items = (self._truth >= 0).all(axis=1)
        follows = np.where(has_items, self._truth.sum(axis=1), UNKNOWN)
        return np.where(totals == UNKNOWN, follows, totals).astype(np.int8)


def beside_labels(
    predictions: Sequence[UnitPrediction] | PredictionColumns,
    labels: Mapping[str, Labels],
    participants: Mapping[str, str] | None = None,
) -> LabelledUnits:
    """Stand predictions and labels side by side; units without any label are left out.

    `participants`: unit id → whose it is; a unit that is not in it is a participant's only one.
    """
    units = sorted(unit for unit, label in labels.items() if is_label(label))
    return LabelledUnits(
        predictions=columns_of(predictions).at(units),
        labels=tuple(labels[unit] for unit in units),
        owners=owners_of(units, participants or {}),
    )


def is_label(labels: Labels) -> bool:
    """Whether there is anything in the labels to compare with."""
    known = (labels.total, labels.binary, *labels.items.values())
    return any(value is not None for value in known)


def _items_of(every: Sequence[Mapping[Item, int | None]]) -> NDArray[np.int8]:
    """Return labels of items as (units, 8), `UNKNOWN` where there is none."""
    found = [score for items in every for score in map(items.get, ITEMS)]
    known = [UNKNOWN if score is None else score for score in found]
    return np.array(known, dtype=np.int8).reshape(len(every), len(ITEMS))
