"""The commands on runs that workers do: how far one is, stopped, erased."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from ai_psychiatrist.cli.command_app import CommandApp
from ai_psychiatrist.cli.console import fail, refusing_bad_input
from ai_psychiatrist.cli.evaluation_options import JsonOption, RunFolderArgument, print_json
from ai_psychiatrist.cli.evaluation_run import conclude
from ai_psychiatrist.cli.run_source import open_run
from ai_psychiatrist.cli.settings import read_settings
from ai_psychiatrist.cli.stores import audited
from ai_psychiatrist.domain.access import LOCAL
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.evaluation.runs.served_models import served_in
from ai_psychiatrist.evaluation.runs.session import RunState, state_of
from ai_psychiatrist.store.run_places import run_in_database, write_pointer
from ai_psychiatrist.wiring.records import stores_of
from ai_psychiatrist.wiring.runs import database_runs

shared_app = CommandApp()

STATUS_EXAMPLES = """
Examples:

  ai-psychiatrist evaluate status runs/shared

  ai-psychiatrist evaluate status runs/shared --json

  ai-psychiatrist evaluate status copy --run 5f1c0a52-8f0e-4bd4-a42b-3f6f5c6a1b11

Exit status: 4 while units wait for a worker or are under way, else as of run.
"""


@shared_app.command(epilog=STATUS_EXAMPLES)
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
    """Say how far a run is, and bring what lies in its folder up to date."""
    with refusing_bad_input():
        if run_id is not None:
            _show_here(run, str(run_id))
        state = _state(run)
        if as_json:
            print_json(_as_json(state))
        code = conclude(state)
    raise typer.Exit(code)


@shared_app.command(epilog="Example:\n\n  ai-psychiatrist evaluate stop runs/shared")
def stop(run: RunFolderArgument) -> None:
    """Take the units that wait of a run in the database from the workers.

    What is under way comes to its end. `evaluate run --resume` goes on.
    """
    with refusing_bad_input():
        run_id = _in_database(run)
        count = database_runs(stores_of(read_settings())).runs.withdraw(run_id)
    typer.echo(f"{count} units wait no more; go on with --resume")


@shared_app.command(epilog="Example:\n\n  ai-psychiatrist evaluate erase runs/shared --yes")
def erase(
    run: RunFolderArgument,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Erase a run in the database: its key is destroyed, so that copies tell nothing.

    Texts, prompts, replies and outcomes are gone, here and in backups. What lies in the folder
    stays: figures and results, which hold no words.
    """
    with refusing_bad_input():
        run_id, stores = _in_database(run), stores_of(read_settings())
        runs = database_runs(stores).runs
        if not yes:
            typer.confirm(f"Erase the run {run_id} for good?", abort=True, err=True)
        with audited(stores, LOCAL.tenant, "run_erased", run_id, is_required=False):
            is_known = runs.erase(run_id)
            typer.echo("erased" if is_known else "there was nothing left of it")


def _state(folder: Path) -> RunState:
    run = RunFolder(folder)
    run.require_run()
    if run_in_database(folder) is None:
        with open_run(folder) as ledger:
            return state_of(run, ledger, served_in(run))
    # What it imports is for runs in the database alone.
    from ai_psychiatrist.interface.shared_run import collected  # noqa: PLC0415

    place = database_runs(stores_of(read_settings()))
    return collected(place.runs, place.open(folder), run)


def _show_here(folder: Path, run_id: str) -> None:
    """Make a folder of a run; raises `InputError` where there is no such run."""
    if RunFolder(folder).run.exists():
        fail(f"{folder} holds a run already: leave out --run, or name another folder")
    runs = database_runs(stores_of(read_settings())).runs
    runs.open(run_id, folder)
    RunFolder(folder).restore(runs.files(run_id))
    write_pointer(folder, run_id)


def _in_database(folder: Path) -> str:
    """Return which run of the database a folder shows; ends the command where it shows none."""
    run_id = run_in_database(folder)
    if run_id is None:
        fail(f"{folder} holds no run of the database")
    return run_id


def _as_json(state: RunState) -> dict[str, object]:
    counts = asdict(state.counts)
    return {**counts, "queued": state.queued_units, "running": state.running_units}
