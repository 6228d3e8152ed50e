"""Which units are furthest from their labels, and which of them two runs score differently."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ai_psychiatrist.domain.phq8 import MAX_ITEM_SCORE, Item
from ai_psychiatrist.evaluation.metrics.agreement import ITEMS
from ai_psychiatrist.evaluation.metrics.kinds import LabelledUnits
from ai_psychiatrist.statistics.arrays import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongScore:
    """A score beside the label that it misses."""

    score: int
    label: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitError:
    """How far the scores of a unit are from its labels."""

    unit_id: str
    points_off: float
    """Over the labelled items, an unknown one counted as 3; where only the total has a label, from
    the middle of the range of possible totals."""
    total_score_min: int
    total_score_max: int
    label_total: int | None
    wrong: Mapping[Item, WrongScore]
    """The scored items that miss their label, the furthest first."""
    unknown: Sequence[Item]
    """Items without a score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LargestErrors:
    """The units of a run that are furthest from their labels."""

    units: Sequence[UnitError]
    """The largest error first; units without an error are not among them."""
    without_scores: int
    """Labelled units whose scoring did not finish: they are not listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitChange:
    """A unit in two runs."""

    first: UnitError
    second: UnitError


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitChanges:
    """How the errors of units with labelled items or totals differ between two runs.

    A failed unit has all items unknown.
    """

    better: int
    """Units with a smaller error in the second run."""
    worse: int
    equal: int
    most_changed: Sequence[UnitChange]
    """The largest difference first; units with equal errors are not among them."""


def largest_errors(units: LabelledUnits, most: int) -> LargestErrors:
    """Return at most so many units, the largest error first."""
    off, is_scored = _points_off(units), units.rows["has_items"]
    listed = (is_scored & (off > 0)).nonzero()[0]
    order = sorted(listed.tolist(), key=lambda place: (-off[place], place))
    return LargestErrors(
        units=[_unit_error(units, off, place) for place in order[:most]],
        without_scores=int((~is_scored).sum()),
    )


def unit_changes(first: LabelledUnits, second: LabelledUnits, most: int) -> UnitChanges:
    """Compare the errors of the same units in two runs, and return at most so many that changed."""
    before, after = _points_off(first), _points_off(second)
    change = after - before
    differ = ((change < 0) | (change > 0)).nonzero()[0]
    order = sorted(differ.tolist(), key=lambda place: (-abs(change[place]), place))
    return UnitChanges(
        better=int((change < 0).sum()),
        worse=int((change > 0).sum()),
        equal=int((change == 0).sum()),
        most_changed=[
            UnitChange(
                first=_unit_error(first, before, place), second=_unit_error(second, after, place)
            )
            for place in order[:most]
        ],
    )


def _points_off(units: LabelledUnits) -> Array:
    """Return the error of each unit, (units,); NaN where only the flag has a label."""
    items = units.items
    charged = np.where(items.is_both, items.distance, MAX_ITEM_SCORE * items.is_true).sum(axis=1)
    has_total = units.totals >= 0
    of_total = np.where(has_total, np.abs((units.low + units.high) / 2 - units.totals), np.nan)
    return np.where(items.is_true.any(axis=1), charged, of_total)


def _unit_error(units: LabelledUnits, off: Array, place: int) -> UnitError:
    scores, labels = units.rows["scores"][place].tolist(), units.true_items[place].tolist()
    known = list(zip(ITEMS, scores, labels, strict=True))
    wrong = [
        (item, WrongScore(score=score, label=label))
        for item, score, label in known
        if min(score, label) >= 0 and score != label
    ]
    total = int(units.totals[place])
    return UnitError(
        unit_id=units.unit_ids[place],
        points_off=float(off[place]),
        total_score_min=int(units.low[place]),
        total_score_max=int(units.high[place]),
        label_total=None if total < 0 else total,
        wrong=dict(sorted(wrong, key=lambda one: -abs(one[1].score - one[1].label))),
        unknown=[item for item, score, _ in known if score < 0],
    )
