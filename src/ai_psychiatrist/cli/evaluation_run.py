"""From what the command line asks for to runs, one after the other, and what is said of each."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import typer

from ai_psychiatrist.cli.batch_choice import LIVE, BatchChoice
from ai_psychiatrist.cli.console import ExitCode, ending_on_stop, fail, plain, status_of
from ai_psychiatrist.cli.dataset_options import DatasetChoice
from ai_psychiatrist.cli.progress import unit_progress
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.dataset import Dataset
from ai_psychiatrist.evaluation.datasets.issues import Cost
from ai_psychiatrist.evaluation.reading_list import to_read_in_words
from ai_psychiatrist.evaluation.runs.run import EvaluationOptions, RunTally
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.evaluation.runs.session import RunState
from ai_psychiatrist.evaluation.runs.start import StartOptions
from ai_psychiatrist.evaluation.runs.variants import Variant, variants_of
from ai_psychiatrist.interface.dataset_run import DatasetRun, make_run
from ai_psychiatrist.store.run_file import make_private_folder
from ai_psychiatrist.wiring import Services, bootstrap

_CHECK_SAYS = "`ai-psychiatrist evaluate datasets check` says which and why"


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedRun:
    """What the command line asks for."""

    dataset: DatasetChoice
    out: Path
    mode: AssessmentMode | None
    """`None`: as the settings say."""
    start: StartOptions
    options: EvaluationOptions
    prompts: tuple[str, ...] = ()
    """As `NAME=FILE` or `shipped`."""
    repeats: int | None = None
    is_unrelated: bool = False
    ablates: bool = False
    """Whether to score again with the evidence changed."""
    batch: BatchChoice = LIVE
    is_in_database: bool = False
    is_detached: bool = False
    """Whether the units are left to the workers."""

    @property
    def is_several(self) -> bool:
        """Whether `out` is the folder of several runs."""
        return bool(self.prompts or self.repeats)


def assess_dataset(settings: Settings, wanted: WantedRun) -> ExitCode:
    """Make or go on with all runs that are wanted, and return the command's exit status."""
    with ending_on_stop("stopped; what has finished is kept: go on with --resume"):
        codes = asyncio.run(_assess_all(settings, wanted))
    if ExitCode.WAITING in codes and wanted.is_detached:
        typer.echo(f"next: ai-psychiatrist evaluate status {wanted.out}", err=True)
        return ExitCode.WAITING
    if ExitCode.WAITING in codes:
        typer.echo("next: the same command with --resume, when the batch is ready", err=True)
        return ExitCode.WAITING
    what = "compare" if wanted.is_several else "report"
    typer.echo(f"next: ai-psychiatrist evaluate {what} {wanted.out}", err=True)
    if ExitCode.CEILING_REACHED in codes:
        return ExitCode.CEILING_REACHED
    return codes.pop() if len(codes) == 1 else ExitCode.PARTIAL


async def _assess_all(settings: Settings, wanted: WantedRun) -> set[ExitCode]:
    batch = wanted.batch.options(settings, wanted.out, is_resumed=wanted.start.is_resumed)
    models = None if batch is None else batch.models
    async with bootstrap(settings, batches=models) as services:
        dataset, tally = wanted.dataset.opened(), RunTally()
        for line in _label_lines(dataset):
            typer.echo(line, err=True)
        codes: set[ExitCode] = set()
        for variant in _variants(services, wanted):
            if tally.has_reached(wanted.options.max_failures):
                typer.echo("no further run is begun: too many units have failed", err=True)
                return codes | {ExitCode.PARTIAL}
            run = replace(_wanted_run(wanted, dataset, variant), batch=batch)
            watch = partial(unit_progress, f"assessing {run.folder.path.name}")
            state = await make_run(services, run, tally=tally, watch=watch)
            if variant is not None:
                typer.echo(f"{variant.folder_name}:", err=True)
            codes.add(conclude(state))
        return codes


def _label_lines(dataset: Dataset) -> Iterator[str]:
    """Yield which labels of a dataset are not used as a whole, and which option helps."""
    lost = {
        code: places for code, places in dataset.issues_by_code.items() if code.cost is Cost.LABEL
    }
    if lost:
        counts = ", ".join(f"{code} {len(places)}" for code, places in lost.items())
        yield f"labels that are not used as a whole: {counts}; {_CHECK_SAYS}"
    for place in (place for places in lost.values() for place in places[:1] if place.hint):
        yield f"  {place.code} in {place.where}: {plain(place.hint or '')}"


def variants_of_run(services: Services, wanted: WantedRun) -> list[Variant]:
    """Return the runs of a folder of several; raises `InputError` for unusable prompts."""
    return variants_of(
        wanted.prompts,
        wanted.repeats or 1,
        models=services.agent_models,
        mode=wanted.mode or services.settings.features.default_mode,
        is_judged_together=services.settings.judge.is_together,
    )


def _variants(services: Services, wanted: WantedRun) -> Sequence[Variant | None]:
    """Return the runs of a folder of several; raises `InputError` for a folder of other use."""
    if not wanted.is_several:
        return [None]
    variants = variants_of_run(services, wanted)
    folder = RunFolder(wanted.out)
    there = folder.inside()
    if folder.run.exists():
        msg = f"{wanted.out} is one run alone; name another folder for runs of several prompts"
    elif there and not wanted.start.is_resumed:
        msg = f"{wanted.out} holds runs already; add --resume to go on with them"
    elif wanted.start.is_resumed and not there:
        msg = f"{wanted.out} holds no run to go on with"
    else:
        make_private_folder(wanted.out)
        return variants
    raise InputError(msg, field="--out")


def _wanted_run(wanted: WantedRun, dataset: Dataset, variant: Variant | None) -> DatasetRun:
    folder, start = RunFolder(wanted.out), wanted.start
    if variant is not None:
        folder = RunFolder(wanted.out / variant.folder_name)
        start = replace(start, is_resumed=start.is_resumed and folder.run.exists())
    beside = RunFolder(wanted.out).inside() if variant is not None else []
    return DatasetRun(
        dataset=dataset,
        folder=folder,
        beside=[other for other in beside if other.path != folder.path],
        start=start,
        options=wanted.options,
        mode=wanted.mode,
        variant=variant,
        concerns_depression=False if wanted.is_unrelated else None,
        ablates=wanted.ablates,
        is_in_database=wanted.is_in_database,
        is_detached=wanted.is_detached,
    )


def conclude(state: RunState) -> ExitCode:
    """Say where a run stands, and return the exit status that this alone gives."""
    for line in _lines(state):
        typer.echo(line, err=True)
    if state.unbalanced_steps:
        steps = ", ".join(state.unbalanced_steps)
        fail(f"the account does not balance at {steps}: keep the folder")
    account = state.counts
    if state.waiting_calls or state.queued_units or state.running_units:
        return ExitCode.WAITING
    if state.has_reached_ceiling:
        return ExitCode.CEILING_REACHED
    status = status_of(account.valid, account.requested)
    is_partial = state.not_read or state.is_served_otherwise
    return max(status, ExitCode.PARTIAL) if is_partial else status


def _lines(state: RunState) -> Iterator[str]:
    """Yield counts, and of units the ids of those alone that a person has to read."""
    account, carried = state.counts, state.carried
    with_failures = f" ({carried.units} of these carry failures)" if carried.units else ""
    yield (
        f"{account.valid} of {account.requested} units complete{with_failures}, "
        f"{account.failed} failed, {account.pending} to do; "
        f"{state.paid_calls} model calls made now"
    )
    yield from _queue_lines(state)
    if state.waiting_calls:
        yield f"{state.waiting_calls} calls wait for their batch, which may take a day"
    for category, count in carried.kinds.most_common():
        yield f"  complete with {category}: {count}"
    for stage, count in account.by_stage.items():
        yield f"  failed at {stage}: {count}"
    if "provider" in account.by_stage:
        yield "For a closer look: ai-psychiatrist doctor"
    if state.cost is not None:
        from ai_psychiatrist.cli.cost_table import closing_lines  # noqa: PLC0415  draws tables

        yield from closing_lines(state.cost)
    if state.has_reached_ceiling:
        yield (
            f"the ceiling of --max-cost is reached: {account.pending} units are left; go on with "
            "--resume and a higher --max-cost"
        )
    yield from state.notes
    if state.unreadable:
        yield f"units without a transcript that can be read: {state.unreadable}; {_CHECK_SAYS}"
    if state.not_read:
        kinds = ", ".join(f"{code} {count}" for code, count in state.not_read.items())
        lost = sum(state.not_read.values())
        yield f"not read and no units: {lost} files or lines ({kinds}); {_CHECK_SAYS}"
    yield plain(to_read_in_words(state.readings))


def _queue_lines(state: RunState) -> Iterator[str]:
    if state.queued_units or state.running_units:
        yield f"{state.queued_units} units wait for a worker, {state.running_units} are under way"
    if state.queued_units and not state.running_units:
        yield (
            "no worker is at it: start `ai-psychiatrist worker` with this DATABASE_URL, the same "
            "DATA_KEY_FILE, models and settings; it says so where it leaves the run to others"
        )
