"""The runs of a folder for people to read in a terminal."""

from rich.console import Console
from rich.table import Table

from ai_psychiatrist.cli.report import plain
from ai_psychiatrist.evaluation.runs.run_list import RunList

_PIPE_WIDTH = 160
_SHOWN_DIGITS = 12
_COUNTS = ("Units", "Complete", "With failures", "Failed", "Changes")


def print_runs(found: RunList) -> None:
    """Print one row for each run, and the names of those that cannot be read."""
    table = Table("Run", "Model", "Mode", "Prompts", "Dataset", box=None, pad_edge=False)
    for heading in _COUNTS:
        table.add_column(heading, justify="right", no_wrap=True)
    for run in found.runs:
        name = run.name
        counts = (run.asked, run.complete, run.with_failures, run.failed, run.changes)
        words = (name.folder, name.model, name.mode, name.prompts, run.dataset[:_SHOWN_DIGITS])
        table.add_row(*map(plain, words), *map(str, counts))
    console = Console(markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console = Console(markup=False, highlight=False, emoji=False, width=_PIPE_WIDTH)
    console.print(table)
    for folder in found.damaged:
        console.print(f"damaged: {plain(folder)}")
