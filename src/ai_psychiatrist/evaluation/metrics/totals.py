"""How near the totals are: exact ones alone, the ranges of all units, and the bands."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ai_psychiatrist.domain.phq8 import MAX_TOTAL_SCORE, Severity, severity_of
from ai_psychiatrist.evaluation.metrics.labelled_units import LabelledUnits
from ai_psychiatrist.evaluation.metrics.pairs import Pairs
from ai_psychiatrist.evaluation.metrics.registry import Scale, measured
from ai_psychiatrist.evaluation.metrics.tree import Tree
from ai_psychiatrist.evaluation.scores.prediction_columns import UNKNOWN
from ai_psychiatrist.statistics.arrays import Array, BoolArray

NO_TOTAL: Final = "no unit has a labelled total"
UNDECIDABLE: Final = "undecidable"


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
    is_true: BoolArray

    @property
    def off_middle(self) -> Array:
        """How far the truth is from the middle; 0 where it is not known."""
        return np.where(self.is_true, np.abs((self.low + self.high) / 2 - self.truth), 0.0)


def total_section(labelled: LabelledUnits) -> dict[str, Tree]:
    """Return errors of exact totals, and how well the ranges hold the truth."""
    low, high = labelled.low, labelled.high
    pairs = ExactTotals.beside(np.where(low == high, low, UNKNOWN), labelled.totals)
    ranges = TotalRanges(
        low=low.astype(np.float64),
        high=high.astype(np.float64),
        truth=pairs.truth[:, 0],
        is_true=pairs.is_true[:, 0],
    )
    return {"exact": measured(pairs), "range": measured(ranges)}


def severity_section(labelled: LabelledUnits) -> dict[str, Tree]:
    """Return how often the band is right, and which band is taken for which.

    A unit whose range spans several bands is undecidable; it has no error and is counted apart.
    """
    lower, upper = bands_of(labelled.low), bands_of(labelled.high)
    decided = np.where(lower == upper, lower, UNKNOWN)
    pairs = Severities.beside(decided, bands_of(labelled.totals))
    columns = np.where(pairs.is_said, pairs.said, len(Severity))
    return {
        **measured(pairs),
        "confusion": {
            "rows": [severity.label for severity in Severity],
            "columns": [*(severity.label for severity in Severity), UNDECIDABLE],
            "counts": _confusion(pairs.truth[pairs.is_true], columns[pairs.is_true]),
        },
    }


def bands_of(totals: NDArray[np.integer]) -> NDArray[np.intp]:
    """Return the bands of totals, `UNKNOWN` where these are."""
    bands = np.array([*map(severity_of, range(MAX_TOTAL_SCORE + 1)), UNKNOWN], dtype=np.intp)
    return np.asarray(bands[totals], dtype=np.intp)


def _confusion(truth: Array, columns: Array) -> list[Tree]:
    width = len(Severity) + 1
    cells = (truth * width + columns).astype(np.intp)
    counts = np.bincount(cells, minlength=len(Severity) * width)
    return [[int(count) for count in row] for row in counts.reshape(len(Severity), width)]
