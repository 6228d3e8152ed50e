"""Paired differences between two runs over the units that both assessed: second minus first."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ai_psychiatrist.evaluation.metrics.binary import AllUnits
from ai_psychiatrist.evaluation.metrics.comparison import RunComparison
from ai_psychiatrist.evaluation.metrics.evidence import EvidenceFound
from ai_psychiatrist.evaluation.metrics.items import AllItems
from ai_psychiatrist.evaluation.metrics.outcomes import Outcomes
from ai_psychiatrist.evaluation.metrics.registry import Better, Scale, shown_on
from ai_psychiatrist.evaluation.metrics.selective import RankedItems
from ai_psychiatrist.evaluation.metrics.totals import Severities, TotalRanges
from ai_psychiatrist.evaluation.metrics.tree import Path
from ai_psychiatrist.evaluation.report.figure_row import DifferenceRow
from ai_psychiatrist.evaluation.report.wording import grouped


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """What is said about another run."""

    second: str
    """The other run's name."""
    summary: str
    rows: tuple[DifferenceRow, ...]


def differences_of(found: RunComparison, *, first: str, second: str) -> Differences:
    """Return the rows for a comparison of two runs of these names."""
    rows = list(_rows(found))
    reach: dict[Scale, float] = {}
    for row in rows:
        ends = (row.figure.value or 0.0, *(row.figure.interval or ()))
        reach[row.scale] = max(reach.get(row.scale, 0.0), *map(abs, ends))
    return Differences(
        second=second,
        summary=f"First: {first}. Second: {second}. {_summary(found)}",
        rows=tuple(replace(row, reach=reach[row.scale]) for row in rows),
    )


def _rows(found: RunComparison) -> Iterator[DifferenceRow]:
    signal = found.settings.confidence
    yield _row(found, ("items", "mae_charged"), AllItems)
    yield _matched(found, signal)
    yield replace(
        _row(found, ("items", "mae"), AllItems),
        note="each run over the items that it scored",
        better=Better.NEITHER,
    )
    yield _row(found, ("selective", "by_signal", signal, "charged_aurc"), RankedItems)
    yield _row(found, ("items", "coverage"), AllItems)
    yield _row(found, ("items", "quadratic_kappa"), AllItems)
    yield _row(found, ("totals", "range", "midpoint_mae"), TotalRanges)
    yield _row(found, ("severity", "exact_undecidable_as_wrong"), Severities)
    decided = ("binary", "from_total", "undecided_as_wrong")
    yield _row(found, (*decided, "balanced_accuracy"), AllUnits)
    yield _row(found, ("evidence", "units_with_a_symptom"), EvidenceFound)
    yield _row(found, ("failures", "units_with_any"), Outcomes)


def _row(found: RunComparison, path: Path, kind: type) -> DifferenceRow:
    metric, row = next(shown for shown in shown_on(kind) if shown[0].key == path[-1])
    figure = found.differences[path]
    return DifferenceRow(
        name=row.title,
        note=row.note,
        figure=figure,
        scale=metric.scale_on(kind),
        sides=(figure.first, figure.second),
        better=metric.better,
        reach=0.0,
    )


def _matched(found: RunComparison, signal: str) -> DifferenceRow:
    matched = found.matched_coverage[signal]
    return DifferenceRow(
        name="Mean error at matched coverage",
        note="both keep as many items as the run that scores fewer",
        figure=matched.mae_difference,
        scale=Scale.ITEM_POINTS,
        sides=(matched.mae_first.value, matched.mae_second.value),
        better=Better.LOWER,
        reach=0.0,
    )


def _summary(found: RunComparison) -> str:
    units = found.units
    return (
        "A difference is second minus first, over the "
        f"{grouped(units.shared)} units that both assessed ({grouped(units.shared_labelled)} with "
        f"labels). Left out: {grouped(units.only_first)} only in the first, "
        f"{grouped(units.only_second)} only in the second. Both runs are resampled together, so an "
        "interval that holds 0 shows no difference; pp are percentage points."
    )
