"""Depressed or not: a total of 10 or more, as Kroenke et al. 2009 (J Affect Disord 114:163-173)."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from ai_psychiatrist.evaluation.metrics.auroc import auroc
from ai_psychiatrist.evaluation.metrics.measure import Array, BoolArray, Measure, ratio, statistics
from ai_psychiatrist.evaluation.metrics.scores import Scores
from ai_psychiatrist.evaluation.metrics.tree import Tree

CUTOFF: Final = 10
NO_TRUTH: Final = "no unit is labelled as depressed or not"
NO_DECISION: Final = "no labelled unit is decided"
NO_CASE: Final = "no unit labelled as depressed counts here"
NO_CONTROL: Final = "no unit labelled as not depressed counts here"
ONE_CLASS: Final = "the units that count here do not hold both labels"


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """Which units are labelled as depressed, and which as not."""

    is_case: BoolArray
    is_control: BoolArray


def binary_section(scores: Scores) -> dict[str, Tree]:
    """Return two classifiers: the range of the total, and the meta-review's severity.

    A unit whose range holds the cut-off, or that has no meta-review, is undecided.
    """
    truth = _truth(scores)
    low = np.array([unit.total_min for unit in scores.predictions], dtype=np.float64)
    high = np.array([unit.total_max for unit in scores.predictions], dtype=np.float64)
    reviews = [unit.meta_review_severity for unit in scores.predictions]
    yes = np.array([review is not None and review.is_mdd for review in reviews], dtype=np.bool_)
    no = np.array([review is not None and not review.is_mdd for review in reviews], dtype=np.bool_)
    return {
        "cutoff": CUTOFF,
        "from_total": {
            **_classifier(truth, yes=low >= CUTOFF, no=high < CUTOFF),
            "auroc_of_midpoint": auroc(
                (low + high) / 2, truth.is_case, truth.is_control, undefined=ONE_CLASS
            ),
        },
        "from_meta_review": _classifier(truth, yes=yes, no=no),
    }


def _truth(scores: Scores) -> Truth:
    """Prefer the total: a flag beside it that says otherwise is an error of the data set."""
    known = [
        label.binary if total is None else total >= CUTOFF
        for total, label in zip(scores.totals, scores.labels, strict=True)
    ]
    return Truth(
        is_case=np.array([one is True for one in known], dtype=np.bool_),
        is_control=np.array([one is False for one in known], dtype=np.bool_),
    )


def _classifier(truth: Truth, *, yes: BoolArray, no: BoolArray) -> dict[str, Tree]:
    hits, misses = truth.is_case & yes, truth.is_case & no
    alarms, passes = truth.is_control & yes, truth.is_control & no
    open_cases = truth.is_case & ~(yes | no)
    open_controls = truth.is_control & ~(yes | no)
    decided = hits | misses | alarms | passes
    return {
        "coverage": ratio(decided, truth.is_case | truth.is_control, undefined=NO_TRUTH),
        "decided": _rates(hits, misses, alarms, passes),
        "undecided_as_wrong": _rates(hits, misses | open_cases, alarms | open_controls, passes),
        "counts": {
            "true_positive": int(hits.sum()),
            "false_negative": int(misses.sum()),
            "false_positive": int(alarms.sum()),
            "true_negative": int(passes.sum()),
            "undecided_positive": int(open_cases.sum()),
            "undecided_negative": int(open_controls.sum()),
        },
    }


def _rates(
    hits: BoolArray, misses: BoolArray, alarms: BoolArray, passes: BoolArray
) -> dict[str, Tree]:
    right, cases, controls = hits | passes, hits | misses, alarms | passes
    everyone = cases | controls
    halves = statistics(hits, cases, passes, controls)
    return {
        "accuracy": ratio(right, everyone, undefined=NO_DECISION),
        "balanced_accuracy": Measure(
            statistics=halves, combine=_balanced, n=int(everyone.sum()), undefined=ONE_CLASS
        ),
        "f1": Measure(
            statistics=statistics(hits, misses, alarms, everyone),
            combine=_f1,
            n=int(everyone.sum()),
            undefined="no unit is labelled or predicted as depressed",
        ),
        "sensitivity": ratio(hits, cases, undefined=NO_CASE),
        "specificity": ratio(passes, controls, undefined=NO_CONTROL),
    }


def _balanced(sums: Array) -> Array:
    hits, cases, passes, controls = sums
    balanced: Array = (hits / cases + passes / controls) / 2
    return balanced


def _f1(sums: Array) -> Array:
    hits, misses, alarms, _ = sums
    f1: Array = 2 * hits / (2 * hits + misses + alarms)
    return f1
