"""The result in plain sentences, made from the figures and nothing else."""

from collections.abc import Iterator, Sequence
from typing import Final

from ai_psychiatrist.evaluation.report.account import Failures
from ai_psychiatrist.evaluation.report.figure_row import grouped, percent
from ai_psychiatrist.evaluation.report.figures import Figure, Metrics, Scale
from ai_psychiatrist.evaluation.report.rows import Group
from ai_psychiatrist.statistics.measure import SMALLEST_N

SMALL: Final = 100
"""With fewer labelled participants than this, differences of a few points are noise."""

SUSPICIOUS: Final = 30
"""So many scored items without a single error are not believed."""
_NAMED: Final = "95\u00a0% interval "


def reading_of(
    metrics: Metrics,
    groups: Sequence[Group],
    failures: Failures,
    *,
    concerns_depression: bool,
    not_read: int = 0,
) -> tuple[str, ...]:
    """Return a paragraph on the result and, where it is needed, one of caution.

    `not_read`: files or lines of the dataset that may be interviews and are no units.
    """
    result = " ".join(
        [*_units(metrics), *_result(metrics, concerns_depression=concerns_depression)]
    )
    caution = " ".join([*_unread(not_read), *_caution(metrics, groups, failures)])
    return (result, caution) if caution else (result,)


def _units(metrics: Metrics) -> Iterator[str]:
    units = metrics.count("units.predicted")
    done, part, failed = (
        metrics.count(f"units.by_status.{status}") for status in ("complete", "partial", "failed")
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
    share = metrics.figure("failures.units_with_any").value
    if share:
        yield f"{_conversations(round(share * units), verb=' carries| carry')} failures (below)."
    missing = metrics.count("units.labelled_without_prediction")
    if missing:
        yield f"{grouped(missing)} more have labels and no prediction: they count as failed."
    unread = metrics.count("units.with_turns_not_examined")
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


def _result(metrics: Metrics, *, concerns_depression: bool) -> Iterator[str]:
    if _is_nothing_scored(metrics):
        yield "No item of any conversation was scored: what follows describes that failure alone."
        return
    if metrics.count("units.labelled"):
        yield from _errors(metrics)
        yield from _severity(metrics)
        yield from _screening(metrics)
    elif metrics.count("units.predicted"):
        yield from _unlabelled(metrics, concerns_depression=concerns_depression)
    if not concerns_depression:
        yield from _false_evidence(metrics)


def _is_nothing_scored(metrics: Metrics) -> bool:
    units = metrics.count("units.predicted")
    return units > 0 and metrics.count("coverage_by_reason.all.scored") == 0


def _errors(metrics: Metrics) -> Iterator[str]:
    coverage = metrics.figure("items.coverage")
    error, charged = metrics.figure("items.mae"), metrics.figure("items.mae_charged")
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


def _severity(metrics: Metrics) -> Iterator[str]:
    right = metrics.figure("severity.exact_undecidable_as_wrong")
    decided = metrics.figure("severity.coverage")
    if right.value is None or decided.value is None:
        return
    undecided = 1 - decided.value
    aside = (
        f"; {Scale.SHARE.amount(undecided)} are undecidable and count as wrong"
        if undecided > 0
        else ""
    )
    yield f"The severity band is right for {_said(right, Scale.SHARE)} of the participants{aside}."


def _screening(metrics: Metrics) -> Iterator[str]:
    rates = "binary.from_total.undecided_as_wrong"
    found, cleared = (metrics.figure(f"{rates}.{rate}") for rate in ("sensitivity", "specificity"))
    if found.value is None or cleared.value is None:
        return
    yield (
        f"At a total of 10 or more it finds {_said(found, Scale.SHARE)} of the depressed and "
        f"clears {_said(cleared, Scale.SHARE)} of the others; undecided ones count as wrong."
    )


def _unlabelled(metrics: Metrics, *, concerns_depression: bool) -> Iterator[str]:
    reasons = metrics.table("coverage_by_reason.all")
    every = sum(metrics.count(f"coverage_by_reason.all.{reason}") for reason in reasons)
    scored = metrics.count("coverage_by_reason.all.scored")
    yield (
        "None of them has a label: this report says what was scored and on what evidence, not "
        f"whether it was right. {percent(scored, every)} of all items have a score."
    )
    found = metrics.figure("evidence.units_with_a_symptom")
    if concerns_depression and found.value is not None:
        yield (
            f"A symptom was found in {_said(found, Scale.SHARE, _NAMED)} of the conversations "
            "that were scored; should these not concern depression, all of that is false evidence."
        )


def _false_evidence(metrics: Metrics) -> Iterator[str]:
    found = metrics.figure("evidence.units_with_a_symptom")
    if found.value is None:
        return
    yield (
        "These conversations do not concern depression, so every symptom found is false evidence: "
        f"that happened in {_said(found, Scale.SHARE, _NAMED)} of those that were scored."
    )


def _caution(metrics: Metrics, groups: Sequence[Group], failures: Failures) -> Iterator[str]:
    labelled = metrics.count("units.participants_labelled")
    shown = [row.shown for group in groups for row in group.rows]
    wide = sum(figure.is_wide for figure in shown)
    known = sum(figure.span is not None for figure in shown)
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
    error = metrics.figure("items.mae")
    if error.value == 0 and (error.count or 0) >= SUSPICIOUS:
        yield (
            "No scored item differs from its label: that is what made-up interviews or a leak of "
            "the labels look like, not what interviews with people do."
        )
    if failures.frequent:
        yield (
            f"Some failures befell more than {failures.threshold} of the units; look at them "
            "before the scores."
        )


def _said(figure: Figure, scale: Scale, named: str = "") -> str:
    span = scale.span(figure)
    value = scale.amount(figure.value) if figure.value is not None else "an undefined share"
    return value if span is None else f"{value} ({named}{span})"
