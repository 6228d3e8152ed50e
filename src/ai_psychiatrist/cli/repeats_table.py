"""Repeated runs for people to read in a terminal: mean and spread, a column for each group."""

from collections.abc import Sequence

from rich.table import Table

from ai_psychiatrist.cli.console import plain
from ai_psychiatrist.cli.run_table import wide_console
from ai_psychiatrist.evaluation.repeats import RepeatedRun, Spread

_NOTE = (
    "A figure is the mean over the repeats ± their standard deviation; in brackets, the mean less "
    "that of group 1. The spread is that of the model, and says nothing of other participants: for "
    "intervals over these, compare two runs by name."
)


def print_repeats(groups: Sequence[RepeatedRun]) -> None:
    """Print one row for each figure."""
    console = wide_console()
    for number, group in enumerate(groups, start=1):
        folders = ", ".join(run.folder for run in group.runs)
        console.print(plain(f"{number}: {group} ({folders})"))
    table = Table("Figure", box=None, pad_edge=False, header_style="dim")
    for number, _ in enumerate(groups, start=1):
        table.add_column(str(number), justify="right", no_wrap=True)
    first = groups[0].figures
    for key, spread in first.items():
        cells = [_cell(spread, None)]
        cells += [_cell(group.figures[key], spread.mean) for group in groups[1:]]
        table.add_row(spread.title, *cells)
    console.print()
    console.print(table)
    console.print()
    console.print(_NOTE)


def _cell(spread: Spread, reference: float | None) -> str:
    if spread.mean is None:
        return "–"
    deviation = "" if spread.deviation is None else f" ± {spread.deviation:.3f}"
    difference = "" if reference is None else f" ({spread.mean - reference:+.3f})"
    return f"{spread.mean:.3f}{deviation}{difference}"
