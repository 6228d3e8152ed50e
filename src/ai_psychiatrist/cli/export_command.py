"""The command `export`: a run's outcomes as JSON lines."""

from pathlib import Path
from typing import Annotated, Final

import typer

from ai_psychiatrist.agents.contracts.contract import step_of_agent
from ai_psychiatrist.cli.exits import ExitCode, refusing_bad_input
from ai_psychiatrist.cli.run_source import open_run
from ai_psychiatrist.ledger.exchange.export import ExportChoices, export_run
from ai_psychiatrist.ledger.store.ledger import Ledger
from ai_psychiatrist.pipelines.run_folder import KIND, accumulating, kept_pipeline, schemas_of
from ai_psychiatrist.validation.config.pipeline import PipelineConfig

EXAMPLES: Final = """
Examples:

  ai-psychiatrist export runs/first

  ai-psychiatrist export runs/first --step score --out scores --retry-failed

Writes STEP_validated.jsonl, STEP_failures.jsonl, STEP_queue.jsonl (what is still to be asked) and
schemas/STEP.json. The files hold raw text, also of an encrypted run, and are the owner's alone.

Exit status: 0 written, 1 units are unaccounted for, 2 no run, or the files cannot be written.
"""

_FOLDER: Final = "export"


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run's folder.")],
    *,
    out: Annotated[
        Path | None, typer.Option("--out", help="The folder to write to; else RUN/export.")
    ] = None,
    step: Annotated[
        list[str] | None, typer.Option("--step", help="This step alone; may be repeated.")
    ] = None,
    has_classic_stages: Annotated[
        bool,
        typer.Option(
            "--classic-stages",
            help="Call every failure other than of schema and rules pipeline_internal.",
        ),
    ] = False,
    retries_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Queue failed units that may be tried again.")
    ] = False,
) -> None:
    """Write a run's valid units, failures and queue as JSON lines."""
    folder = run / _FOLDER if out is None else out
    with refusing_bad_input(), open_run(run, is_read_only=True) as ledger:
        config = kept_pipeline(run)
        choices = ExportChoices(
            limits=config.retry,
            schemas=_schemas(ledger, config),
            context_of=accumulating(ledger, config),
            has_classic_stages=has_classic_stages,
            retries_failed=retries_failed,
        )
        exports = export_run(ledger, folder, steps=step or ledger.steps, choices=choices)
        accounts = ledger.counts_by_step()
    for written in exports:
        counts = f"{written.valid} valid, {written.failed} failed, {written.queued} queued"
        typer.echo(f"{written.step}: {counts}", err=True)
    typer.echo(f"written to {folder}", err=True)
    if not all(account.balances for account in accounts.values()):
        typer.echo("error: units are unaccounted for: the ledger is damaged", err=True)
        raise typer.Exit(ExitCode.PARTIAL)


def _schemas(ledger: Ledger, config: PipelineConfig) -> dict[str, bytes]:
    """Return the schemas of the run's steps from the pipeline that it was made with."""
    known = schemas_of(config)
    if ledger.about.get("kind") == KIND:
        return known
    names = {step: step_of_agent(step) for step in ledger.steps}
    return {step: known[name] for step, name in names.items() if name in known}
