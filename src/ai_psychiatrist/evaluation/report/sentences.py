"""The result in plain sentences, made from the figures and nothing else."""

from collections.abc import Iterator, Sequence
from typing import Final

from ai_psychiatrist.domain.assessment import AssessmentStatus
from ai_psychiatrist.evaluation.metrics.compute import RunComparison
from ai_psychiatrist.evaluation.metrics.outcomes import FREQUENT_FAILURES, Outcomes
from ai_psychiatrist.evaluation.metrics.run_metrics import SCORED, Part, RunMetrics, Scale
from ai_psychiatrist.evaluation.report.figure_rows import FigureRow, RowGroup, row_of
from ai_psychiatrist.evaluation.report.provenance import Provenance
from ai_psychiatrist.evaluation.report.wording import amount, grouped, in_words, of, percent, span
from ai_psychiatrist.statistics.figure import Figure
from ai_psychiatrist.statistics.measure import SMALLEST_N

SMALL: Final = 100
"""With fewer labelled participants than this, differences of a few points are noise."""

SUSPICIOUS: Final = 30
"""So many scored items without a single error are not believed."""
_NAMED: Final = "95\u00a0% interval "


def reading_of(
    metrics: RunMetrics, groups: Sequence[RowGroup[FigureRow]], provenance: Provenance
) -> tuple[str, ...]:
    """Return a paragraph on the result and, where it is needed, one of caution."""
    result = " ".join([*_units(metrics), *_result(metrics, provenance)])
    caution = " ".join(
        [*_unread(provenance.not_read), *provenance.changes, *_caution(metrics, groups)]
    )
    return (result, caution) if caution else (result,)


def _units(metrics: RunMetrics) -> Iterator[str]:
    units = metrics.count("units", "predicted")
    done, part, failed = (
        metrics.count("units", "by_status", status) for status in AssessmentStatus
    )
    if units == 0:
        yield "The run assessed no conversation."
    elif done == units:
        yield f"{_conversations(units)} assessed in full."
    else:
        yield (
            f"Of {_conversations(units, verb='')}, {grouped(done)} "
            f"{'was' if done == 1 else 'were'} assessed in full, {grouped(part)} in part, and "
            f"{grouped(failed)} failed."
        )
    share = metrics.figure("failures", "units_with_any").value
    if share:
        yield f"{_conversations(round(share * units), verb=' carries| carry')} failures (below)."
    missing = metrics.count("units", "labelled_without_prediction")
    if missing:
        yield f"{grouped(missing)} more have labels and no prediction: they count as failed."
    unread = metrics.count("units", "with_turns_not_examined")
    if unread:
        yield (
            f"In {_conversations(unread, verb='')} there are turns in a language that is not read: "
            "signs of danger in them are not found, and a person has to read them."
        )


def _conversations(count: int, *, verb: str = " was| were") -> str:
    one, many = verb.split("|") if verb else ("", "")
    return f"{grouped(count)} conversation{one if count == 1 else 's' + many}"


def _unread(not_read: int) -> Iterator[str]:
    if not_read:
        yield (
            f"{grouped(not_read)} {'file or line' if not_read == 1 else 'files or lines'} of the "
            "dataset could not be read: no figure below counts "
            f"{'it' if not_read == 1 else 'them'}."
        )


def _result(metrics: RunMetrics, provenance: Provenance) -> Iterator[str]:
    predicted = metrics.count("units", "predicted")
    if predicted and not metrics.count("coverage_by_reason", "all", SCORED):
        yield "No item of any conversation was scored: what follows describes that failure alone."
        return
    if metrics.count("units", "labelled"):
        yield from _errors(metrics)
        yield from _severity(metrics)
        yield from _screening(metrics)
    elif predicted:
        yield from _unlabelled(metrics, provenance)
    if not provenance.concerns_depression:
        yield from _false_evidence(metrics)


def _errors(metrics: RunMetrics) -> Iterator[str]:
    coverage, error, charged = (
        metrics.figure("items", key) for key in ("coverage", "mae", "mae_charged")
    )
    if coverage.value is None:
        yield "No item has a label, so no error of an item can be given."
        return
    if error.value is None:
        yield "None of the labelled items was scored."
        return
    left = "" if coverage.value >= 1 else " and left the others unknown"
    yield f"The run scored {_said(coverage, Scale.SHARE, _NAMED)} of the labelled items{left}."
    yield (
        "Where it gave a score, the mean distance from the label was "
        f"{_said(error, Scale.ITEM_POINTS)} of 3 points."
    )
    if charged.value is not None and coverage.value < 1:
        yield (
            "With every unknown item charged as the largest possible error, 3 points, the mean "
            f"error is {_said(charged, Scale.ITEM_POINTS)}: abstaining cannot improve this figure."
        )


def _severity(metrics: RunMetrics) -> Iterator[str]:
    right = metrics.figure("severity", "exact_undecidable_as_wrong")
    decided = metrics.figure("severity", "coverage")
    if right.value is None or decided.value is None:
        return
    undecided = 1 - decided.value
    aside = (
        f"; {amount(undecided, Scale.SHARE)} are undecidable and count as wrong"
        if undecided > 0
        else ""
    )
    yield f"The severity band is right for {_said(right, Scale.SHARE)} of the participants{aside}."


def _screening(metrics: RunMetrics) -> Iterator[str]:
    rates = metrics.part("binary", "from_total", "undecided_as_wrong")
    found, cleared = rates.figure("sensitivity"), rates.figure("specificity")
    if found.value is None or cleared.value is None:
        return
    yield (
        f"At a total of 10 or more it finds {_said(found, Scale.SHARE)} of the depressed and "
        f"clears {_said(cleared, Scale.SHARE)} of the others; undecided ones count as wrong."
    )


def _unlabelled(metrics: RunMetrics, provenance: Provenance) -> Iterator[str]:
    reasons = metrics.part("coverage_by_reason", "all")
    yield (
        "None of them has a label: this report says what was scored and on what evidence, not "
        f"whether it was right. {percent(reasons.count(SCORED), reasons.total)} of all items have "
        "a score."
    )
    found = metrics.figure("evidence", "units_with_a_symptom")
    if provenance.concerns_depression and found.value is not None:
        yield (
            f"A symptom was found in {_said(found, Scale.SHARE, _NAMED)} of the conversations "
            "that were scored; should these not concern depression, all of that is false evidence."
        )


def _false_evidence(metrics: RunMetrics) -> Iterator[str]:
    found = metrics.figure("evidence", "units_with_a_symptom")
    if found.value is None:
        return
    yield (
        "These conversations do not concern depression, so every symptom found is false evidence: "
        f"that happened in {_said(found, Scale.SHARE, _NAMED)} of those that were scored."
    )


def _caution(metrics: RunMetrics, groups: Sequence[RowGroup[FigureRow]]) -> Iterator[str]:
    labelled = metrics.count("units", "participants_labelled")
    shown = [row for group in groups for row in group.rows]
    wide = sum(row.is_wide for row in shown)
    known = sum(row.figure.interval is not None for row in shown)
    if 0 < labelled < SMALLEST_N:
        people = f"{labelled} labelled participant{'' if labelled == 1 else 's'}"
        yield f"Only {people}, and intervals need {SMALLEST_N}: nothing here generalises."
    elif 0 < labelled < SMALL:
        yield (
            f"Only {grouped(labelled)} participants have labels: read small differences as chance."
        )
    if wide and known > 1:
        yield (
            f"{wide} of the {known} intervals below span more than a tenth of their scale; such a "
            "value is a direction, not a measurement."
        )
    error = metrics.figure("items", "mae")
    if error.value == 0 and error.n >= SUSPICIOUS:
        yield (
            "No scored item differs from its label: that is what made-up interviews or a leak of "
            "the labels look like, not what interviews with people do."
        )
    if any(kind.count("is_frequent") for kind in metrics.parts("failures", "kinds")):
        threshold = amount(FREQUENT_FAILURES, Scale.SHARE)
        yield (
            f"Some failures befell more than {threshold} of the units; look at them before the "
            "scores."
        )


def _said(figure: Figure, scale: Scale, named: str = "") -> str:
    if figure.value is None:
        return "an undefined share"
    value, interval = amount(figure.value, scale), span(figure, scale)
    return value if interval is None else f"{value} ({named}{interval})"


def failures_in_words(metrics: RunMetrics) -> str:
    """Return how many units failed, in part or as wholes."""
    units, by_status = metrics.count("units", "predicted"), metrics.part("units", "by_status")
    if not list(metrics.parts("failures", "kinds")):
        return "Nothing failed in any unit." if units else "There are no units."
    any_failure = row_of(metrics.part("failures"), Outcomes, "units_with_any")
    return (
        f"{any_failure.name}: {any_failure.spoken}. "
        f"Failed as a whole: {of(by_status.count(AssessmentStatus.FAILED), units)}; "
        f"finished in part: {of(by_status.count(AssessmentStatus.PARTIAL), units)}."
    )


def failure_in_words(kind: Part) -> str:
    """Return a kind of failure."""
    code = "" if kind.tree["code"] is None else f" ({in_words(kind.text('code'))})"
    return f"{in_words(kind.text('category'))} in {in_words(kind.text('stage'))}{code}"


def calls_in_words(found: RunComparison) -> str:
    """Return how many calls two runs made for a unit, and how many of them gave nothing."""
    per_unit = found.differences["cost", "calls_per_unit"]
    sides = zip(("First", "Second"), (per_unit.first, per_unit.second), strict=True)
    return "\n".join(
        _calls(name, mean, Part(found.calls).part(name.lower())) for name, mean in sides
    )


def _calls(name: str, mean: float | None, ends: Part) -> str:
    calls, rejected, failed = map(ends.count, ("calls", "rejected", "failed"))
    if not calls:
        return f"{name}: no model calls"
    a_unit = "" if mean is None else f" {mean:.1f} model calls a unit;"
    return (
        f"{name}:{a_unit} replies rejected {of(rejected, calls)}, calls failed {of(failed, calls)}"
    )


def cost_in_words(metrics: RunMetrics) -> str:
    """Return how many calls there were and how many gave nothing."""
    per_unit = metrics.figure("cost", "calls_per_unit").value
    calls, rejected, failed = (
        metrics.count("cost", "all", name) for name in ("calls", "rejected", "failed")
    )
    if calls == 0:
        return "No model was called."
    mean = "" if per_unit is None else f", {per_unit:.1f} for a unit on average"
    return (
        f"Model calls: {grouped(calls)}{mean}. "
        f"Replies that were rejected: {of(rejected, calls)}. "
        f"Calls that failed: {of(failed, calls)}."
    )
