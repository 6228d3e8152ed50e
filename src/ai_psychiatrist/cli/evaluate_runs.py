"""The commands on runs that were begun: how far they are, stopped, erased, merged, listed."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from ai_psychiatrist.cli.command_app import CommandApp
from ai_psychiatrist.cli.console import (
    WIDE,
    ExitCode,
    console_of,
    fail,
    numbers,
    plain,
    print_json,
    say,
    table_of,
)
from ai_psychiatrist.cli.dataset_runs import conclude, say_next
from ai_psychiatrist.cli.options import JsonOption, RunFolderArgument
from ai_psychiatrist.cli.progress import step_progress
from ai_psychiatrist.cli.run_source import (
    brought_up_to_date,
    noting_read_words,
    open_run,
    opened_database,
    run_cipher,
)
from ai_psychiatrist.cli.settings import read_settings
from ai_psychiatrist.cli.stores import audited, opened_stores
from ai_psychiatrist.domain.access import LOCAL
from ai_psychiatrist.evaluation.report.unit_table import write_table
from ai_psychiatrist.evaluation.runs.run import RunState, state_of
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.evaluation.runs.run_list import RunList, runs_in
from ai_psychiatrist.evaluation.runs.served_models import served_in
from ai_psychiatrist.evaluation.runs.shards import merge_shards
from ai_psychiatrist.evaluation.runs.unit_words import write_unit
from ai_psychiatrist.store.run_places import run_in_database, write_pointer
from ai_psychiatrist.wiring.records import database_runs

runs_app = CommandApp()

STATUS_EXAMPLES = """
Examples:

  ai-psychiatrist evaluate status runs/shared

  ai-psychiatrist evaluate status runs/shared --json

  ai-psychiatrist evaluate status copy --run 5f1c0a52-8f0e-4bd4-a42b-3f6f5c6a1b11

Exit status: 4 while units wait for a worker or are under way, else as of run.
"""
MERGE_EXAMPLES = """
Examples:

  ai-psychiatrist evaluate run interviews/ --out parts/1 --shard 1/2

  ai-psychiatrist evaluate run interviews/ --out parts/2 --shard 2/2

  ai-psychiatrist evaluate merge parts/* --out runs/all

  ai-psychiatrist evaluate merge parts/* --out runs/so-far --partial

The shards are only read. Their results become what one process would have written, and every
command on runs works with them.

Exit status: as of run; 2 for shards that make no whole run, with what is missing or differs.
"""
TABLE_EXAMPLES = """
Examples:

  ai-psychiatrist evaluate table runs/first --out first.csv

  ai-psychiatrist evaluate table wordings --out wordings.xlsx
"""
_SHOWN_DIGITS = 12


@runs_app.command(epilog=STATUS_EXAMPLES)
def status(
    run: RunFolderArgument,
    *,
    run_id: Annotated[
        UUID | None,
        typer.Option(
            "--run",
            metavar="ID",
            help="Make RUN a folder of this run of the database, as database.json names it.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show the progress of a run, and update the files in its folder."""
    folder = RunFolder(run)
    if run_id is not None:
        _show_here(folder, str(run_id))
    state = _state(folder)
    if as_json:
        queue = {"queued": state.queued_units, "running": state.running_units}
        print_json(asdict(state.counts) | queue)
    raise typer.Exit(conclude(state))


def _show_here(folder: RunFolder, run_id: str) -> None:
    """Make a folder of a run; raises `InputError` where there is no such run."""
    if folder.run.exists():
        fail(f"{folder.path} holds a run already: leave out --run, or name another folder")
    with opened_database() as place:
        place.runs.open(run_id, folder.path)
        folder.restore(place.runs.files(run_id))
    write_pointer(folder.path, run_id)


def _state(folder: RunFolder) -> RunState:
    folder.require_run()
    if run_in_database(folder.path) is None:
        with open_run(folder.path) as ledger:
            return state_of(folder, ledger, served_in(folder))
    return brought_up_to_date(folder.path)[0]


@runs_app.command(epilog="Example:\n\n  ai-psychiatrist evaluate stop runs/shared")
def stop(run: RunFolderArgument) -> None:
    """Withdraw the waiting units of a run in the database from the workers.

    What is under way comes to its end. `evaluate run --resume` goes on.
    """
    run_id = _in_database(run)
    with opened_database() as place:
        count = place.runs.withdraw(run_id)
    typer.echo(f"{count} units no longer wait; continue with --resume")


@runs_app.command(epilog="Example:\n\n  ai-psychiatrist evaluate erase runs/shared --yes")
def erase(
    run: RunFolderArgument,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Erase a run in the database: its key is destroyed, so that copies are unreadable.

    Texts, prompts, replies and outcomes are gone, here and in backups. What lies in the folder
    stays: figures and results, which hold no words.
    """
    run_id = _in_database(run)
    with opened_stores(read_settings()) as stores:
        runs = database_runs(stores).runs
        if not yes:
            typer.confirm(f"Erase the run {run_id} for good?", abort=True, err=True)
        with audited(stores, LOCAL.tenant, "run_erased", run_id, is_required=False):
            is_known = runs.erase(run_id)
            typer.echo("erased" if is_known else "there was nothing left of it")


def _in_database(folder: Path) -> str:
    """Return which run of the database a folder shows; ends the command where it shows none."""
    run_id = run_in_database(folder)
    if run_id is None:
        fail(f"{folder} holds no run of the database")
    return run_id


@runs_app.command(epilog=MERGE_EXAMPLES)
def merge(
    shards: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="The folders of all shards.", show_default=False),
    ],
    *,
    out: Annotated[Path, typer.Option("--out", metavar="RUN", help="Folder for the one run.")],
    partial: Annotated[
        bool,
        typer.Option("--partial", help="Merge what is there, and say what is missing."),
    ] = False,
) -> None:
    """Make one run of the shards of `evaluate run --shard`: one ledger, one account."""
    with step_progress("merging") as on_progress:
        runs = merge_shards(
            shards, out, is_partial=partial, cipher=run_cipher(), on_progress=on_progress
        )
    codes = set()
    for run, state in runs.items():
        if len(runs) > 1:
            say(f"{run.path.name}:")
        code, missing = conclude(state), run.require_run().get("missing_shards")
        if isinstance(missing, list):
            say(f"shards missing: {', '.join(missing)}")
            code = max(code, ExitCode.PARTIAL)
        codes.add(code)
    raise typer.Exit(say_next(codes, out, is_several=len(runs) > 1))


@runs_app.command(epilog="Example:\n\n  ai-psychiatrist evaluate runs runs/")
def runs(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the runs.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """List the runs in a folder: what each was made with, and how its units ended."""
    brought_up_to_date(folder)
    found = runs_in(folder)
    print_json(asdict(found)) if as_json else _print_runs(found)


def _print_runs(found: RunList) -> None:
    """Print one row for each run, and the names of those that cannot be read."""
    counts = numbers("Repeat", "Units", "Complete", "With failures", "Failed")
    rows = (
        [
            *map(plain, (run.name.folder, run.name.model, run.name.mode, run.name.wording)),
            plain(run.dataset[:_SHOWN_DIGITS]),
            str(run.name.repeat or "–"),
            *map(str, (run.asked, run.complete, run.with_failures, run.failed)),
        ]
        for run in found.runs
    )
    console = console_of(WIDE)
    console.print(table_of(["Run", "Model", "Mode", "Prompts", "Dataset", *counts], rows))
    for run in found.runs:
        for change in run.changes:
            console.print(f"{plain(run.name.folder)}: {change}")
    for folder in found.damaged:
        console.print(f"damaged: {plain(folder)}")


@runs_app.command(epilog=TABLE_EXAMPLES)
def table(
    run: RunFolderArgument,
    *,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="A .csv or .xlsx file.")],
) -> None:
    """Write the results of a run, or of all in a folder, as a table: a row a unit, no words."""
    brought_up_to_date(run)
    write_table(run, out)
    typer.echo(str(out))


@runs_app.command(
    epilog="Example:\n\n  ai-psychiatrist evaluate unit runs/first 303 --out unit.json"
)
def unit(
    run: RunFolderArgument,
    unit_id: Annotated[str, typer.Argument(metavar="UNIT", help="As the report names it.")],
    *,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="A file that only you can read.")
    ],
) -> None:
    """Write a unit's text, prompts, replies and quotes to a file; it contains what people said."""
    with noting_read_words(run), open_run(run) as ledger:
        write_unit(ledger, unit_id, out)
    say(f"written to {out}; it holds what people said")
