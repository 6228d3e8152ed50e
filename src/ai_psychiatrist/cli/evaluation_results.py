"""The commands on what runs leave: a list of them, a table, the words of a unit."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ai_psychiatrist.cli.command_app import CommandApp
from ai_psychiatrist.cli.console import refusing_bad_input
from ai_psychiatrist.cli.evaluation_options import JsonOption, RunFolderArgument, print_json
from ai_psychiatrist.cli.run_source import brought_up_to_date, noting_read_words, open_run
from ai_psychiatrist.cli.run_table import print_runs
from ai_psychiatrist.evaluation.report.unit_table import write_table
from ai_psychiatrist.evaluation.runs.run_list import runs_in
from ai_psychiatrist.evaluation.runs.unit_words import write_unit

results_app = CommandApp()

TABLE_EXAMPLES = """
Examples:

  ai-psychiatrist evaluate table runs/first --out first.csv

  ai-psychiatrist evaluate table wordings --out wordings.xlsx
"""


@results_app.command(epilog="Example:\n\n  ai-psychiatrist evaluate runs runs/")
def runs(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the runs.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """List the runs in a folder: what each was made with, and how its units ended."""
    with refusing_bad_input():
        brought_up_to_date(folder)
        found = runs_in(folder)
        if as_json:
            print_json(asdict(found))
        else:
            print_runs(found)


@results_app.command(epilog=TABLE_EXAMPLES)
def table(
    run: RunFolderArgument,
    *,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="A .csv or .xlsx file.")],
) -> None:
    """Write the results of a run, or of all in a folder, as a table: a row a unit, no words."""
    with refusing_bad_input():
        brought_up_to_date(run)
        write_table(run, out)
        typer.echo(str(out))


@results_app.command(
    epilog="Example:\n\n  ai-psychiatrist evaluate unit runs/first 303 --out unit.json"
)
def unit(
    run: RunFolderArgument,
    unit_id: Annotated[str, typer.Argument(metavar="UNIT", help="As the report names it.")],
    *,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="A file for your eyes alone.")],
) -> None:
    """Write a unit's text, prompts, replies and quotes into a file; it holds what people said."""
    with refusing_bad_input(), noting_read_words(run), open_run(run) as ledger:
        write_unit(ledger, unit_id, out)
    typer.echo(f"written to {out}; it holds what people said", err=True)
