"""Runs over a dataset as the command line asks for them: planned, made, and said where they are."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from rich.table import Table

from ai_psychiatrist.agents.prompts.tasks import TASKS
from ai_psychiatrist.cli.console import (
    WIDE,
    ExitCode,
    console_of,
    fail,
    numbers,
    plain,
    require,
    say,
    status_of,
    table_of,
)
from ai_psychiatrist.cli.progress import unit_progress
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.assessment import ScoringOptions
from ai_psychiatrist.domain.failures import FailureCategory, FailureStage
from ai_psychiatrist.evaluation.datasets.dataset import Cost, Dataset
from ai_psychiatrist.evaluation.pricing.plan import (
    ASSUMED,
    ESTIMATE,
    PlannedCalls,
    RunPlan,
    together,
)
from ai_psychiatrist.evaluation.pricing.prices import usd_number
from ai_psychiatrist.evaluation.reading_list import to_read_in_words
from ai_psychiatrist.evaluation.report.wording import NO_PRICE, money, of
from ai_psychiatrist.evaluation.runs.cost_file import RunCost
from ai_psychiatrist.evaluation.runs.results import RunFailures
from ai_psychiatrist.evaluation.runs.run import RunState, RunTally
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.evaluation.runs.shards import Shard
from ai_psychiatrist.evaluation.runs.variants import Variant, variants_of
from ai_psychiatrist.interface.dataset_plan import (
    for_planning,
    measured_units,
    planned_run,
    price_list,
)
from ai_psychiatrist.interface.dataset_run import DatasetRun, make_run
from ai_psychiatrist.store.run_file import make_private_folder
from ai_psychiatrist.wiring import Services, bootstrap

_CHECK_SAYS = "`ai-psychiatrist evaluate datasets check` says which and why"
_HEADINGS = ("Calls", "Tokens in", "Tokens out", "From cache", "Live USD", "Batch USD")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsRequest:
    """What the command line asks for: a run, or several with different prompts and repeats."""

    run: DatasetRun
    """The run that is alone; of several, what they have in common, and the folder of all."""
    prompts: Sequence[str] = ()
    """As `NAME=FILE` or `shipped`."""
    repeats: int | None = None

    def variants(self, services: Services) -> Sequence[Variant | None]:
        """Return the runs of a folder of several, `None` for one that is alone.

        Raises `InputError` for unusable prompts.
        """
        if not (self.prompts or self.repeats):
            return [None]
        return variants_of(
            self.prompts,
            self.repeats or 1,
            models=services.agent_models,
            mode=self.run.mode or services.settings.features.default_mode,
            is_judged_together=services.settings.judge.is_together,
        )


async def planned(settings: Settings, wanted: RunsRequest, before: Path | None) -> RunPlan:
    """Return what a run, or all of several, will take; raises as a run does for bad input.

    `before`: the folder of the run, whose shard is meant where it was begun and none is named.
    """
    run, start = wanted.run, wanted.run.start
    if before is not None and start.shard is None and RunFolder(before).run.exists():
        begun = RunFolder(before).require_run().get("shard")
        start = replace(start, shard=None if begun is None else Shard.read(str(begun)))
    async with bootstrap(for_planning(settings), keeps_key=False) as services:
        measured = await asyncio.to_thread(measured_units, run.dataset, start)
        prices = price_list(services, run.options)
        mode = run.mode or settings.features.default_mode
        scoring = ScoringOptions(mode=mode, ablates=run.ablates)
        return together(
            [
                planned_run(
                    services,
                    measured,
                    prices,
                    scoring=scoring,
                    tasks=TASKS if variant is None else variant.tasks,
                )
                for variant in wanted.variants(services)
            ]
        )


def print_plan(plan: RunPlan, before: RunCost | None = None) -> None:
    """Print a plan, compared with the cost of an earlier run if there is one."""
    console = console_of(WIDE)
    for part in _plan_parts(plan, before):
        console.print(part, soft_wrap=isinstance(part, str))


def _plan_parts(plan: RunPlan, before: RunCost | None) -> Iterator[str | Table]:
    lost = f"; {plan.unreadable:,} of these cannot be read" if plan.unreadable else ""
    yield f"Units: {plan.units:,}; transcripts measured: {plan.measured:,}{lost}"
    yield (
        f"Model calls: {round(plan.expected_calls):,} expected, {plan.least_calls:,} at least, "
        f"{plan.most_calls:,} at most"
    )
    yield ""
    rows = [_cells(one, plan.price_sources[one.model] or NO_PRICE) for one in plan.by_model]
    if len(rows) > 1:
        rows.append(_cells(plan.whole, ""))
    yield table_of(["Model", *numbers(*_HEADINGS), "Price"], rows)
    yield ""
    yield from (f"Note: {note}." for note in (ESTIMATE, ASSUMED))
    if before is None:
        return
    lines = list(_cost_lines(before))
    yield "This run so far:" if lines else "This run so far: no token counts were reported."
    yield from lines
    for side, words in (("input", "in"), ("output", "out")):
        error = before.error(side)
        if error is not None:
            yield f"  tokens {words} of a call: planned {error:+.0%} against those used"


def _cells(row: PlannedCalls, price: str) -> tuple[str, ...]:
    amounts = map(usd_number, (row.live_usd, row.batch_usd))
    return (
        plain(row.model),
        f"{round(row.calls):,}",
        f"{row.tokens.input:,}",
        f"{row.tokens.output:,}",
        f"{row.tokens.cache_share:.0%}",
        *("–" if usd is None else money(usd).removeprefix("USD ") for usd in amounts),
        price,
    )


def assess_dataset(settings: Settings, wanted: RunsRequest) -> ExitCode:
    """Make or resume all runs that are wanted, and return the command's exit status."""
    out = wanted.run.folder.path
    codes = asyncio.run(_assess_all(settings, wanted))
    if ExitCode.WAITING not in codes:
        return say_next(codes, out, is_several=bool(wanted.prompts or wanted.repeats))
    following = "the same command with --resume, when the batch is ready"
    if wanted.run.is_detached:
        following = f"ai-psychiatrist evaluate status {out}"
    say(f"next: {following}")
    return ExitCode.WAITING


def say_next(codes: set[ExitCode], out: Path, *, is_several: bool) -> ExitCode:
    """Name the command that shows what came out, and return the exit status of all runs."""
    what = "compare" if is_several else "report"
    say(f"next: ai-psychiatrist evaluate {what} {out}")
    if ExitCode.CEILING_REACHED in codes:
        return ExitCode.CEILING_REACHED
    return codes.pop() if len(codes) == 1 else ExitCode.PARTIAL


async def _assess_all(settings: Settings, wanted: RunsRequest) -> set[ExitCode]:
    codes, tally, common = set[ExitCode](), RunTally(), wanted.run
    batches = None if common.batch is None else common.batch.models
    async with bootstrap(settings, batches=batches) as services:
        say(*_label_lines(common.dataset))
        variants = wanted.variants(services)
        if None not in variants:
            _require_folder_of_several(common)
        for variant in variants:
            if tally.has_reached(common.options.max_failures):
                say("no further run was started: too many units have failed")
                return codes | {ExitCode.PARTIAL}
            run = common if variant is None else _one_of(common, variant)
            watch = partial(unit_progress, f"assessing {run.folder.path.name}")
            state = await make_run(services, run, tally=tally, watch=watch)
            if variant is not None:
                say(f"{variant.folder_name}:")
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


def _require_folder_of_several(common: DatasetRun) -> None:
    """Make the folder of several runs; raises `InputError` for one of other use."""
    there, is_resumed = common.folder.inside(), common.start.is_resumed
    problem = None
    if common.folder.run.exists():
        problem = "is one run; name another folder for runs of several prompts"
    elif there and not is_resumed:
        problem = "holds runs already; add --resume to continue them"
    elif is_resumed and not there:
        problem = "has no run to continue"
    require(problem is None, f"{common.folder.path} {problem}", field="--out")
    make_private_folder(common.folder.path)


def _one_of(common: DatasetRun, variant: Variant) -> DatasetRun:
    folder, start = RunFolder(common.folder.path / variant.folder_name), common.start
    return replace(
        common,
        folder=folder,
        beside=[other for other in common.folder.inside() if other != folder],
        start=replace(start, is_resumed=start.is_resumed and folder.run.exists()),
        variant=variant,
    )


def conclude(state: RunState) -> ExitCode:
    """Say where a run stands, and return the exit status that this alone gives."""
    say(*_lines(state))
    if state.unbalanced_steps:
        steps = ", ".join(state.unbalanced_steps)
        fail(f"the account does not balance at {steps}: keep the folder")
    if state.waiting_calls or state.queued_units or state.running_units:
        return ExitCode.WAITING
    if state.has_reached_ceiling:
        return ExitCode.CEILING_REACHED
    status = status_of(state.counts.valid, state.counts.requested)
    is_partial = state.not_read or state.is_served_otherwise
    return max(status, ExitCode.PARTIAL) if is_partial else status


def _lines(state: RunState) -> Iterator[str]:
    """Yield counts, and of units the ids of those alone that a person has to read."""
    account, found = state.counts, state.failures
    carrying = found.complete_units
    with_failures = f" ({carrying} of these carry failures)" if carrying else ""
    yield (
        f"{account.valid} of {account.requested} units complete{with_failures}, "
        f"{account.failed} failed, {account.pending} to do; "
        f"{state.paid_calls} model calls made now"
    )
    if state.queued_units or state.running_units:
        yield f"{state.queued_units} units wait for a worker, {state.running_units} are under way"
    if state.queued_units and not state.running_units:
        yield (
            "no worker is at it: start `ai-psychiatrist worker` with this DATABASE_URL, the same "
            "DATA_KEY_FILE, models and settings; it says so where it leaves the run to others"
        )
    if state.waiting_calls:
        yield f"{state.waiting_calls} calls wait for their batch, which may take a day"
    yield from _failure_lines(account.by_stage, found)
    if "provider" in account.by_stage:
        yield "For a closer look: ai-psychiatrist doctor"
    if state.cost is not None:
        yield from _cost_lines(state.cost)
    if state.has_reached_ceiling:
        yield (
            f"the ceiling of --max-cost is reached: {account.pending} units are left; continue "
            "with --resume and a higher --max-cost"
        )
    yield from state.notes
    if state.unreadable:
        yield f"units without a transcript that can be read: {state.unreadable}; {_CHECK_SAYS}"
    if state.not_read:
        kinds = ", ".join(f"{code} {count}" for code, count in state.not_read.items())
        lost = sum(state.not_read.values())
        yield f"not read and no units: {lost} files or lines ({kinds}); {_CHECK_SAYS}"
    yield plain(to_read_in_words(state.readings))


def _failure_lines(by_stage: Mapping[str, int], found: RunFailures) -> Iterator[str]:
    yield from (f"  complete with {kind}: {count}" for kind, count in found.kinds.most_common())
    stages = Counter(by_stage)
    # The stage of these is `pipeline_internal`, which reads as an error of the program.
    stages[FailureStage.PIPELINE_INTERNAL] -= found.unreadable
    if found.unreadable:
        yield f"  failed, {FailureCategory.TRANSCRIPT_UNREADABLE}: {found.unreadable}"
    yield from (f"  failed at {stage}: {count}" for stage, count in stages.items() if count > 0)
    for name, outcome in (("rejected replies", "rejected"), ("failed calls", "failed")):
        if found.calls[outcome]:
            yield f"  {name}: {of(found.calls[outcome], found.calls.total())}"


def _cost_lines(cost: RunCost) -> Iterator[str]:
    """Yield the planned and used calls, tokens and cost; nothing without token counts."""
    if not _at(cost.used, "tokens", "input"):
        return
    planned, used = cost.planned, cost.used
    for name, account, calls, live in (
        ("planned", planned, _at(planned, "calls", "expected"), cost.planned_price),
        ("used", used, used["calls"], "usd"),
    ):
        sent, written = _at(account, "tokens", "input"), _at(account, "tokens", "output")
        yield (
            f"  {name:<8} calls {_grouped(calls)}, tokens in {_grouped(sent)} "
            f"(cache {float(str(account['cache_share'])):.0%}), out {_grouped(written)}, "
            f"{money(account[live])}"
        )
    if without := used.get("calls_without_tokens"):
        yield f"  calls without reported token counts, priced as planned: {_grouped(without)}"


def _at(account: Mapping[str, object], part: str, name: str) -> object:
    found = account.get(part)
    return found.get(name) if isinstance(found, Mapping) else None


def _grouped(count: object) -> str:
    return f"{count:,}" if isinstance(count, int) else "–"
