"""The commands that take a dataset through the agents."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from ai_psychiatrist.cli.ablate_option import AblateOption
from ai_psychiatrist.cli.batch_choice import BatchChoice
from ai_psychiatrist.cli.console import refusing_bad_input
from ai_psychiatrist.cli.cost_options import MaxCostOption, PlanOption, PriceOption, usd_of
from ai_psychiatrist.cli.dataset_options import (
    DatasetArgument,
    DatasetChoice,
    LabelFlags,
    LabelledOption,
    ReadingFlags,
    SplitOption,
    with_option_groups,
)
from ai_psychiatrist.cli.evaluation_plan import tell_plan
from ai_psychiatrist.cli.evaluation_run import WantedRun, assess_dataset
from ai_psychiatrist.cli.mode_option import ModeOption
from ai_psychiatrist.cli.run_options import (
    AcceptChangedOption,
    BatchOption,
    CertificatesOption,
    ConcurrencyOption,
    DatabaseOption,
    DetachOption,
    HandInAgainOption,
    LimitOption,
    MaxFailuresOption,
    NoRawOption,
    OutOption,
    PlanAsJsonOption,
    PromptsOption,
    RepeatsOption,
    ResumeOption,
    RetryFailedOption,
    ShardOption,
    UnrelatedOption,
    WaitOption,
)
from ai_psychiatrist.cli.settings import ModelOption, quiet, read_settings
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.splits import (
    drawn_splits,
    write_splits,
)
from ai_psychiatrist.evaluation.pricing.prices import given_prices
from ai_psychiatrist.evaluation.replication import (
    ASSESSED_PART,
    PARTS,
    write_aggregates,
)
from ai_psychiatrist.evaluation.runs.run import EvaluationOptions
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.evaluation.runs.shards import Shard
from ai_psychiatrist.evaluation.runs.start import StartOptions

runs_app = typer.Typer(add_completion=False, rich_markup_mode=None)

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

Who speaks is told by labels such as Patient or Interviewer. Others are named with --participant and
--interviewer for all files, or with rows file,label,role in interviews/speakers.csv.

With --batch calls are handed in to the provider's batch interface at about half the price, and the
command ends; their prompts rest at the provider until the results are collected. Go on with
--resume, three times or more, until all is done; --wait does so by itself.

With --database texts, calls and outcomes are kept in the database of DATABASE_URL, and each
`ai-psychiatrist worker` with the same settings does units of the run, on any machine. `evaluate
status RUN` says how far they are and brings what lies in RUN up to date, as every command on runs
does; `evaluate stop RUN` takes what waits from them.

Exit status: 0 every unit complete, 1 some units failed or files were not read, 2 bad input or
settings, 3 no unit is complete, 4 waiting for a batch (go on with --resume) or, with --detach, for
workers (ask with `evaluate status`), 5 the ceiling of
--max-cost is reached (go on with --resume and a higher one), 130 stopped by Ctrl-C (go on with
--resume).
"""
REPLICATE_EXAMPLES = """
Examples:

  ai-psychiatrist evaluate replicate DAIC-WOZ/ --out replication --model ollama:gemma3:27b

  ai-psychiatrist evaluate replicate DAIC-WOZ/ --out replication --model openai:gpt-5-mini --plan

  ai-psychiatrist evaluate replicate DAIC-WOZ/ --out replication --model openai:gpt-5-mini
  --max-cost 25

Exit status as of run. Given again it goes on, without --resume.
"""


@runs_app.command(epilog=RUN_EXAMPLES)
@with_option_groups
def run(
    dataset: DatasetArgument,
    *,
    out: OutOption = None,
    mode: ModeOption = None,
    limit: LimitOption = None,
    shard: ShardOption = None,
    concurrency: ConcurrencyOption = 8,
    repeats: RepeatsOption = None,
    prompts: PromptsOption = None,
    resume: ResumeOption = False,
    retry_failed: RetryFailedOption = False,
    accept_changed: AcceptChangedOption = False,
    ablate: AblateOption = False,
    certificates: CertificatesOption = False,
    database: DatabaseOption = False,
    detach: DetachOption = False,
    max_failures: MaxFailuresOption = None,
    plan: PlanOption = False,
    as_json: PlanAsJsonOption = False,
    max_cost: MaxCostOption = None,
    price: PriceOption = None,
    no_raw: NoRawOption = False,
    split: SplitOption = None,
    labelled: LabelledOption = False,
    reading: ReadingFlags,
    scores: LabelFlags,
    unrelated: UnrelatedOption = False,
    batch: BatchOption = None,
    wait: WaitOption = False,
    hand_in_again: HandInAgainOption = False,
    model: ModelOption = None,
) -> None:
    """Assess every unit of a dataset; can be stopped at any time and gone on with."""
    with refusing_bad_input():
        settings = quiet(read_settings(model))
        wanted = WantedRun(
            dataset=replace(
                reading.choice(dataset, settings.transcript.labels, scores),
                split=split,
                is_labelled=labelled,
            ),
            out=out or Path(),
            mode=mode,
            options=EvaluationOptions(
                concurrency=concurrency,
                max_failures=max_failures,
                retries_failed=retry_failed,
                max_cost_usd=usd_of(max_cost),
                prices=given_prices(price or ()),
            ),
            start=StartOptions(
                limit=limit,
                shard=None if shard is None else Shard.read(shard),
                is_resumed=resume,
                accepts_changed=accept_changed,
                keeps_raw=not no_raw,
                certifies=certificates,
            ),
            prompts=tuple(prompts or ()),
            repeats=repeats,
            is_unrelated=unrelated,
            ablates=ablate,
            batch=BatchChoice(wanted=batch, waits=wait, hands_in_again=hand_in_again),
            is_in_database=database,
            is_detached=detach,
        )
        _tell_plan(settings, wanted, plan=plan, before=out, as_json=as_json)
        if out is None:
            raise InputError("the run has no folder; add --out RUN", field="--out")
        code = assess_dataset(settings, wanted)
    raise typer.Exit(code)


@runs_app.command(epilog=REPLICATE_EXAMPLES)
def replicate(
    dataset: DatasetArgument,
    *,
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="For all that comes out.")],
    seed: Annotated[int, typer.Option(help="The same seed draws the same participants.")] = 0,
    concurrency: ConcurrencyOption = 8,
    plan: PlanOption = False,
    as_json: PlanAsJsonOption = False,
    max_cost: MaxCostOption = None,
    price: PriceOption = None,
    model: ModelOption = None,
) -> None:
    """Assess 41 of the 142 participants with item labels; leaves FOLDER/aggregates to share.

    Goes on where it was stopped. The other 58 and 43 stay aside for choosing prompts and models.
    """
    with refusing_bad_input(), TemporaryDirectory() as unwritten:
        settings = quiet(read_settings(model))
        choice = DatasetChoice(path=dataset, labels=settings.transcript.labels)
        splits, run_folder = Path(unwritten) if plan else out / "splits", out / "run"
        write_splits(splits, drawn_splits(choice.opened(), PARTS, seed=seed))
        wanted = WantedRun(
            dataset=replace(choice, split=str(splits / f"{ASSESSED_PART}.csv")),
            out=run_folder,
            mode=AssessmentMode.ZERO_SHOT,
            start=StartOptions(is_resumed=RunFolder(run_folder).run.exists()),
            options=EvaluationOptions(
                concurrency=concurrency,
                max_cost_usd=usd_of(max_cost),
                prices=given_prices(price or ()),
            ),
        )
        _tell_plan(settings, wanted, plan=plan, before=run_folder, as_json=as_json)
        code = assess_dataset(settings, wanted)
        write_aggregates(out / "aggregates", run=run_folder, splits=splits)
    raise typer.Exit(code)


def _tell_plan(
    settings: Settings, wanted: WantedRun, *, plan: bool, before: Path | None, as_json: bool
) -> None:
    """End with the plan where that is all that is wanted."""
    if plan:
        tell_plan(settings, wanted, before=before, as_json=as_json)
        raise typer.Exit
    if as_json:
        raise InputError("--json is for --plan; a run prints no figures", field="--json")
