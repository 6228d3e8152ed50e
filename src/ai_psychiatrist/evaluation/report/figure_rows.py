"""A figure as a row: its words, and where its mark lies on the scale (0-100 from the left).

Differences between two runs over the units that are in both are rows, too: second minus first.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeVar

from ai_psychiatrist.evaluation.metrics.compute import IDENTICAL, Difference, RunComparison
from ai_psychiatrist.evaluation.metrics.kinds import AllItems, AllUnits, Severities, TotalRanges
from ai_psychiatrist.evaluation.metrics.metric import shown_on
from ai_psychiatrist.evaluation.metrics.outcomes import EvidenceFound, Outcomes
from ai_psychiatrist.evaluation.metrics.run_metrics import Better, Part, Scale
from ai_psychiatrist.evaluation.metrics.selective import RankedItems
from ai_psychiatrist.evaluation.metrics.subgroups import SHOWN, Group, Subgroups
from ai_psychiatrist.evaluation.metrics.tree import Path
from ai_psychiatrist.evaluation.report.wording import amount, as_shown, grouped, span
from ai_psychiatrist.statistics.figure import Figure

WIDE: Final = 0.1
"""An interval that spans more than this part of its scale is called wide."""
_FINER: Final = 1
"""Further digits of a difference and its sides, which is more precise than its sides are."""


@dataclass(frozen=True, kw_only=True)
class FigureRow:
    """A figure on its own scale."""

    name: str
    figure: Figure
    scale: Scale
    note: str = ""

    @property
    def value(self) -> str | None:
        """The value with its unit, `None` when it is not defined."""
        return None if self.figure.value is None else amount(self.figure.value, self.scale)

    @property
    def span(self) -> str | None:
        """The interval, `None` when there is none."""
        return span(self.figure, self.scale)

    @property
    def aside(self) -> str:
        """The interval, or why there is none."""
        return self.span or self.figure.reason or "no interval"

    @property
    def count(self) -> str:
        """What it rests on."""
        return grouped(self.figure.n)

    @property
    def dot(self) -> float | None:
        """Where the value lies."""
        return None if self.figure.value is None else self.position(self.figure.value)

    @property
    def whisker(self) -> tuple[float, float] | None:
        """Where both ends of the interval lie."""
        ends = self.figure.interval
        return None if ends is None else (self.position(ends[0]), self.position(ends[1]))

    def position(self, value: float) -> float:
        """Return where a value lies."""
        low, high, *_ = self.scale.value
        return round(100 * min(max((value - low) / (high - low), 0.0), 1.0), 2)

    @property
    def ends(self) -> list[str]:
        """Both ends of the scale in words."""
        if self.scale is Scale.SHARE:
            return [amount(end, self.scale) for end in self.scale.value[:2]]
        return [f"{end:g}".replace("-", "\u2212") for end in self.scale.value[:2]]

    @property
    def is_wide(self) -> bool:
        """Whether the interval spans so much of the scale that the value alone misleads."""
        if self.figure.interval is None:
            return False
        (start, end), (low, high, *_) = self.figure.interval, self.scale.value
        return end - start > WIDE * (high - low)

    @property
    def spoken(self) -> str:
        """All of it as one phrase, for those who do not see the mark."""
        if self.value is None:
            return f"not defined: {self.figure.reason}"
        span = "" if self.span is None else f", 95 % interval {self.span}"
        return f"{self.value}{span}, n {self.count}"


@dataclass(frozen=True, kw_only=True)
class DifferenceRow(FigureRow):
    """A difference between two runs around 0, which lies at 50."""

    sides: tuple[float | None, float | None]
    """The figure of the first run and of the second."""
    better: Better
    reach: float
    """What lies at either end."""

    @property
    def value(self) -> str | None:
        """The difference of both sides as they are shown, so that a reader can check it."""
        if self.figure.value is None or None in self.sides:
            return None
        first, second = (as_shown(side or 0.0, self.scale, finer=_FINER) for side in self.sides)
        percent = 100 if self.scale is Scale.SHARE else 1
        return amount((second - first) / percent, self.scale, signed=True, finer=_FINER)

    @property
    def span(self) -> str | None:
        """The interval, `None` when there is none."""
        return span(self.figure, self.scale, signed=True, finer=_FINER)

    def position(self, value: float) -> float:
        """Return where a difference lies."""
        if self.reach == 0:
            return 50.0
        return round(50 + 50 * min(max(value / self.reach, -1.0), 1.0), 2)

    @property
    def both(self) -> list[str]:
        """Both sides with their unit."""
        return [
            "–" if side is None else amount(side, self.scale, finer=_FINER) for side in self.sides
        ]

    @property
    def verdict(self) -> str:
        """What the interval, with its ends as they are shown, says of the second run."""
        if self.figure.interval is None:
            is_same = (self.figure.reason or "").endswith(IDENTICAL)
            return "no difference" if is_same else "cannot be told"
        low, high = (as_shown(end, self.scale, finer=_FINER) for end in self.figure.interval)
        if low <= 0 <= high:
            return "no difference shown"
        direction = Better.LOWER if high < 0 else Better.HIGHER
        if self.better is Better.NEITHER:
            return f"{direction.value} in the second"
        return "second is better" if direction is self.better else "second is worse"


AnyRow = TypeVar("AnyRow", bound=FigureRow)


@dataclass(frozen=True, slots=True)
class RowGroup(Generic[AnyRow]):
    """Rows under one title."""

    title: str
    rows: tuple[AnyRow, ...]
    note: str = ""


def rows_of(figures: Part, kind: type) -> tuple[FigureRow, ...]:
    """Return the rows of the metrics that a kind of data has, in their order."""
    return tuple(row_of(figures, kind, metric.key) for metric, _ in shown_on(kind))


def row_of(figures: Part, kind: type, key: str) -> FigureRow:
    """Return the row of one metric, which must be shown for the kind of data."""
    return _figure_row(figures.figure(key), kind, key)


def _figure_row(figure: Figure, kind: type, key: str) -> FigureRow:
    metric, row = next(shown for shown in shown_on(kind) if shown[0].key == key)
    return FigureRow(name=row.title, note=row.note, figure=figure, scale=metric.scale_on(kind))


def differences_of(found: RunComparison, *, first: str, second: str) -> RowGroup[DifferenceRow]:
    """Return the rows for a comparison of two runs of these names, under that of the second."""
    note = f"First: {first}. Second: {second}. {_summary(found)}"
    return RowGroup(second, _reaching(_rows(found)), note)


def _reaching(rows: Iterable[DifferenceRow]) -> tuple[DifferenceRow, ...]:
    """Return rows of which those on one scale reach equally far."""
    every, reach = list(rows), dict[Scale, float]()
    for row in every:
        ends = (row.figure.value or 0.0, *(row.figure.interval or ()))
        reach[row.scale] = max(reach.get(row.scale, 0.0), *map(abs, ends))
    return tuple(replace(row, reach=reach[row.scale]) for row in every)


def _rows(found: RunComparison) -> Iterator[DifferenceRow]:
    signal = str(found.settings["confidence"])
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
    return _difference_row(found.differences[path], kind, path[-1])


def _difference_row(figure: Difference, kind: type, key: str) -> DifferenceRow:
    metric, row = next(shown for shown in shown_on(kind) if shown[0].key == key)
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
    figures = found.matched_coverage.part(signal)
    return DifferenceRow(
        name="Mean error at matched coverage",
        note="both keep as many items as the run that scores fewer",
        figure=figures.figure("mae_difference"),
        scale=Scale.ITEM_POINTS,
        sides=(figures.figure("mae_first").value, figures.figure("mae_second").value),
        better=Better.LOWER,
        reach=0.0,
    )


def _summary(found: RunComparison) -> str:
    count = Part(found.units).count
    return (
        f"A difference is second minus first, over the {grouped(count('shared'))} units that are "
        f"in both runs ({grouped(count('shared_labelled'))} with labels; failed, and so unknown: "
        f"{grouped(count('failed_first'))} in the first, {grouped(count('failed_second'))} in the "
        f"second). Left out: {grouped(count('only_first'))} only in the first, "
        f"{grouped(count('only_second'))} only in the second. Both runs are resampled together, so "
        "an interval that holds 0 shows no difference; pp are percentage points."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupTables:
    """What is said of the groups of a column."""

    column: str
    summary: str
    figures: tuple[RowGroup[FigureRow], ...]
    """With a sentence where there are none."""
    differences: tuple[RowGroup[DifferenceRow], ...]


def group_tables(found: Subgroups) -> GroupTables:
    """Return the rows of all groups, and those of their differences."""
    return GroupTables(
        column=found.column,
        summary=(
            f"Groups by {found.column!r}: {len(found.groups)}; units without a value: "
            f"{grouped(found.unknown)}; in no group, without usable labels: "
            f"{grouped(found.unlabelled)}. Participants are resampled within each group. A "
            "difference is second minus first; an interval that holds 0 shows no difference."
        ),
        figures=tuple(
            RowGroup(
                _group_title(one),
                tuple(
                    _figure_row(figure, SHOWN[path], _key(path))
                    for path, figure in one.figures.items()
                ),
                one.reason or "",
            )
            for one in found.groups
        ),
        differences=tuple(
            RowGroup(
                f"First: {one.first}. Second: {one.second}",
                _reaching(
                    _difference_row(figure, SHOWN[path], _key(path))
                    for path, figure in one.figures.items()
                ),
                one.reason or "",
            )
            for one in found.differences
        ),
    )


def _group_title(group: Group) -> str:
    counts = [f"{grouped(group.units)} units"]
    if group.without_scores:
        counts.append(f"{grouped(group.without_scores)} of them failed or not assessed")
    if group.left_out:
        counts.append(f"{grouped(group.left_out)} more left out, without labels or not assessed")
    return f"{group.value}: {', '.join(counts)}"


def _key(path: str) -> str:
    return path.rpartition(".")[2]
