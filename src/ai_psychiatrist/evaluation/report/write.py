"""The report as one HTML file that needs nothing else: no network, no script, no other file."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from ai_psychiatrist.evaluation.metrics.outcomes import FREQUENT_FAILURES
from ai_psychiatrist.evaluation.metrics.run_metrics import RunMetrics, Scale
from ai_psychiatrist.evaluation.metrics.unit_errors import LargestErrors, UnitChanges
from ai_psychiatrist.evaluation.reading_list import to_read_in_words
from ai_psychiatrist.evaluation.report import charts
from ai_psychiatrist.evaluation.report.charts import charts_of, unknown_items_of
from ai_psychiatrist.evaluation.report.figure_rows import DifferenceRow, GroupTables, RowGroup
from ai_psychiatrist.evaluation.report.groups import evidence_of, headline_of, items_of, tiles_of
from ai_psychiatrist.evaluation.report.provenance import Provenance
from ai_psychiatrist.evaluation.report.sentences import (
    cost_in_words,
    failure_in_words,
    failures_in_words,
    reading_of,
)
from ai_psychiatrist.evaluation.report.unit_rows import (
    CHANGE_COLUMNS,
    ERROR_COLUMNS,
    change_row,
    changes_note,
    error_row,
    errors_note,
)
from ai_psychiatrist.evaluation.report.wording import amount, grouped, in_words, money, span
from ai_psychiatrist.evaluation.runs.cost_file import RunCost
from ai_psychiatrist.evaluation.scores.prediction import FailureSummary
from ai_psychiatrist.infrastructure.private_files import write_whole, writing_to


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRow:
    """Calls, tokens and money of one side or one agent, as words."""

    name: str
    cells: tuple[str, ...]
    """Calls, tokens in, tokens out, share from a cache, price."""


def cost_rows(cost: RunCost | None) -> list[CostRow]:
    """Return planned and used cost, also by agent; nothing without token counts."""
    if cost is None or not _tokens(cost.used).get("input"):
        return []
    calls = cost.planned.get("calls")
    expected = calls.get("expected") if isinstance(calls, Mapping) else None
    return [
        _row("Planned", cost.planned | {"calls": expected}, cost.planned_price),
        _row("Used", cost.used, "usd"),
        *_by_agent(cost.used),
    ]


def _by_agent(used: Mapping[str, object]) -> Iterator[CostRow]:
    rows = used.get("by_agent")
    for row in rows if isinstance(rows, Sequence) else ():
        yield _row(f"{in_words(str(row['agent']))}, {row['model']}", row, "usd")


def _row(name: str, account: Mapping[str, object], price: str) -> CostRow:
    tokens = _tokens(account)
    sent, written, read = (tokens.get(one) for one in ("input", "output", "cache_read"))
    share = read / sent if isinstance(read, int) and isinstance(sent, int) and sent else 0.0
    counts = (account.get("calls"), sent, written)
    shown = tuple(grouped(one) if isinstance(one, int) else "\N{EN DASH}" for one in counts)
    return CostRow(name=name, cells=(*shown, f"{share:.0%}", money(account.get(price))))


def _tokens(account: Mapping[str, object]) -> Mapping[str, object]:
    tokens = account.get("tokens")
    return tokens if isinstance(tokens, Mapping) else {}


MOST_ROWS: Final = 40
"""Of failures and of callers; what is left out is counted."""


def write_report(
    out: Path,
    *,
    metrics: RunMetrics,
    provenance: Provenance,
    differences: Sequence[tuple[RowGroup[DifferenceRow], UnitChanges]] = (),
    worst: LargestErrors | None = None,
    spent: RunCost | None = None,
    by_group: GroupTables | None = None,
    names_units: bool = True,
) -> None:
    """Write the report of a run; the same inputs give the same bytes.

    `names_units`: whether units are listed by their ids, those to be read for danger among them.
    The file appears whole or not at all. Raises `InputError` when it cannot be written.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - slow to load

    environment = Environment(
        loader=PackageLoader("ai_psychiatrist.evaluation.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "grouped": grouped,
        "words": in_words,
        "failure_in_words": failure_in_words,
        "codes": _codes,
        "error_row": error_row,
        "errors_note": errors_note,
        "change_row": change_row,
        "changes_note": changes_note,
        "share": partial(amount, scale=Scale.SHARE),
        "interval": partial(span, scale=Scale.SHARE),
    }
    environment.globals["plane"] = charts
    headline = headline_of(metrics)
    page = environment.get_template("report.html.j2").render(
        confusion=metrics.part("severity", "confusion").tree,
        kinds=list(metrics.parts("failures", "kinds")),
        callers=list(metrics.parts("cost", "by_agent_and_model")),
        codes=metrics.part("cost", "by_code").tree,
        provenance=provenance,
        reading=reading_of(metrics, headline, provenance),
        tiles=list(tiles_of(metrics)),
        headline=headline,
        charts=list(charts_of(metrics)),
        errors=items_of(metrics, "mae", "coverage"),
        unknown_items=unknown_items_of(metrics),
        evidence=evidence_of(metrics),
        failures=failures_in_words(metrics),
        cost=cost_in_words(metrics),
        to_read=to_read_in_words(provenance.readings, names_units=names_units),
        spent=cost_rows(spent),
        differences=differences,
        worst=worst if names_units and worst is not None and worst.units else None,
        names_units=names_units,
        error_columns=ERROR_COLUMNS,
        change_columns=CHANGE_COLUMNS,
        by_group=by_group,
        most_rows=MOST_ROWS,
        frequent=FREQUENT_FAILURES,
    )
    with writing_to(out, field="--out"):
        write_whole(out, [page.encode("utf-8", errors="replace")])


def _codes(failures: Iterable[FailureSummary]) -> str:
    """Write the codes of a unit's failures."""
    counts = Counter(failure.code or failure.category for failure in failures)
    return ", ".join(
        in_words(code) + (f" ×{count}" if count > 1 else "")
        for code, count in sorted(counts.items())
    )
