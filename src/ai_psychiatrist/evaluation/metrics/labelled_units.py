"""Predictions beside labels."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ai_psychiatrist.domain.phq8 import MAX_ITEM_SCORE, Item
from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.metrics.kinds import AllItems, RatedItems
from ai_psychiatrist.evaluation.scores.predicted_units import (
    UNKNOWN,
    PredictedUnits,
    UnitRows,
    predicted_units,
)
from ai_psychiatrist.evaluation.scores.prediction import UnitPrediction
from ai_psychiatrist.statistics.bootstrap import Owners, owners_of

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
        """A second rater's labels beside the first one's."""
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
