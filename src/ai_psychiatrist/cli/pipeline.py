"""The command `pipeline run`: every unit of a pipeline file taken through its steps."""

import asyncio
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ai_psychiatrist.cli.command_app import CommandGroup
from ai_psychiatrist.cli.console import ExitCode, ending_on_stop, fail, say
from ai_psychiatrist.cli.dataset_options import BatchFlags
from ai_psychiatrist.cli.options import with_option_groups
from ai_psychiatrist.cli.progress import phase_progress
from ai_psychiatrist.cli.settings import ModelOption, quiet, read_settings
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.pipelines.run import RunEnd, RunSummary, run_units
from ai_psychiatrist.pipelines.run_folder import PipelineRequest, opened_run
from ai_psychiatrist.pipelines.steps import Models, make_steps
from ai_psychiatrist.pipelines.units import declared_units, units_in
from ai_psychiatrist.store.cipher import cipher_of
from ai_psychiatrist.validation.config.pipeline import load_pipeline
from ai_psychiatrist.wiring import bootstrap

if TYPE_CHECKING:
    from ai_psychiatrist.llm.batch_rounds import BatchOptions

pipeline_app = CommandGroup()


@pipeline_app.callback()
def pipeline() -> None:
    """Run declared pipelines."""


@pipeline_app.command(
    epilog="""
Examples:

  ai-psychiatrist pipeline run pipeline.yaml --out runs/first --model ollama:gemma3

  ai-psychiatrist pipeline run pipeline.yaml --out runs/first --model ollama:gemma3 --resume

  ai-psychiatrist pipeline run pipeline.yaml --out runs/try --max-units 5 --max-calls 20

  ai-psychiatrist pipeline run pipeline.yaml --out runs/first --units units.jsonl

  ai-psychiatrist pipeline run pipeline.yaml --out runs/cheap --model anthropic:NAME --batch

With --batch calls are handed in to the provider's batch interface at about half the price, and the
command ends with status 4. What people said then rests at the provider. Give the same command with
--resume, once or more a step, until all is done; --wait does so by itself.

Writes RUN/export/STEP_validated.jsonl and STEP_failures.jsonl for each step and RUN/summary.json.

Exit status: 0 every unit is valid at every step, 1 some are not, 2 bad input or settings, 3 none at
a step, 4 waiting for a batch (continue with --resume), 130 stopped by Ctrl-C (use --resume).
"""
)
@with_option_groups
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
        int | None, typer.Option(help="Seed of random draws: 0, or that of the run.")
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Units processed at the same time.")] = 8,
    resume: Annotated[bool, typer.Option("--resume", help="Continue a run.")] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Ask again for failed units, with --resume.")
    ] = False,
    batch: BatchFlags,
    model: ModelOption = None,
) -> None:
    """Process units by the steps of a pipeline; can be stopped at any time and resumed."""
    kept = "stopped; what has finished is stored: continue with --resume"
    with ending_on_stop(kept):
        settings, loaded = quiet(read_settings(model)), load_pipeline(config)
        batches = batch.options(settings, out, is_resumed=resume)
        processing = loaded.file.processing
        listed = declared_units(processing, config.parent) if units is None else units_in(units)
        request = PipelineRequest(
            folder=out,
            config=loaded,
            units=list(islice(listed, max_units)),
            max_calls=max_calls,
            concurrency=concurrency,
            seed=seed,
            is_resumed=resume,
            retries_failed=retry_failed,
            is_by_batches=batches is not None,
            cipher=cipher_of(settings.data.key_file),
        )
        end = asyncio.run(_run(settings, request, model, batches))
    raise typer.Exit(_conclude(end, out))


async def _run(
    settings: Settings,
    request: PipelineRequest,
    model: str | None,
    batch: "BatchOptions | None",
) -> RunEnd:
    async with bootstrap(settings, batches=None if batch is None else batch.models) as services:
        settings = services.settings
        models = Models(
            chain=lambda name: services.connections.chain(model or name or settings.model.default),
            pydantic_ai=settings.pydantic_ai,
            temperature=settings.model.temperature,
        )
        steps = make_steps(request.config, models)
        if batch is not None:
            batch.models.refuse_others({name for step in steps for name in step.models}, local=())
        with opened_run(request, {step.name: step.models for step in steps}) as ledger:
            return await run_units(ledger, request, steps, watch=phase_progress, batch=batch)


def _conclude(end: RunEnd, out: Path) -> ExitCode:
    """Say where the run stands, and return the command's exit status."""
    summary, units = end.summary, end.summary.units
    _print_steps(summary)
    if summary.stopped_at is not None:
        say(f"no unit is valid at {summary.stopped_at}: the run stops here")
    reasons = Counter(end.left)
    is_at_ceiling = reasons.pop(FailureCode.CALL_BUDGET_SPENT, 0) > 0
    if reasons:
        shown = ", ".join(f"{why}: {count:,}" for why, count in reasons.items())
        say(
            f"{reasons.total():,} of {units.requested:,} units are not finished, because their "
            f"calls reached no model ({shown}): look at the server with `ai-psychiatrist doctor`, "
            "and continue with --resume"
        )
    if is_at_ceiling:
        say(
            f"stopped before more than {summary.model_calls:,} model calls: continue with --resume "
            "and a higher --max-calls"
        )
    if summary.unbalanced:
        fail(f"the account does not balance at {', '.join(summary.unbalanced)}: keep the folder")
    say(
        f"{units.valid:,} of {units.requested:,} units valid at every step, "
        f"{summary.model_calls:,} model calls; written to {out}"
    )
    if end.waiting_calls:
        say(
            f"{end.waiting_calls:,} calls wait for their batch, which may take a day\n"
            "next: the same command with --resume, when the batch is ready"
        )
        return ExitCode.WAITING
    if summary.stopped_at is not None:
        return ExitCode.NOTHING_FINISHED
    return ExitCode.COMPLETE if units.valid == units.requested else ExitCode.PARTIAL


def _print_steps(summary: RunSummary) -> None:
    for name, step in summary.steps.items():
        say(
            f"{name}: {step.requested:,} requested = {step.valid:,} valid + {step.failed:,} failed"
            f" + {step.pending:,} pending"
        )
        for stage, count in step.by_stage.items():
            say(f"  failed at {stage}: {count:,}")
        for rule, count in step.warnings.items():
            say(f"  warning {rule}: {count:,}")
        if step.coercions:
            say(f"  values read from another type or spelling: {step.coercions:,}")
    for what in summary.not_run:
        say(f"not run: {what}")
