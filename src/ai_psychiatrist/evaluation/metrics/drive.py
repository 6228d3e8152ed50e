"""How many scores the cited evidence drives, for which no label is needed."""

from dataclasses import dataclass

from numpy.typing import ArrayLike

from ai_psychiatrist.domain.drive import DriveVerdict
from ai_psychiatrist.evaluation.metrics.items import ITEMS
from ai_psychiatrist.evaluation.metrics.registry import measured
from ai_psychiatrist.evaluation.metrics.tree import Tree
from ai_psychiatrist.evaluation.scores.prediction_columns import PredictionColumns
from ai_psychiatrist.statistics.arrays import BoolArray
from ai_psychiatrist.statistics.measure import Measure, by_unit, ratio

NO_VERDICTS = "no score has a verdict: the run was made without --ablate, or its calls failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class DrivenItems:
    """The verdicts on the scores of units, (units, places)."""

    is_driven: BoolArray
    is_over_determined: BoolArray
    is_not_driven: BoolArray
    is_undetermined: BoolArray

    @property
    def has_verdict(self) -> BoolArray:
        """Where the evidence is known to drive the score, or not to."""
        return self.is_driven | self.is_over_determined | self.is_not_driven

    def share(self, marks: BoolArray, of: BoolArray) -> Measure:
        """Return the share of marked items among some."""
        return ratio(_sums(marks), _sums(of), undefined=NO_VERDICTS)


class AllDrivenItems(DrivenItems):
    """Of all items."""


def drive_section(predictions: PredictionColumns) -> dict[str, Tree]:
    """Return the shares of verdicts over all items and by item, and how many there are of each."""
    found = predictions.rows.drive
    marks = {verdict: found == place for place, verdict in enumerate(DriveVerdict)}
    return {
        **measured(_items(AllDrivenItems, marks, slice(None))),
        "counts": _counts(marks, slice(None)),
        "by_item": {
            item: {
                "label": item.label,
                **measured(_items(DrivenItems, marks, slice(place, place + 1))),
                "counts": _counts(marks, slice(place, place + 1)),
            }
            for place, item in enumerate(ITEMS)
        },
    }


def _items(
    kind: type[DrivenItems], marks: dict[DriveVerdict, BoolArray], places: slice
) -> DrivenItems:
    return kind(
        is_driven=marks[DriveVerdict.EVIDENCE_DRIVEN][:, places],
        is_over_determined=marks[DriveVerdict.OVER_DETERMINED][:, places],
        is_not_driven=marks[DriveVerdict.NOT_EVIDENCE_DRIVEN][:, places],
        is_undetermined=marks[DriveVerdict.UNDETERMINED][:, places],
    )


def _counts(marks: dict[DriveVerdict, BoolArray], places: slice) -> dict[str, Tree]:
    return {verdict.value: int(mark[:, places].sum()) for verdict, mark in marks.items()}


def _sums(marks: BoolArray) -> ArrayLike:
    return by_unit(marks)
