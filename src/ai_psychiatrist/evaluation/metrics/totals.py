"""How near the totals are: exact ones alone, the ranges of all units, and the bands."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ai_psychiatrist.domain.phq8 import MAX_TOTAL_SCORE, Severity, severity_of
from ai_psychiatrist.evaluation.metrics.kinds import (
    AllUnits,
    Classifier,
    DecidedUnits,
    ExactTotals,
    LabelledUnits,
    RangeClassifier,
    Rates,
    Severities,
    TotalRanges,
)
from ai_psychiatrist.evaluation.metrics.metric import Row, measured, metric
from ai_psychiatrist.evaluation.metrics.run_metrics import Better, Scale
from ai_psychiatrist.evaluation.metrics.tree import Tree
from ai_psychiatrist.evaluation.scores.predicted_units import UNKNOWN
from ai_psychiatrist.statistics.arrays import Array
from ai_psychiatrist.statistics.measure import Measure, ratio, root_of_ratio, statistics
from ai_psychiatrist.statistics.ranking import auroc

UNDECIDABLE: Final = "undecidable"


def total_section(labelled: LabelledUnits) -> dict[str, Tree]:
    """Return errors of exact totals, and how well the ranges hold the truth."""
    low, high = labelled.low, labelled.high
    ranges = TotalRanges(
        low=low.astype(np.float64),
        high=high.astype(np.float64),
        truth=labelled.totals.astype(np.float64),
    )
    pairs = ExactTotals.beside(np.where(low == high, low, UNKNOWN), labelled.totals)
    return {"exact": measured(pairs), "range": measured(ranges)}


def severity_section(labelled: LabelledUnits) -> dict[str, Tree]:
    """Return how often the band is right, and which band is taken for which.

    A unit whose range spans several bands is undecidable; it has no error and is counted apart.
    """
    lower, upper = bands_of(labelled.low), bands_of(labelled.high)
    pairs = Severities.beside(np.where(lower == upper, lower, UNKNOWN), bands_of(labelled.totals))
    columns = np.where(pairs.said < 0, len(Severity), pairs.said)
    return {
        "confusion": {
            "rows": [severity.label for severity in Severity],
            "columns": [*(severity.label for severity in Severity), UNDECIDABLE],
            "counts": _confusion(pairs.truth[pairs.is_true], columns[pairs.is_true]),
        },
        **measured(pairs),
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


@metric(on={ExactTotals: Row(3, "Root mean squared error")}, better=Better.LOWER)
def rmse(totals: ExactTotals) -> Measure:
    """Root of the mean squared error of exact totals."""
    squares = (totals.distance**2).sum(axis=1)
    return root_of_ratio(squares, totals.answered, undefined=totals.no_pair)


@metric(
    on={TotalRanges: Row(1, "Range holds the true total", "all units; wide ranges do so easily")},
    better=Better.HIGHER,
    scale=Scale.SHARE,
)
def holds_truth(ranges: TotalRanges) -> Measure:
    """Share of labelled totals within the smallest and the largest possible total."""
    within = ranges.is_true & (ranges.low <= ranges.truth) & (ranges.truth <= ranges.high)
    return ratio(within, ranges.is_true, undefined=ranges.no_truth)


@metric(on={TotalRanges: Row(2, "Mean width of the range")}, better=Better.LOWER)
def mean_width(ranges: TotalRanges) -> Measure:
    """Mean distance of the largest from the smallest possible total."""
    width = np.where(ranges.is_true, ranges.high - ranges.low, 0.0)
    return ratio(width, ranges.is_true, undefined=ranges.no_truth)


@metric(on={TotalRanges: Row(3, "Mean error of the range's midpoint")}, better=Better.LOWER)
def midpoint_mae(ranges: TotalRanges) -> Measure:
    """Mean absolute error of the middle of the range."""
    return ratio(ranges.off_middle, ranges.is_true, undefined=ranges.no_truth)


@metric(on={TotalRanges: None}, better=Better.LOWER)
def midpoint_rmse(ranges: TotalRanges) -> Measure:
    """Root of the mean squared error of the middle of the range."""
    return root_of_ratio(ranges.off_middle**2, ranges.is_true, undefined=ranges.no_truth)


@metric(
    on={Severities: Row(1, "Severity band right, of all", "an undecidable band counts as wrong")},
    source="Kroenke et al. 2009",
    better=Better.HIGHER,
    scale=Scale.SHARE,
)
def exact_undecidable_as_wrong(bands: Severities) -> Measure:
    """Share of all labelled units with the right band."""
    return ratio(bands.is_right.sum(axis=1), bands.asked, undefined=bands.no_truth)


@metric(
    on={Severities: Row(3, "Band right, of the decided")},
    source="Kroenke et al. 2009",
    better=Better.HIGHER,
    scale=Scale.SHARE,
)
def exact(bands: Severities) -> Measure:
    """Share of decided units with the right band."""
    return ratio(bands.is_right.sum(axis=1), bands.answered, undefined=bands.no_pair)


@metric(
    on={Severities: Row(4, "Right or one band off, of the decided")},
    source="Kroenke et al. 2009",
    better=Better.HIGHER,
    scale=Scale.SHARE,
)
def adjacent(bands: Severities) -> Measure:
    """Share of decided units whose band is at most one off."""
    near = (bands.is_both & (bands.distance <= 1)).sum(axis=1)
    return ratio(near, bands.answered, undefined=bands.no_pair)


CUTOFF: Final = 10
ONE_CLASS: Final = "the units that count here do not hold both labels"


def binary_section(labelled: LabelledUnits) -> dict[str, Tree]:
    """Return two classifiers: the range of the total, and the meta-review's severity.

    A unit whose range holds the cut-off, or that has no meta-review, is undecided.
    """
    # The total is preferred: a flag beside it that says otherwise is an error of the data set.
    has_total = labelled.totals != UNKNOWN
    is_case = np.where(has_total, labelled.totals >= CUTOFF, labelled.flags == 1)
    is_control = np.where(has_total, labelled.totals < CUTOFF, labelled.flags == 0)
    low, high, review = labelled.low, labelled.high, labelled.rows["review"]
    is_mdd = review >= min(band for band in Severity if band.is_mdd)
    by_range = RangeClassifier(
        is_case=is_case,
        is_control=is_control,
        yes=low >= CUTOFF,
        no=high < CUTOFF,
        middle=(low + high) / 2,
    )
    by_review = Classifier(
        is_case=is_case,
        is_control=is_control,
        yes=is_mdd,
        no=(review != UNKNOWN) & ~is_mdd,
    )
    return {
        "cutoff": CUTOFF,
        "from_total": _classified(by_range),
        "from_meta_review": _classified(by_review),
    }


def _classified(found: Classifier) -> dict[str, Tree]:
    is_open = ~(found.yes | found.no)
    hits, misses = found.is_case & found.yes, found.is_case & found.no
    alarms, passes = found.is_control & found.yes, found.is_control & found.no
    open_cases, open_controls = found.is_case & is_open, found.is_control & is_open
    decided = DecidedUnits(hits=hits, misses=misses, alarms=alarms, passes=passes)
    everyone = AllUnits(
        hits=hits, misses=misses | open_cases, alarms=alarms | open_controls, passes=passes
    )
    return {
        "decided": measured(decided),
        "undecided_as_wrong": measured(everyone),
        "counts": {
            "true_positive": int(hits.sum()),
            "false_negative": int(misses.sum()),
            "false_positive": int(alarms.sum()),
            "true_negative": int(passes.sum()),
            "undecided_positive": int(open_cases.sum()),
            "undecided_negative": int(open_controls.sum()),
        },
        **measured(found),
    }


@metric(
    on={
        AllUnits: Row(
            2, "Balanced accuracy", "at a total of 10 or more; undecided counts as wrong"
        ),
        DecidedUnits: Row(1, "Balanced accuracy of the decided"),
    },
    source="Brodersen et al. 2010",
    better=Better.HIGHER,
    scale=Scale.SHARE,
)
def balanced_accuracy(rates: Rates) -> Measure:
    """Mean of sensitivity and specificity."""
    return Measure(
        statistics=statistics(rates.hits, rates.cases, rates.passes, rates.controls),
        combine=lambda sums: (sums[0] / sums[1] + sums[2] / sums[3]) / 2,
        n=int(rates.everyone.sum()),
        undefined=ONE_CLASS,
    )


@metric(
    on={AllUnits: Row(3, "Accuracy"), DecidedUnits: None}, better=Better.HIGHER, scale=Scale.SHARE
)
def accuracy(rates: Rates) -> Measure:
    """(hits + passes) ÷ units."""
    return ratio(rates.hits | rates.passes, rates.everyone, undefined=rates.no_pair)


@metric(
    on={AllUnits: Row(4, "Sensitivity"), DecidedUnits: None},
    better=Better.HIGHER,
    scale=Scale.SHARE,
)
def sensitivity(rates: Rates) -> Measure:
    """Hits ÷ units labelled as depressed."""
    return ratio(rates.hits, rates.cases, undefined="no unit labelled as depressed counts here")


@metric(
    on={AllUnits: Row(5, "Specificity"), DecidedUnits: None},
    better=Better.HIGHER,
    scale=Scale.SHARE,
)
def specificity(rates: Rates) -> Measure:
    """Passes ÷ units labelled as not depressed."""
    none = "no unit labelled as not depressed counts here"
    return ratio(rates.passes, rates.controls, undefined=none)


@metric(
    on={AllUnits: Row(6, "F1"), DecidedUnits: None},
    source="van Rijsbergen 1979",
    better=Better.HIGHER,
    scale=Scale.SHARE,
)
def f1(rates: Rates) -> Measure:
    """2·hits ÷ (2·hits + misses + false alarms)."""
    return Measure(
        # The last column has no part in the value: passes, too, are participants it rests on.
        statistics=statistics(rates.hits, rates.misses, rates.alarms, rates.everyone),
        combine=_f1,
        n=int(rates.everyone.sum()),
        undefined="no unit is labelled or predicted as depressed",
    )


def _f1(sums: Array) -> Array:
    hits, misses, alarms, _ = sums
    found: Array = 2 * hits / (2 * hits + misses + alarms)
    return found


@metric(
    on={RangeClassifier: Row(8, "AUROC of the range's midpoint", "0.5 is chance")},
    source="Hanley & McNeil 1982",
    better=Better.HIGHER,
    scale=Scale.UNIT,
)
def auroc_of_midpoint(found: RangeClassifier) -> Measure:
    """How often a case has a higher middle of its range than a control, ties counting half; a
    failed unit has the middle of the scale, 12.
    """
    return auroc(found.middle, found.is_case, found.is_control, undefined=ONE_CLASS)
