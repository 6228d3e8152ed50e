"""The figures that compare a run with its labels."""

from typing import TypeAlias

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.metrics.binary import (
    AllUnits,
    Classifier,
    DecidedUnits,
    RangeClassifier,
)
from ai_psychiatrist.evaluation.metrics.calibration import Forecast
from ai_psychiatrist.evaluation.metrics.items import AllItems, RatedItems, ScoredItems
from ai_psychiatrist.evaluation.metrics.selective import RankedItems
from ai_psychiatrist.evaluation.metrics.totals import ExactTotals, Severities, TotalRanges
from ai_psychiatrist.evaluation.report.definitions import signal_name
from ai_psychiatrist.evaluation.report.figures import Metrics
from ai_psychiatrist.evaluation.report.rows import Group, group, lines_of

_Parts: TypeAlias = tuple[tuple[str, type], ...]


def headline_of(metrics: Metrics) -> tuple[Group, ...]:
    """Return the groups of the table of figures, none when nothing has a label."""
    if metrics.count("units.labelled") == 0:
        return ()
    signal = metrics.word("selective.default")
    named: tuple[tuple[str, _Parts], ...] = (
        ("Items, 0 to 3 points each", (("items", AllItems),)),
        *_noise(metrics),
        ("Totals, 0 to 24 points", (("totals.exact", ExactTotals), ("totals.range", TotalRanges))),
        ("Severity in five bands", (("severity", Severities),)),
        ("Total of 10 or more, from the items", _screening("binary.from_total", RangeClassifier)),
        ("The same, from the meta-review", _screening("binary.from_meta_review", Classifier)),
        (
            f"Confidence by {signal_name(signal)}",
            (
                (f"selective.by_signal.{signal}", RankedItems),
                (f"calibration.by_signal.{signal}", Forecast),
            ),
        ),
    )
    return tuple(
        group(metrics, title, [line for path, kind in parts for line in lines_of(path, kind)])
        for title, parts in named
    )


def items_of(metrics: Metrics) -> tuple[Group, ...]:
    """Return a group for each item, none when no item has a label."""
    if metrics.count("items.counts.labelled") == 0:
        return ()
    return tuple(
        group(metrics, item.label, lines_of(f"items.by_item.{item.value}", ScoredItems))
        for item in Item
    )


def _noise(metrics: Metrics) -> tuple[tuple[str, _Parts], ...]:
    """Return the group of two raters where there are two."""
    if not metrics.figure("noise_ceiling.mae").count:
        return ()
    return (("Noise ceiling: a second rater", (("noise_ceiling", RatedItems),)),)


def _screening(path: str, kind: type[Classifier]) -> _Parts:
    return (
        (path, kind),
        (f"{path}.undecided_as_wrong", AllUnits),
        (f"{path}.decided", DecidedUnits),
    )
