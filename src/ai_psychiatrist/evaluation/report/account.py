"""What failed in a run, and what its model calls cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.evaluation.report.figure_row import Shown, grouped, of, show, words
from ai_psychiatrist.evaluation.report.figures import Metrics, Scale, figure_of

MOST_ROWS: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureRow:
    """One kind of failure."""

    name: str
    stage: str
    code: str | None
    units: str
    rate: Shown
    is_frequent: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures:
    """The section on failures."""

    summary: str
    rows: tuple[FailureRow, ...]
    frequent: tuple[str, ...]
    threshold: str
    left_out: int


def failures_of(metrics: Metrics) -> Failures:
    """Return the kinds of failure, the most frequent first."""
    kinds = metrics.rows("failures.kinds")
    rows = tuple(_failure(kind) for kind in kinds[:MOST_ROWS])
    threshold = figure_of({"value": metrics.at("failures.frequent_above")}, path="failures")
    return Failures(
        summary=_failure_summary(metrics),
        rows=rows,
        frequent=tuple(map(_in_words, filter(lambda row: row.is_frequent, rows))),
        threshold=Scale.SHARE.amount(threshold.value or 0.0),
        left_out=max(len(kinds) - MOST_ROWS, 0),
    )


def _failure(kind: Mapping[str, object]) -> FailureRow:
    code = kind.get("code")
    return FailureRow(
        name=words(str(kind.get("category"))),
        stage=words(str(kind.get("stage"))),
        code=words(code) if isinstance(code, str) else None,
        units=_written(kind.get("units")),
        rate=show(figure_of(kind.get("rate"), path="failures.kinds"), Scale.SHARE),
        is_frequent=kind.get("is_frequent") is True,
    )


def _in_words(row: FailureRow) -> str:
    code = "" if row.code is None else f" ({row.code})"
    return f"{row.name} in {row.stage}{code}, {row.rate.value}"


def _failure_summary(metrics: Metrics) -> str:
    units = metrics.count("units.predicted")
    failed = metrics.count("units.by_status.failed")
    partial = metrics.count("units.by_status.partial")
    if not metrics.rows("failures.kinds"):
        return "Nothing failed in any unit." if units else "There are no units."
    any_failure = show(metrics.figure("failures.units_with_any"), Scale.SHARE)
    return (
        f"Units with any failure: {any_failure.spoken}. Failed as a whole: {of(failed, units)}; "
        f"finished in part: {of(partial, units)}."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRow:
    """The calls of one agent to one model."""

    agent: str
    model: str
    cells: tuple[str, ...]
    """In the order of `COLUMNS`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The section on calls and tokens."""

    summary: str
    columns: tuple[str, ...]
    rows: tuple[CostRow, ...]
    left_out: int
    codes: str
    """Why replies were not taken or calls failed, with counts."""


COLUMNS: Final[Mapping[str, str]] = {
    "calls": "Calls",
    "accepted": "Accepted",
    "rejected": "Rejected",
    "failed": "Failed",
    "repaired": "Repaired",
    "coercions": "Coercions",
    "input_tokens": "Tokens in",
    "output_tokens": "Tokens out",
}


def cost_of(metrics: Metrics) -> Cost:
    """Return calls and tokens by agent and model."""
    callers = metrics.rows("cost.by_agent_and_model")
    codes = metrics.table("cost.by_code")
    return Cost(
        summary=_cost_summary(metrics),
        columns=tuple(COLUMNS.values()),
        rows=tuple(_caller(caller) for caller in callers[:MOST_ROWS]),
        left_out=max(len(callers) - MOST_ROWS, 0),
        codes=", ".join(f"{words(code)} {_written(count)}" for code, count in codes.items()),
    )


def _caller(caller: Mapping[str, object]) -> CostRow:
    return CostRow(
        agent=words(str(caller.get("agent"))),
        model=str(caller.get("model")),
        cells=tuple(_written(caller.get(column)) for column in COLUMNS),
    )


def _written(found: object) -> str:
    """Write a count, or a figure of counted tokens."""
    if isinstance(found, int) and not isinstance(found, bool):
        return grouped(found)
    figure = figure_of(found, path="cost")
    return "not reported" if figure.value is None else grouped(int(figure.value))


def _cost_summary(metrics: Metrics) -> str:
    calls = metrics.count("cost.all.calls")
    if calls == 0:
        return "No model was called."
    per_unit = metrics.figure("cost.calls_per_unit").value
    rejected, failed = metrics.count("cost.all.rejected"), metrics.count("cost.all.failed")
    mean = "" if per_unit is None else f", {per_unit:.1f} for a unit on average"
    return (
        f"Model calls: {grouped(calls)}{mean}. Replies that were rejected: {of(rejected, calls)}. "
        f"Calls that failed: {of(failed, calls)}."
    )
