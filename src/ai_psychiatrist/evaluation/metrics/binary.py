"""Depressed or not: a total of 10 or more, as Kroenke et al. 2009 (J Affect Disord 114:163-173)."""

from typing import Final

import numpy as np

from ai_psychiatrist.domain.phq8 import Severity
from ai_psychiatrist.evaluation.metrics.kinds import (
    AllUnits,
    Classifier,
    DecidedUnits,
    RangeClassifier,
    Rates,
)
from ai_psychiatrist.evaluation.metrics.labelled_units import LabelledUnits
from ai_psychiatrist.evaluation.metrics.metric import Row, measured, metric
from ai_psychiatrist.evaluation.metrics.scale import Better, Scale
from ai_psychiatrist.evaluation.metrics.tree import Tree
from ai_psychiatrist.evaluation.scores.predicted_units import UNKNOWN
from ai_psychiatrist.statistics.arrays import Array
from ai_psychiatrist.statistics.measure import Measure, ratio, statistics
from ai_psychiatrist.statistics.ranking import auroc

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
