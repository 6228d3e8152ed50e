"""Depressed or not: a total of 10 or more, as Kroenke et al. 2009 (J Affect Disord 114:163-173)."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from ai_psychiatrist.domain.phq8 import Severity
from ai_psychiatrist.evaluation.metrics.labelled_units import LabelledUnits
from ai_psychiatrist.evaluation.metrics.registry import measured
from ai_psychiatrist.evaluation.metrics.tree import Tree
from ai_psychiatrist.evaluation.scores.prediction_columns import UNKNOWN
from ai_psychiatrist.statistics.arrays import Array, BoolArray

CUTOFF: Final = 10
NO_CASE: Final = "no unit labelled as depressed counts here"
NO_CONTROL: Final = "no unit labelled as not depressed counts here"
ONE_CLASS: Final = "the units that count here do not hold both labels"


@dataclass(frozen=True, kw_only=True)
class Classifier:
    """Units labelled as depressed or not, and what a classifier says of them, (units,)."""

    no_truth = "no unit is labelled as depressed or not"

    is_case: BoolArray
    is_control: BoolArray
    yes: BoolArray
    no: BoolArray
    """A unit that is neither `yes` nor `no` is undecided."""

    @property
    def asked(self) -> Array:
        """Which units are labelled."""
        return (self.is_case | self.is_control).astype(np.float64)

    @property
    def answered(self) -> Array:
        """Which of them are decided."""
        return self.asked * (self.yes | self.no)


@dataclass(frozen=True, kw_only=True)
class RangeClassifier(Classifier):
    """One by the range of the total."""

    middle: Array


@dataclass(frozen=True, kw_only=True)
class Rates:
    """The units of a classifier as hits, misses, false alarms and passes."""

    no_pair = "no labelled unit is decided"

    hits: BoolArray
    misses: BoolArray
    alarms: BoolArray
    passes: BoolArray

    @cached_property
    def cases(self) -> BoolArray:
        """Labelled as depressed."""
        return self.hits | self.misses

    @cached_property
    def controls(self) -> BoolArray:
        """Labelled as not depressed."""
        return self.alarms | self.passes

    @property
    def count(self) -> int:
        """How many units count."""
        return int((self.cases | self.controls).sum())


class DecidedUnits(Rates):
    """Without the undecided ones."""


class AllUnits(Rates):
    """An undecided case is a miss, an undecided control a false alarm."""


def binary_section(labelled: LabelledUnits) -> dict[str, Tree]:
    """Return two classifiers: the range of the total, and the meta-review's severity.

    A unit whose range holds the cut-off, or that has no meta-review, is undecided.
    """
    # The total is preferred: a flag beside it that says otherwise is an error of the data set.
    has_total = labelled.totals != UNKNOWN
    flag = labelled.labels.binary
    is_case = np.where(has_total, labelled.totals >= CUTOFF, flag == 1)
    is_control = np.where(has_total, labelled.totals < CUTOFF, flag == 0)
    low, high = labelled.low, labelled.high
    review = labelled.predictions.rows.review
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
        **measured(found),
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
    }
