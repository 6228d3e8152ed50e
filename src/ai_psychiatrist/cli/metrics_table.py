"""The figures of a run for people to read in a terminal."""

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ai_psychiatrist.cli.report import plain
from ai_psychiatrist.evaluation.measuring import ComparedRuns
from ai_psychiatrist.evaluation.report.account import Failures, cost_of, failures_of
from ai_psychiatrist.evaluation.report.comparison import Comparison, comparison_of
from ai_psychiatrist.evaluation.report.evidence import evidence_of
from ai_psychiatrist.evaluation.report.figure_row import Shown
from ai_psychiatrist.evaluation.report.figures import Metrics
from ai_psychiatrist.evaluation.report.headline import headline_of, items_of
from ai_psychiatrist.evaluation.report.rows import Group
from ai_psychiatrist.evaluation.report.sentences import reading_of

_PIPE_WIDTH = 120
_TEXT_WIDTH = 96


def print_metrics(
    metrics: Mapping[str, object],
    comparisons: Sequence[ComparedRuns] = (),
    console: Console | None = None,
) -> None:
    """Print every figure with its interval and n, or why it is not defined.

    Raises `InputError` when the metrics have not the form of this version.
    """
    out = console or _console()
    found = Metrics(metrics)
    groups, failures = headline_of(found), failures_of(found)
    for paragraph in reading_of(found, groups, failures, concerns_depression=True):
        out.print(Text(paragraph), width=min(out.width, _TEXT_WIDTH))
        out.print()
    evidence = evidence_of(found, concerns_depression=True).groups
    out.print(_figures((*groups, *items_of(found), *evidence)))
    _account(out, found, failures)
    print_differences(comparisons, out)


def print_differences(comparisons: Sequence[ComparedRuns], console: Console | None = None) -> None:
    """Print how runs differ. Raises `InputError` when the figures have another form."""
    out = console or _console()
    for compared in comparisons:
        names = {"first": plain(str(compared.first)), "second": plain(str(compared.second))}
        _differences(out, comparison_of(compared.differences, **names))


def _console() -> Console:
    console = Console(markup=False, highlight=False, emoji=False)
    if console.is_terminal:
        return console
    return Console(markup=False, highlight=False, emoji=False, width=_PIPE_WIDTH)


def _figures(groups: Iterable[Group]) -> Table:
    table = Table("Figure", box=None, pad_edge=False, header_style="dim")
    table.add_column("Value", justify="right", no_wrap=True)
    table.add_column("95 % interval")
    table.add_column("n", justify="right", no_wrap=True)
    for group in groups:
        table.add_row()
        table.add_row(Text(group.title, style="bold"))
        for row in group.rows:
            note = f"\n    {row.note}" if row.note else ""
            table.add_row(Text(f"  {row.name}").append(note, style="dim"), *_cells(row.shown))
    return table


def _cells(shown: Shown) -> tuple[Text, Text, Text]:
    count = Text(shown.count or "–")
    if shown.value is None:
        return Text("–"), Text(f"not defined: {shown.reason}", style="yellow"), count
    span = Text(shown.span or shown.reason or "no interval", style="" if shown.span else "yellow")
    return Text(shown.value, style="bold"), span, count


def _account(out: Console, metrics: Metrics, failures: Failures) -> None:
    out.print()
    out.print(Text(plain(failures.summary)), width=min(out.width, _TEXT_WIDTH))
    for row in failures.rows:
        code = "" if row.code is None else f" ({row.code})"
        line = f"  {row.name} in {row.stage}{code}: {row.rate.value}, units {row.units}"
        style = "bold red" if row.is_frequent else ""
        out.print(Text(plain(line), style=style))
    out.print(Text(cost_of(metrics).summary), width=min(out.width, _TEXT_WIDTH))


def _differences(out: Console, comparison: Comparison) -> None:
    table = Table("Difference", box=None, pad_edge=False, header_style="dim")
    for name in ("First", "Second", "Second − first"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("95 % interval")
    table.add_column("n", justify="right", no_wrap=True)
    table.add_column("Reading")
    for row in comparison.rows:
        table.add_row(row.name, row.first, row.second, *_cells(row.shown), row.verdict)
    out.print()
    out.print(Text(comparison.summary), width=min(out.width, _TEXT_WIDTH))
    out.print()
    out.print(table)
