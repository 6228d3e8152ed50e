"""The commands that take a dataset through the agents: `evaluate run` and `evaluate replicate`."""

import asyncio
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, TypeAlias

import typer

from ai_psychiatrist.cli.command_app import CommandApp
from ai_psychiatrist.cli.console import ending_on_stop, print_json, require, say
from ai_psychiatrist.cli.dataset_options import (
    BatchFlags,
    DatasetArgument,
    LabelFlags,
    LabelledOption,
    ReadingFlags,
    SplitOption,
)
from ai_psychiatrist.cli.dataset_runs import RunsRequest, assess_dataset, planned, print_plan
from ai_psychiatrist.cli.options import AblateOption, ModeOption, with_option_groups
from ai_psychiatrist.cli.settings import ModelOption, quiet, read_settings
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.evaluation.datasets.selection import Selection
from ai_psychiatrist.evaluation.datasets.splits import drawn_splits, write_splits
from ai_psychiatrist.evaluation.measuring import ASSESSED_PART, PARTS, write_aggregates
from ai_psychiatrist.evaluation.pricing.prices import given_prices
from ai_psychiatrist.evaluation.runs.cost_file import read_cost
from ai_psychiatrist.evaluation.runs.run import EvaluationOptions
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.evaluation.runs.shards import Shard
from ai_psychiatrist.evaluation.runs.start import StartOptions
from ai_psychiatrist.interface.dataset_run import DatasetRun

run_app = CommandApp()

RUN_EXAMPLES = """
Examples:

  ai-psychiatrist evaluate run interviews/ --out runs/first

  ai-psychiatrist evaluate run interviews/ --out runs/first --resume

  ai-psychiatrist evaluate run DAIC-WOZ/ --out runs/gemma --model ollama:gemma3 --limit 20

  ai-psychiatrist evaluate run interviews/ --out wordings --model ollama:gemma3 --repeats 3
  --prompts shipped --prompts strict=strict.toml

  ai-psychiatrist evaluate run DAIC-WOZ/ --out runs/described --mode descriptions_only

  ai-psychiatrist evaluate run interviews/ --out runs/driven --ablate

  ai-psychiatrist evaluate run interviews/ --out runs/proven --certificates

  ai-psychiatrist evaluate run interviews/ --out parts/2 --shard 2/8

  ai-psychiatrist evaluate run interviews/ --out runs/cheap --model anthropic:claude-haiku-4-5
  --batch

  ai-psychiatrist evaluate run interviews/ --out runs/cheap --model anthropic:claude-haiku-4-5
  --resume --wait

  ai-psychiatrist evaluate run interviews/ --out runs/anna --participant Anna --interviewer Tom

  ai-psychiatrist evaluate run interviews/ --model anthropic:claude-haiku-4-5 --plan

  ai-psychiatrist evaluate run interviews/ --out runs/paid --model openai:gpt-5-mini --max-cost 25

  ai-psychiatrist evaluate run interviews/ --out runs/own --model ollama:gemma3 --max-cost 5
  --price ollama:gemma3=0.10/0.40

  ai-psychiatrist evaluate run interviews/ --out runs/shared --model ollama:gemma3 --database
  --detach

Labels such as Patient or Interviewer show who speaks. Others are named with --participant and
--interviewer for all files, or with rows file,label,role in interviews/speakers.csv.

With --batch calls are submitted to the provider's batch interface at about half the price, and the
command ends; their prompts rest at the provider until the results are collected. Continue with
--resume, three times or more, until all is done; --wait does so by itself.

With --database texts, calls and outcomes are kept in the database of DATABASE_URL, and each
`ai-psychiatrist worker` with the same settings does units of the run, on any machine. `evaluate
status RUN` says how far they are and brings what lies in RUN up to date, as every command on runs
does; `evaluate stop RUN` takes what waits from them.

Exit status: 0 every unit complete, 1 some units failed or files were not read, 2 bad input or
settings, 3 no unit is complete, 4 waiting for a batch (continue with --resume) or, with --detach,
for workers (see `evaluate status`), 5 the ceiling of
--max-cost is reached (continue with --resume and a higher one), 130 stopped by Ctrl-C (continue
with --resume).
"""
REPLICATE_EXAMPLES = """
Examples:

  ai-psychiatrist evaluate replicate DAIC-WOZ/ --out replication --model ollama:gemma3:27b

  ai-psychiatrist evaluate replicate DAIC-WOZ/ --out replication --model openai:gpt-5-mini --plan

  ai-psychiatrist evaluate replicate DAIC-WOZ/ --out replication --model openai:gpt-5-mini
  --max-cost 25

Exit status as of run. The same command continues it, without --resume.
"""


ConcurrencyOption: TypeAlias = Annotated[
    int, typer.Option(min=1, help="Units assessed at the same time.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class CostFlags:
    """The options of what a run costs."""

    plan: Annotated[
        bool,
        typer.Option(
            "--plan",
            help="Only say what the run will take and cost; asks nothing, writes nothing.",
        ),
    ] = False
    as_json: Annotated[bool, typer.Option("--json", help="With --plan: print it as JSON.")] = False
    max_cost: Annotated[
        float | None,
        typer.Option(
            "--max-cost",
            metavar="USD",
            min=0,
            help="Begin no unit that could take the run's cost, of all sessions, beyond this.",
        ),
    ] = None
    price: Annotated[
        list[str] | None,
        typer.Option(
            "--price",
            metavar="MODEL=IN/OUT",
            help="What a model costs, in USD per million tokens in and out; can be repeated.",
        ),
    ] = None

    def options(
        self, concurrency: int, max_failures: int | None = None, *, retries_failed: bool = False
    ) -> EvaluationOptions:
        """Return the options of a run; raises `InputError` for what means nothing."""
        require(
            self.max_cost is None or isfinite(self.max_cost),
            "--max-cost is an amount in USD, such as 25; leave it out where there is no bound",
            field="--max-cost",
        )
        is_plain = self.plan or not self.as_json
        require(is_plain, "--json is for --plan; a run prints no figures", field="--json")
        return EvaluationOptions(
            concurrency=concurrency,
            max_failures=max_failures,
            retries_failed=retries_failed,
            max_cost_usd=None if self.max_cost is None else Decimal(str(self.max_cost)),
            prices=given_prices(self.price or ()),
        )

    def tell_plan(self, settings: Settings, wanted: RunsRequest, before: Path | None) -> None:
        """End with the plan where that is all that is wanted.

        `before`: the folder of the run, where one was begun that tells how good the estimate is.
        """
        if not self.plan:
            return
        plan = asyncio.run(planned(settings, wanted, before))
        cost = None if before is None else read_cost(RunFolder(before))
        accounts = {} if cost is None else {"planned": cost.planned, "used": cost.used}
        so_far = {"so_far": accounts} if accounts else {}
        print_json(plan.as_json() | so_far) if self.as_json else print_plan(plan, cost)
        raise typer.Exit


@run_app.command(epilog=RUN_EXAMPLES)
@with_option_groups
def run(
    dataset: DatasetArgument,
    *,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="RUN", help="Folder for the run.")
    ] = None,
    mode: ModeOption = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N units.")] = None,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="I/N",
            help="Only part I of N, for N processes; --split and --limit apply before. "
            "`evaluate merge` makes one run of the parts.",
        ),
    ] = None,
    concurrency: ConcurrencyOption = 8,
    repeats: Annotated[
        int | None, typer.Option(min=1, max=99, help="Make N runs in RUN, all with new calls.")
    ] = None,
    prompts: Annotated[
        list[str] | None,
        typer.Option(
            "--prompts",
            metavar="NAME=FILE",
            help="Make runs in RUN with these prompts, or with `shipped` ones; can be repeated.",
        ),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue a run.")] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Do failed units again, with --resume.")
    ] = False,
    accept_changed: Annotated[
        bool,
        typer.Option(
            "--accept-changed",
            help="With --resume: accept another version, prompts, rules, calls or servers.",
        ),
    ] = False,
    ablate: AblateOption = False,
    certificates: Annotated[
        bool,
        typer.Option(
            "--certificates",
            help="Write a certificate of each unit to OUT/certificates, for `verify`.",
        ),
    ] = False,
    database: Annotated[
        bool,
        typer.Option(
            "--database",
            help="Keep the run in the PostgreSQL of DATABASE_URL; workers help with its units.",
        ),
    ] = False,
    detach: Annotated[
        bool,
        typer.Option(
            "--detach", help="With --database: leave all units to the workers, and exit at once."
        ),
    ] = False,
    max_failures: Annotated[
        int | None, typer.Option(min=0, help="Begin no unit once more than N have failed.")
    ] = None,
    cost: CostFlags,
    no_raw: Annotated[
        bool,
        typer.Option(
            "--no-raw", help="Store no text; a stopped unit then starts from its beginning."
        ),
    ] = False,
    split: SplitOption = None,
    labelled: LabelledOption = False,
    reading: ReadingFlags,
    scores: LabelFlags,
    unrelated: Annotated[
        bool,
        typer.Option("--unrelated", help="None is about depression: all evidence found is false."),
    ] = False,
    batch: BatchFlags,
    model: ModelOption = None,
) -> None:
    """Assess every unit of a dataset; can be stopped at any time and resumed."""
    with ending_on_stop(tell=partial(_stopped, out)):
        require(
            resume or not accept_changed,
            "--accept-changed is for --resume: a new run has nothing that could differ",
            field="--accept-changed",
        )
        require(
            resume or not retry_failed,
            "--retry-failed is for --resume: a new run has no failed units",
            field="--retry-failed",
        )
        settings = quiet(read_settings(model))
        # What costs nothing to see is said first: reading a dataset may take a while.
        options = cost.options(concurrency, max_failures, retries_failed=retry_failed)
        require(out or cost.plan, "the run has no folder; add --out RUN", field="--out")
        start = StartOptions(
            limit=limit,
            shard=None if shard is None else Shard.read(shard),
            is_resumed=resume,
            accepts_changed=accept_changed,
            keeps_raw=not no_raw,
            certifies=certificates,
        )
        selection = Selection(split=split, has_items=labelled)
        run = DatasetRun(
            dataset=reading.opened(dataset, settings.transcript.labels, scores, selection),
            folder=RunFolder(out or Path()),
            start=start,
            options=options,
            mode=mode,
            concerns_depression=False if unrelated else None,
            ablates=ablate,
            is_in_database=database,
            is_detached=detach,
        )
        wanted = RunsRequest(run=run, prompts=prompts or (), repeats=repeats)
        cost.tell_plan(settings, wanted, out)
        batches = batch.options(settings, run.folder.path, is_resumed=resume)
        code = assess_dataset(settings, replace(wanted, run=replace(run, batch=batches)))
        figures = (run.folder.metrics, run.folder.report)
        before = [one.name for one in figures if one.exists()]
        if before:
            say(f"{' and '.join(before)} in {out}: written before; measure again")
        raise typer.Exit(code)


def _stopped(out: Path | None) -> str:
    """Return how many units of a run, or of all in its folder, have finished when it is stopped."""
    folder = RunFolder(out or Path())
    every = [folder] if folder.run.is_file() else folder.inside()
    runs = [run for run in every if run.predictions.is_file()]
    if out is None or not runs:
        return "stopped; what has finished is kept: continue with --resume"
    done, asked = (
        sum(path.read_bytes().count(b"\n") for path in paths)
        for paths in ([run.predictions for run in runs], [run.units for run in runs])
    )
    return f"stopped; {done} of {asked} units have finished and are kept: continue with --resume"


@run_app.command(epilog=REPLICATE_EXAMPLES)
@with_option_groups
def replicate(
    dataset: DatasetArgument,
    *,
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="For all output.")],
    seed: Annotated[int, typer.Option(help="The same seed draws the same participants.")] = 0,
    concurrency: ConcurrencyOption = 8,
    cost: CostFlags,
    model: ModelOption = None,
) -> None:
    """Assess 41 of the 142 participants with item labels; leaves FOLDER/aggregates to share.

    Continues where it was stopped. The other 58 and 43 are for choosing prompts and models.
    """
    with ending_on_stop(tell=partial(_stopped, out / "run")), TemporaryDirectory() as unwritten:
        settings = quiet(read_settings(model))
        options = cost.options(concurrency)
        splits = Path(unwritten) if cost.plan else out / "splits"
        opened = partial(ReadingFlags().opened, dataset, settings.transcript.labels, LabelFlags())
        write_splits(splits, drawn_splits(opened(Selection()), PARTS, seed=seed))
        folder = RunFolder(out / "run")
        run = DatasetRun(
            dataset=opened(Selection(split=str(splits / f"{ASSESSED_PART}.csv"))),
            folder=folder,
            start=StartOptions(is_resumed=folder.run.exists()),
            options=options,
            mode=AssessmentMode.ZERO_SHOT,
        )
        wanted = RunsRequest(run=run)
        cost.tell_plan(settings, wanted, folder.path)
        code = assess_dataset(settings, wanted)
        write_aggregates(out / "aggregates", run=folder.path, splits=splits)
    raise typer.Exit(code)
