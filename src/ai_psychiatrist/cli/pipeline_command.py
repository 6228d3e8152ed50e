"""The command `pipeline run`: every unit of a pipeline file taken through its steps."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

from ai_psychiatrist.cli.command_app import CommandGroup
from ai_psychiatrist.cli.exits import ExitCode, ending_on_stop, fail, refusing_bad_input
from ai_psychiatrist.cli.progress import unit_progress
from ai_psychiatrist.cli.settings_source import ModelOption, quiet, read_settings
from ai_psychiatrist.pipelines.results import PipelineCounts, counts_of
from ai_psychiatrist.pipelines.run import PipelineOptions, Stop, run_units
from ai_psychiatrist.pipelines.start import PipelineRequest, opened_run
from ai_psychiatrist.pipelines.steps import (
    Models,
    chains_of,
    left_out,
    make_steps,
)
from ai_psychiatrist.pipelines.units import declared_units, units_in
from ai_psychiatrist.store.cipher import cipher_of
from ai_psychiatrist.validation.config.pipeline import load_pipeline
from ai_psychiatrist.wiring import bootstrap

pipeline_app = CommandGroup()

EXAMPLES: Final = """
Examples:

  ai-psychiatrist pipeline run pipeline.yaml --out runs/first --model ollama:gemma3

  ai-psychiatrist pipeline run pipeline.yaml --out runs/first --model ollama:gemma3 --resume

  ai-psychiatrist pipeline run pipeline.yaml --out runs/try --max-units 5 --max-calls 20

  ai-psychiatrist pipeline run pipeline.yaml --out runs/first --units units.jsonl

Writes RUN/export/STEP_validated.jsonl and STEP_failures.jsonl for each step and RUN/summary.json.

Exit status: 0 every unit is valid at every step, 1 some are not, 2 bad input or settings, 130
stopped by Ctrl-C (go on with --resume).
"""


@pipeline_app.callback()
def pipeline() -> None:
    """Run declared pipelines."""


@pipeline_app.command(epilog=EXAMPLES)
def run(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="The pipeline file.")],
    *,
    out: Annotated[Path, typer.Option("--out", metavar="RUN", help="Folder for the run.")],
    units: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Units as JSON lines, in place of the file's items."),
    ] = None,
    max_units: Annotated[int | None, typer.Option(min=1, help="Only the first N units.")] = None,
    max_calls: Annotated[
        int | None,
        typer.Option(min=0, help="Stop before the run has made more than N model calls in all."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="What expressions draw by: 0, or as the run was begun.")
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Units under way at a time.")] = 8,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run.")] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Ask anew for failed units, with --resume.")
    ] = False,
    model: ModelOption = None,
) -> None:
    """Take units through the steps of a pipeline; can be stopped at any time and gone on with."""
    kept = "stopped; what has finished is kept: go on with --resume"
    with refusing_bad_input(), ending_on_stop(kept):
        end = asyncio.run(
            _run(
                config,
                out=out,
                units=units,
                max_units=max_units,
                max_calls=max_calls,
                seed=seed,
                concurrency=concurrency,
                is_resumed=resume,
                retries_failed=retry_failed,
                model=model,
            )
        )
    raise typer.Exit(_conclude(end, out))


@dataclass(frozen=True, slots=True, kw_only=True)
class _End:
    account: PipelineCounts
    stop: Stop
    not_run: Sequence[str]


async def _run(
    path: Path,
    *,
    out: Path,
    units: Path | None,
    max_units: int | None,
    max_calls: int | None,
    seed: int | None,
    concurrency: int,
    is_resumed: bool,
    retries_failed: bool,
    model: str | None,
) -> _End:
    config = load_pipeline(path)
    processing = config.file.processing
    async with bootstrap(quiet(read_settings(model))) as services:
        settings = services.settings
        models = Models(
            settings=settings.model,
            pydantic_ai=settings.pydantic_ai,
            chain=services.connections.chain,
            only=model,
        )
        chains = chains_of(config, models)
        steps = make_steps(config, chains=chains, models=models)
        request = PipelineRequest(
            folder=out,
            config=config,
            steps=[step.name for step in steps],
            models={step: [route.name for route in chain] for step, chain in chains.items()},
            units=declared_units(processing, path.parent) if units is None else units_in(units),
            max_units=max_units,
            seed=seed,
            is_resumed=is_resumed,
            cipher=cipher_of(settings.ledger.key_file),
        )
        options = PipelineOptions(
            concurrency=concurrency,
            max_calls=max_calls,
            retries_failed=retries_failed,
            first_units=processing.chunk_size,
            not_run=left_out(config),
        )
        with opened_run(request) as ledger:
            before = counts_of(ledger).units
            done = before.valid + before.failed
            with unit_progress("running", requested=before.requested, done=done) as on_unit:
                stop = await run_units(ledger, config, steps, options, on_unit=on_unit)
            return _End(account=counts_of(ledger), stop=stop, not_run=options.not_run)


def _conclude(end: _End, out: Path) -> ExitCode:
    """Say where the run stands, and return the command's exit status."""
    account, units = end.account, end.account.units
    for name, step in account.steps.items():
        typer.echo(
            f"{name}: {step.requested:,} requested = {step.valid:,} valid + {step.failed:,} failed"
            f" + {step.pending:,} pending",
            err=True,
        )
        for stage, count in step.by_stage.items():
            typer.echo(f"  failed at {stage}: {count:,}", err=True)
    for what in end.not_run:
        typer.echo(f"not run: {what}", err=True)
    for name in account.barren:
        typer.echo(f"no unit is valid at {name}: the run stops here", err=True)
    if end.stop.hit_max_calls:
        typer.echo(
            f"stopped before more than {account.model_calls:,} model calls: go on with --resume and"
            " a higher --max-calls",
            err=True,
        )
    if account.unbalanced:
        fail(f"the account does not balance at {', '.join(account.unbalanced)}: keep the folder")
    typer.echo(
        f"{units.valid:,} of {units.requested:,} units valid at every step, "
        f"{account.model_calls:,} model calls; written to {out}",
        err=True,
    )
    return ExitCode.COMPLETE if units.valid == units.requested else ExitCode.PARTIAL
