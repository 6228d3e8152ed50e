"""Paired differences between two runs over the units that both assessed: second minus first."""

from collections.abc import Mapping
from dataclasses import dataclass

from ai_psychiatrist.evaluation.metrics.registry import Better, all_metrics
from ai_psychiatrist.evaluation.report.figure_row import Shown, grouped, show_difference
from ai_psychiatrist.evaluation.report.figures import Figure, Metrics, Scale, number_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """A row to be: where its difference lies, and its words."""

    path: str
    name: str
    scale: Scale
    better: Better | None = None
    """Where it is not the direction of the metric."""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceRow:
    """One figure of both runs and the difference."""

    name: str
    note: str
    first: str
    second: str
    shown: Shown
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What is said about another run."""

    second: str
    """The other run's name."""
    summary: str
    rows: tuple[DifferenceRow, ...]


def comparison_of(document: Mapping[str, object], *, first: str, second: str) -> Comparison:
    """Return the rows for a comparison of two runs of these names.

    Raises `InputError` when it has not the form of one.
    """
    found = Metrics(document)
    contrasts = _contrasts(found.word("settings.confidence"))
    differences = [found.figure(contrast.path) for contrast in contrasts]
    reach: dict[Scale, float] = {}
    for contrast, figure in zip(contrasts, differences, strict=True):
        ends = (figure.value, figure.low, figure.high)
        farthest = max((abs(end) for end in ends if end is not None), default=0.0)
        reach[contrast.scale] = max(reach.get(contrast.scale, 0.0), farthest)
    return Comparison(
        second=second,
        summary=f"First: {first}. Second: {second}. {_summary(found)}",
        rows=tuple(
            _row(found, contrast, figure, reach[contrast.scale])
            for contrast, figure in zip(contrasts, differences, strict=True)
        ),
    )


def _contrasts(signal: str) -> tuple[Contrast, ...]:
    return (
        Contrast(
            path="differences.items.mae_charged",
            name="Mean error, unknown items charged",
            scale=Scale.ITEM_POINTS,
        ),
        Contrast(
            path=f"matched_coverage.{signal}.mae_difference",
            name="Mean error at matched coverage",
            scale=Scale.ITEM_POINTS,
            note="both keep as many items as the run that scores fewer",
        ),
        Contrast(
            path="differences.items.mae",
            name="Mean error of the scored items",
            scale=Scale.ITEM_POINTS,
            better=Better.NEITHER,
            note="each run over the items that it scored",
        ),
        Contrast(
            path=f"differences.selective.by_signal.{signal}.charged_aurc",
            name="AURC over full coverage",
            scale=Scale.ITEM_POINTS,
        ),
        Contrast(
            path="differences.items.coverage",
            name="Labelled items that were scored",
            scale=Scale.SHARE,
        ),
        Contrast(
            path="differences.items.quadratic_kappa",
            name="Quadratic kappa of the items",
            scale=Scale.AGREEMENT,
        ),
        Contrast(
            path="differences.totals.range.midpoint_mae",
            name="Mean error of the total's midpoint",
            scale=Scale.TOTAL_POINTS,
        ),
        Contrast(
            path="differences.severity.exact_undecidable_as_wrong",
            name="Severity band right, of all",
            scale=Scale.SHARE,
        ),
        Contrast(
            path="differences.binary.from_total.undecided_as_wrong.balanced_accuracy",
            name="Balanced accuracy at a total of 10",
            scale=Scale.SHARE,
            note="undecided counts as wrong",
        ),
        Contrast(
            path="differences.evidence.units_with_a_symptom",
            name="Conversations with a symptom",
            scale=Scale.SHARE,
        ),
        Contrast(
            path="differences.failures.units_with_any",
            name="Units with any failure",
            scale=Scale.SHARE,
            better=Better.LOWER,
        ),
    )


def _row(found: Metrics, contrast: Contrast, figure: Figure, reach: float) -> DifferenceRow:
    sides = _sides(found, contrast)
    return DifferenceRow(
        name=contrast.name,
        note=contrast.note,
        first=sides[0],
        second=sides[1],
        shown=show_difference(figure, contrast.scale, reach=reach),
        verdict=_verdict(figure, contrast.better or _direction(contrast.path)),
    )


def _sides(found: Metrics, contrast: Contrast) -> tuple[str, str]:
    """Write the figure of either run; at matched coverage these are figures of their own."""
    stem = contrast.path.removesuffix("_difference")
    if stem != contrast.path:
        values = [found.figure(f"{stem}_{side}").value for side in ("first", "second")]
    else:
        values = [
            number_of(found.at(f"{contrast.path}.{side}"), path=contrast.path)
            for side in ("first", "second")
        ]
    first, second = ("–" if value is None else contrast.scale.amount(value) for value in values)
    return first, second


def _direction(path: str) -> Better:
    key = path.removesuffix("_difference").rpartition(".")[2]
    return next(metric.better for metric in all_metrics() if metric.key == key)


def _verdict(figure: Figure, better: Better) -> str:
    if figure.low is None or figure.high is None:
        return "cannot be told"
    if figure.low <= 0 <= figure.high:
        return "no difference shown"
    direction = Better.LOWER if figure.high < 0 else Better.HIGHER
    if better is Better.NEITHER:
        return f"{direction.value} in the second"
    return "second is better" if direction is better else "second is worse"


def _summary(found: Metrics) -> str:
    shared, labelled = found.count("units.shared"), found.count("units.shared_labelled")
    first, second = found.count("units.only_first"), found.count("units.only_second")
    return (
        "A difference is second minus first, over the "
        f"{grouped(shared)} units that both assessed ({grouped(labelled)} with labels). Left out: "
        f"{grouped(first)} only in the first, {grouped(second)} only in the second. Both runs are "
        "resampled together, so an interval that holds 0 shows no difference; pp are percentage "
        "points."
    )
