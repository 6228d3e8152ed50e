"""The figures of a run in groups: which there are, and what a group is called."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ai_psychiatrist.evaluation.metrics.binary import (
    AllUnits,
    Classifier,
    DecidedUnits,
    RangeClassifier,
)
from ai_psychiatrist.evaluation.metrics.calibration import Forecast
from ai_psychiatrist.evaluation.metrics.drive import AllDrivenItems
from ai_psychiatrist.evaluation.metrics.evidence import EvidenceFound, ItemEvidence
from ai_psychiatrist.evaluation.metrics.items import AllItems, RatedItems, ScoredItems
from ai_psychiatrist.evaluation.metrics.outcomes import Outcomes
from ai_psychiatrist.evaluation.metrics.run_metrics import ClassifierFigures, RunMetrics
from ai_psychiatrist.evaluation.metrics.selective import RankedItems
from ai_psychiatrist.evaluation.metrics.signals import SIGNALS
from ai_psychiatrist.evaluation.metrics.totals import ExactTotals, Severities, TotalRanges
from ai_psychiatrist.evaluation.report.figure_row import FigureRow, row_of, rows_of


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Rows under one title."""

    title: str
    rows: tuple[FigureRow, ...]


def headline_of(metrics: RunMetrics) -> tuple[RowGroup, ...]:
    """Return the figures that compare a run with its labels, none when nothing has a label."""
    return tuple(_headline(metrics)) if metrics.units.labelled else ()


def _headline(metrics: RunMetrics) -> Iterator[RowGroup]:
    totals, binary, signal = metrics.totals, metrics.binary, metrics.selective.default
    ranked, forecast = (part.by_signal[signal] for part in (metrics.selective, metrics.calibration))
    yield RowGroup("Items, 0 to 3 points each", rows_of(metrics.items, AllItems))
    if metrics.noise_ceiling["mae"].n:
        yield RowGroup("Noise ceiling: a second rater", rows_of(metrics.noise_ceiling, RatedItems))
    exact, ranges = rows_of(totals.exact, ExactTotals), rows_of(totals.range, TotalRanges)
    yield RowGroup("Totals, 0 to 24 points", exact + ranges)
    yield RowGroup("Severity in five bands", rows_of(metrics.severity, Severities))
    by_total = _screening(binary.from_total, RangeClassifier)
    yield RowGroup("Total of 10 or more, from the items", by_total)
    by_review = _screening(binary.from_meta_review, Classifier)
    yield RowGroup("The same, from the meta-review", by_review)
    yield RowGroup(
        f"Confidence by {SIGNALS[signal].name}",
        rows_of(ranked, RankedItems) + rows_of(forecast, Forecast),
    )


def _screening(figures: ClassifierFigures, kind: type[Classifier]) -> tuple[FigureRow, ...]:
    return (
        *rows_of(figures, kind),
        *rows_of(figures.undecided_as_wrong, AllUnits),
        *rows_of(figures.decided, DecidedUnits),
    )


def items_of(metrics: RunMetrics, *keys: str) -> tuple[RowGroup, ...]:
    """Return a group for each item, of some metrics or of all, none when no item has a label."""
    if metrics.items.counts["labelled"] == 0:
        return ()
    return tuple(
        RowGroup(
            one.label,
            tuple(row_of(one, ScoredItems, key) for key in keys) or rows_of(one, ScoredItems),
        )
        for one in metrics.items.by_item.values()
    )


def evidence_of(metrics: RunMetrics) -> tuple[RowGroup, ...]:
    """Return how often a symptom is found at all, right or wrong."""
    found = metrics.evidence
    by_item = [
        replace(row_of(one, ItemEvidence, "units_with_the_symptom"), name=one.label)
        for one in found.by_item.values()
    ]
    return (
        RowGroup("Symptoms found, over all items", rows_of(found, EvidenceFound)),
        RowGroup("Conversations in which the item is scored 1 or more", tuple(by_item)),
        *_drive_of(metrics),
    )


def _drive_of(metrics: RunMetrics) -> Iterator[RowGroup]:
    """Yield whether the evidence drives the scores, where they were asked for again."""
    found = metrics.drive
    if found.counts.total:
        yield RowGroup("Does the evidence drive the score?", rows_of(found, AllDrivenItems))
        by_item = [
            replace(
                row_of(found, AllDrivenItems, "not_evidence_driven"),
                name=one.label,
                figure=one["not_evidence_driven"],
                note="",
            )
            for one in found.by_item.values()
        ]
        yield RowGroup("Scores that the evidence does not drive, by item", tuple(by_item))


@dataclass(frozen=True, slots=True)
class Tile:
    """One of the figures that stand large at the top."""

    row: FigureRow
    counted: str
    """What its n counts."""


def tiles_of(metrics: RunMetrics) -> Iterator[Tile]:
    """Yield errors where there are labels, rates of evidence where there are none."""
    if metrics.units.labelled and metrics.units.predicted:
        for key in ("mae_charged", "mae", "coverage"):
            yield Tile(row_of(metrics.items, AllItems, key), "items")
        decided = metrics.binary.from_total.undecided_as_wrong
        row = row_of(decided, AllUnits, "balanced_accuracy")
        yield Tile(row, "participants")
    elif metrics.units.predicted:
        for key in ("units_with_a_symptom", "symptoms_per_unit", "items_with_evidence_per_unit"):
            yield Tile(row_of(metrics.evidence, EvidenceFound, key), "units")
        yield Tile(row_of(metrics.failures, Outcomes, "units_failed"), "units")
