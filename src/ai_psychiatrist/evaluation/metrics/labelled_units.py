"""Predictions beside labels, as arrays of (units, 8 items)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ai_psychiatrist.domain.phq8 import Item, Severity, severity_of
from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.scores.prediction import UnitPrediction, failed_prediction
from ai_psychiatrist.statistics.bootstrap import Owners, owners_of
from ai_psychiatrist.statistics.measure import Array, BoolArray

ITEMS = tuple(Item)


@dataclass(frozen=True, kw_only=True)
class LabelledUnits:
    """Units in the order of their ids, so that the order of files changes nothing.

    A unit with labels and without a prediction counts as failed: every item of it is unknown.
    """

    predictions: tuple[UnitPrediction, ...]
    labels: tuple[Labels, ...]
    owners: Owners
    """(units,): whose each unit is, numbered from 0."""

    @cached_property
    def is_scored(self) -> BoolArray:
        """Where the run gave a score."""
        return _known([[unit.score(item) for item in ITEMS] for unit in self.predictions])

    @cached_property
    def is_labelled(self) -> BoolArray:
        """Where there is a label."""
        return _known([[unit.items.get(item) for item in ITEMS] for unit in self.labels])

    @cached_property
    def is_both(self) -> BoolArray:
        """Where there is a label and a score."""
        return self.is_scored & self.is_labelled

    @cached_property
    def score(self) -> Array:
        """The scores; to be read only where `is_scored`."""
        return _filled([[unit.score(item) for item in ITEMS] for unit in self.predictions])

    @cached_property
    def label(self) -> Array:
        """The labels; to be read only where `is_labelled`."""
        return _filled([[unit.items.get(item) for item in ITEMS] for unit in self.labels])

    @cached_property
    def is_labelled_twice(self) -> BoolArray:
        """Where a second rater gave a label as well."""
        return _known([[unit.second_items.get(item) for item in ITEMS] for unit in self.labels])

    @cached_property
    def second_label(self) -> Array:
        """A second rater's labels; to be read only where `is_labelled_twice`."""
        return _filled([[unit.second_items.get(item) for item in ITEMS] for unit in self.labels])

    @cached_property
    def loss(self) -> Array:
        """The absolute errors, 0-3; 0 wherever `is_both` is not so."""
        return np.where(self.is_both, np.abs(self.score - self.label), 0.0)

    @cached_property
    def totals(self) -> tuple[int | None, ...]:
        """The labelled totals."""
        return tuple(map(_total, self.labels))

    @cached_property
    def severities(self) -> tuple[Severity | None, ...]:
        """The bands of the labelled totals."""
        return tuple(None if total is None else severity_of(total) for total in self.totals)


def beside_labels(
    predictions: Sequence[UnitPrediction],
    labels: Mapping[str, Labels],
    participants: Mapping[str, str] | None = None,
) -> LabelledUnits:
    """Stand predictions and labels side by side; units without any label are left out.

    `participants`: unit id → whose it is; a unit that is not in it is a participant's only one.
    """
    by_unit = {prediction.unit_id: prediction for prediction in predictions}
    units = sorted(unit for unit, label in labels.items() if is_label(label))
    return LabelledUnits(
        predictions=tuple(by_unit.get(unit) or failed_prediction(unit) for unit in units),
        labels=tuple(labels[unit] for unit in units),
        owners=owners_of(units, participants or {}),
    )


def is_label(labels: Labels) -> bool:
    """Whether there is anything in the labels to compare with."""
    known = (labels.total, labels.binary, *labels.items.values())
    return any(value is not None for value in known)


def _total(labels: Labels) -> int | None:
    if labels.total is not None:
        return labels.total
    scores = [labels.items.get(item) for item in ITEMS]
    known = [score for score in scores if score is not None]
    return sum(known) if len(known) == len(ITEMS) else None


def _known(rows: Sequence[Sequence[int | None]]) -> BoolArray:
    return _table([[value is not None for value in row] for row in rows]).astype(np.bool_)


def _filled(rows: Sequence[Sequence[int | None]]) -> Array:
    return _table([[0 if value is None else value for value in row] for row in rows])


def _table(rows: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(ITEMS))
