"""The runs of a folder for people to read in a terminal."""

from rich.console import Console
from rich.table import Table

from ai_psychiatrist.cli.console import console_of, plain
from ai_psychiatrist.evaluation.runs.run_list import RunList

_PIPE_WIDTH = 160
_SHOWN_DIGITS = 12
_COUNTS = ("Repeat", "Units", "Complete", "With failures", "Failed")


def print_runs(found: RunList) -> None:
    """Print one row for each run, and the names of those that cannot be read."""
    table = Table("Run", "Model", "Mode", "Prompts", "Dataset", box=None, pad_edge=False)
    for heading in _COUNTS:
        table.add_column(heading, justify="right", no_wrap=True)
    for run in found.runs:
        name = run.name
        words = (name.folder, name.model, name.mode, name.wording, run.dataset[:_SHOWN_DIGITS])
        counts = (name.repeat or "–", run.asked, run.complete, run.with_failures, run.failed)
        table.add_row(*map(plain, words), *map(str, counts))
    console = wide_console()
    console.print(table)
    for run in found.runs:
        for change in run.changes:
            console.print(f"{plain(run.name.folder)}: {change}")
    for folder in found.damaged:
        console.print(f"damaged: {plain(folder)}")


def wide_console() -> Console:
    """Return where a wide table goes: as wide as the terminal, or all of it into a file."""
    return console_of(_PIPE_WIDTH)
