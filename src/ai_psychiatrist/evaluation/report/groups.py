"""The figures of a run in groups: which there are, and what a group is called."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ai_psychiatrist.evaluation.metrics.calibration import Forecast
from ai_psychiatrist.evaluation.metrics.kinds import (
    AllItems,
    AllUnits,
    Classifier,
    DecidedUnits,
    ExactTotals,
    RangeClassifier,
    RatedItems,
    ScoredItems,
    Severities,
    TotalRanges,
)
from ai_psychiatrist.evaluation.metrics.outcomes import (
    AllFaithfulnessItems,
    EvidenceFound,
    ItemEvidence,
    Outcomes,
)
from ai_psychiatrist.evaluation.metrics.run_metrics import Part, RunMetrics
from ai_psychiatrist.evaluation.metrics.selective import SIGNALS, RankedItems
from ai_psychiatrist.evaluation.report.figure_rows import FigureRow, RowGroup, row_of, rows_of


def headline_of(metrics: RunMetrics) -> tuple[RowGroup[FigureRow], ...]:
    """Return the figures that compare a run with its labels, none when nothing has a label."""
    return tuple(_headline(metrics)) if metrics.count("units", "labelled") else ()


def _headline(metrics: RunMetrics) -> Iterator[RowGroup[FigureRow]]:
    noise, signal = metrics.part("noise_ceiling"), metrics.part("selective").text("default")
    yield RowGroup("Items, 0 to 3 points each", rows_of(metrics.part("items"), AllItems))
    if noise.figure("mae").n:
        yield RowGroup("Noise ceiling: a second rater", rows_of(noise, RatedItems))
    exact = rows_of(metrics.part("totals", "exact"), ExactTotals)
    ranges = rows_of(metrics.part("totals", "range"), TotalRanges)
    yield RowGroup("Totals, 0 to 24 points", exact + ranges)
    yield RowGroup("Severity in five bands", rows_of(metrics.part("severity"), Severities))
    by_total = _screening(metrics.part("binary", "from_total"), RangeClassifier)
    yield RowGroup("Total of 10 or more, from the items", by_total)
    by_review = _screening(metrics.part("binary", "from_meta_review"), Classifier)
    yield RowGroup("The same, from the meta-review", by_review)
    yield RowGroup(
        f"Confidence by {SIGNALS[signal].name}",
        rows_of(metrics.part("selective", "by_signal", signal), RankedItems)
        + rows_of(metrics.part("calibration", "by_signal", signal), Forecast),
    )
    by_signal = metrics.part("selective", "by_signal")
    yield RowGroup(
        "AURC over full coverage, by other signals",
        tuple(
            replace(
                row_of(by_signal.part(other), RankedItems, "charged_aurc"), name=one.name, note=""
            )
            for other, one in SIGNALS.items()
            if other != signal
        ),
    )


def _screening(figures: Part, kind: type[Classifier]) -> tuple[FigureRow, ...]:
    return (
        *rows_of(figures, kind),
        *rows_of(figures.part("undecided_as_wrong"), AllUnits),
        *rows_of(figures.part("decided"), DecidedUnits),
    )


def items_of(metrics: RunMetrics, *keys: str) -> tuple[RowGroup[FigureRow], ...]:
    """Return a group for each item, of some metrics or of all, none when no item has a label."""
    if metrics.count("items", "counts", "labelled") == 0:
        return ()
    return tuple(
        RowGroup(
            one.text("label"),
            tuple(row_of(one, ScoredItems, key) for key in keys) or rows_of(one, ScoredItems),
        )
        for one in metrics.parts("items", "by_item")
    )


def evidence_of(metrics: RunMetrics) -> tuple[RowGroup[FigureRow], ...]:
    """Return how often a symptom is found at all, right or wrong."""
    found = metrics.part("evidence")
    by_item = [
        replace(row_of(one, ItemEvidence, "units_with_the_symptom"), name=one.text("label"))
        for one in found.parts("by_item")
    ]
    return (
        RowGroup("Symptoms found, over all items", rows_of(found, EvidenceFound)),
        RowGroup("Conversations in which the item is scored 1 or more", tuple(by_item)),
        *_drive_of(metrics.part("drive")),
    )


def _drive_of(found: Part) -> Iterator[RowGroup[FigureRow]]:
    """Yield whether the evidence drives the scores, where they were asked for again."""
    if found.part("counts").total:
        yield RowGroup("Does the evidence drive the score?", rows_of(found, AllFaithfulnessItems))
        by_item = [
            replace(
                row_of(one, AllFaithfulnessItems, "not_evidence_driven"),
                name=one.text("label"),
                note="",
            )
            for one in found.parts("by_item")
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
    predicted = metrics.count("units", "predicted")
    if predicted and metrics.count("units", "labelled"):
        for key in ("mae_charged", "mae", "coverage"):
            yield Tile(row_of(metrics.part("items"), AllItems, key), "items")
        decided = metrics.part("binary", "from_total", "undecided_as_wrong")
        yield Tile(row_of(decided, AllUnits, "balanced_accuracy"), "participants")
    elif predicted:
        for key in ("units_with_a_symptom", "symptoms_per_unit", "items_with_evidence_per_unit"):
            yield Tile(row_of(metrics.part("evidence"), EvidenceFound, key), "units")
        yield Tile(row_of(metrics.part("failures"), Outcomes, "units_failed"), "units")
