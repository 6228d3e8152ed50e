"""The figures of a run for people to read in a terminal."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ai_psychiatrist.cli.console import console_of, plain
from ai_psychiatrist.evaluation.measuring import ComparedRuns, Measured
from ai_psychiatrist.evaluation.metrics.run_metrics import RunMetrics
from ai_psychiatrist.evaluation.metrics.scale import Scale
from ai_psychiatrist.evaluation.reading_list import to_read_in_words
from ai_psychiatrist.evaluation.report.figure_rows import (
    DifferenceRow,
    Differences,
    FigureRow,
    GroupTables,
    differences_of,
    group_tables,
)
from ai_psychiatrist.evaluation.report.groups import RowGroup, evidence_of, headline_of, items_of
from ai_psychiatrist.evaluation.report.sentences import (
    cost_in_words,
    failure_in_words,
    failures_in_words,
    reading_of,
)
from ai_psychiatrist.evaluation.report.wording import amount
from ai_psychiatrist.evaluation.report.write import MOST_ROWS

_PIPE_WIDTH = 120
_TEXT_WIDTH = 96


def print_metrics(measured: Measured, console: Console | None = None) -> None:
    """Print every figure with its interval and n, or why it is not defined."""
    out, metrics = console or console_of(_PIPE_WIDTH), measured.metrics
    groups = headline_of(metrics)
    for paragraph in reading_of(metrics, groups, measured.provenance):
        out.print(Text(plain(paragraph)), width=min(out.width, _TEXT_WIDTH))
        out.print()
    out.print(_figures((*groups, *items_of(metrics), *evidence_of(metrics))))
    _account(out, metrics)
    if measured.subgroups is not None:
        _groups(out, group_tables(measured.subgroups))
    print_differences(measured.comparisons, out)
    out.print()
    # In one line, however narrow the window is: ids are copied from it.
    line = Text(plain(to_read_in_words(measured.provenance.readings)), style="bold")
    out.print(line, soft_wrap=True)


def print_differences(comparisons: Sequence[ComparedRuns], console: Console | None = None) -> None:
    """Print how runs differ."""
    out = console or console_of(_PIPE_WIDTH)
    for compared in comparisons:
        names = {"first": plain(str(compared.first)), "second": plain(str(compared.second))}
        _differences(out, differences_of(compared.found, **names))
        _made_otherwise(out, compared)


def _figures(groups: Iterable[RowGroup]) -> Table:
    table = Table("Figure", box=None, pad_edge=False, header_style="dim")
    table.add_column("Value", justify="right", no_wrap=True)
    table.add_column("95 % interval")
    table.add_column("n", justify="right", no_wrap=True)
    for group in groups:
        table.add_row()
        table.add_row(Text(group.title, style="bold"))
        for row in group.rows:
            table.add_row(_name(row, indent="  "), *_cells(row))
    return table


def _name(row: FigureRow, indent: str = "") -> Text:
    note = f"\n{indent}  {row.note}" if row.note else ""
    return Text(f"{indent}{row.name}").append(note, style="dim")


def _cells(row: FigureRow) -> tuple[Text, Text, Text]:
    count = Text(row.count)
    if row.value is None:
        return Text("–"), Text(row.spoken, style="yellow"), count
    return Text(row.value, style="bold"), Text(row.aside, style="" if row.span else "yellow"), count


def _account(out: Console, metrics: RunMetrics) -> None:
    out.print()
    out.print(Text(failures_in_words(metrics)), width=min(out.width, _TEXT_WIDTH))
    for kind in list(metrics.parts("failures", "kinds"))[:MOST_ROWS]:
        share = amount(kind.figure("rate").value or 0.0, Scale.SHARE)
        line = f"  {failure_in_words(kind)}: {share}, units {kind.count('units')}"
        out.print(Text(plain(line), style="bold red" if kind.count("is_frequent") else ""))
    out.print(Text(cost_in_words(metrics)), width=min(out.width, _TEXT_WIDTH))


def _differences(out: Console, found: Differences) -> None:
    out.print()
    out.print(Text(found.summary), width=min(out.width, _TEXT_WIDTH))
    out.print()
    out.print(_difference_table(found.rows))


def _difference_table(rows: Iterable[DifferenceRow]) -> Table:
    table = Table("Difference", box=None, pad_edge=False, header_style="dim")
    for name in ("First", "Second", "Second − first"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("95 % interval")
    table.add_column("n", justify="right", no_wrap=True)
    table.add_column("Reading")
    for row in rows:
        table.add_row(_name(row), *row.both, *_cells(row), row.verdict)
    return table


def _groups(out: Console, found: GroupTables) -> None:
    """Print the figures of groups of people, and how the groups differ."""
    out.print()
    out.print(Text(plain(found.summary)), width=min(out.width, _TEXT_WIDTH))
    for one in found.figures:
        if one.rows:
            out.print(_figures([RowGroup(plain(one.title), one.rows)]))
        else:
            out.print(Text(plain(f"\n{one.title}. {one.note}")))
    for other in found.differences:
        out.print()
        out.print(Text(plain(f"{other.title}. {other.note}".strip()), style="bold"))
        if other.rows:
            out.print(_difference_table(other.rows))


def _made_otherwise(out: Console, compared: ComparedRuns) -> None:
    """Print what the runs were made with that is not the same, and how many calls that cost."""
    calls = compared.found.differences.get(("cost", "calls_per_unit"))
    if calls is not None and calls.first is not None and calls.second is not None:
        out.print()
        out.print(Text(f"Model calls a unit: {calls.first:.1f} and {calls.second:.1f}"))
    if compared.made_otherwise:
        out.print(Text("Made otherwise:"))
    for name, (first, second) in compared.made_otherwise.items():
        out.print(Text(plain(f"  {name}: {first} → {second}")))
