"""Predictions beside labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ai_psychiatrist.domain.phq8 import Severity, TotalScore, severity_of
from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.metrics.items import ITEMS, AllItems, RatedItems
from ai_psychiatrist.evaluation.scores.prediction import UnitPrediction, failed_prediction
from ai_psychiatrist.statistics.bootstrap import Owners, owners_of
from ai_psychiatrist.statistics.measure import Array


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
    def items(self) -> AllItems:
        """Scores beside labels."""
        said = [[unit.score(item) for item in ITEMS] for unit in self.predictions]
        truth = [[unit.items.get(item) for item in ITEMS] for unit in self.labels]
        return AllItems.of(said, truth, places=len(ITEMS))

    @cached_property
    def ranges(self) -> tuple[TotalScore, ...]:
        """The ranges of the predicted totals."""
        return tuple(unit.range for unit in self.predictions)

    @cached_property
    def confidences(self) -> dict[str, Array]:
        """What `signal_values` has read, by signal."""
        return {}

    @cached_property
    def rated(self) -> RatedItems:
        """A second rater's labels beside the first one's."""
        second = [[unit.second_items.get(item) for item in ITEMS] for unit in self.labels]
        truth = [[unit.items.get(item) for item in ITEMS] for unit in self.labels]
        return RatedItems.of(second, truth, places=len(ITEMS))

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
    known = [score for item in ITEMS if (score := labels.items.get(item)) is not None]
    return sum(known) if len(known) == len(ITEMS) else None
