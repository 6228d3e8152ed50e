"""Predictions beside labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ai_psychiatrist.domain.phq8 import MAX_ITEM_SCORE
from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.metrics.items import AllItems, RatedItems
from ai_psychiatrist.evaluation.scores.column_reader import columns_of
from ai_psychiatrist.evaluation.scores.label_columns import LabelColumns, label_columns_of
from ai_psychiatrist.evaluation.scores.prediction import UnitPrediction
from ai_psychiatrist.evaluation.scores.prediction_columns import UNKNOWN, PredictionColumns
from ai_psychiatrist.statistics.bootstrap import Owners, owners_of
from ai_psychiatrist.statistics.ranks import RankedValues


@dataclass(frozen=True, kw_only=True)
class LabelledUnits:
    """Units in the order of their ids, so that the order of files changes nothing.

    A unit with labels and without a prediction counts as failed: every item of it is unknown.
    """

    predictions: PredictionColumns
    labels: LabelColumns
    owners: Owners
    """(units,): whose each unit is, numbered from 0."""

    @cached_property
    def items(self) -> AllItems:
        """Scores beside labels."""
        return AllItems.beside(self.predictions.rows.scores, self.labels.items)

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
    def ranked(self) -> dict[str, RankedValues]:
        """What `ranked_signal` has read, by signal."""
        return {}

    @cached_property
    def rated(self) -> RatedItems:
        """A second rater's labels beside the first one's."""
        return RatedItems.beside(self.labels.second_items, self.labels.items)

    @cached_property
    def totals(self) -> NDArray[np.int8]:
        """(units,): the labelled totals, `UNKNOWN` where there is none."""
        follows = np.where(self.labels.has_all_items, self.labels.items.sum(axis=1), UNKNOWN)
        given = self.labels.total
        return np.where(given == UNKNOWN, follows, given).astype(np.int8)


def beside_labels(
    predictions: Sequence[UnitPrediction] | PredictionColumns,
    labels: Mapping[str, Labels] | LabelColumns,
    participants: Mapping[str, str] | None = None,
) -> LabelledUnits:
    """Stand predictions and labels side by side; units without any label are left out.

    `participants`: unit id → whose it is; a unit that is not in it is a participant's only one.
    """
    known = label_columns_of(labels)
    known = known.where(known.is_label)
    return LabelledUnits(
        predictions=columns_of(predictions).at(known.unit_ids),
        labels=known,
        owners=owners_of(known.unit_ids, participants or {}),
    )
