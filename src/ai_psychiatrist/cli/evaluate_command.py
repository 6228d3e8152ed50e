"""The `evaluate` commands: run a dataset through the agents, then metrics and a report."""

import asyncio
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ai_psychiatrist.cli.dataset_options import (
    CodesOption,
    DatasetArgument,
    DatasetChoice,
    Interruption373Option,
    InterviewerLabels,
    KindOption,
    LabelledOption,
    ParticipantLabels,
    SpeakersOption,
    SplitOption,
    with_labels,
)
from ai_psychiatrist.cli.exits import ExitCode, fail, refusing_bad_input
from ai_psychiatrist.cli.settings_source import ModelOption, quiet, read_settings
from ai_psychiatrist.evaluation.datasets.dataset import SpeakerFilter
from ai_psychiatrist.services.transcripts.formats.daic_woz import CodedLines, Interruption373

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ai_psychiatrist.config import Settings
    from ai_psychiatrist.evaluation.runs.session import SittingEnd, SittingOptions
    from ai_psychiatrist.evaluation.runs.start import RunRequest
    from ai_psychiatrist.wiring import Services

evaluate_app = typer.Typer(
    help="Assess whole datasets, and measure what comes out.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

RUN_EXAMPLES = """
Examples:

  ai-psychiatrist evaluate run interviews/ --out runs/first

  ai-psychiatrist evaluate run interviews/ --out runs/first --resume

  ai-psychiatrist evaluate run DAIC-WOZ/ --out runs/gemma --model ollama:gemma3 --limit 20

  ai-psychiatrist evaluate run interviews/ --out runs/anna --participant Anna --interviewer Tom

Who speaks is told by labels such as Patient or Interviewer. Others are named with --participant and
--interviewer for all files, or with rows file,label,role in interviews/speakers.csv.

Exit status: 0 every unit complete, 1 some units failed or files were not read, 2 bad input or
settings, 3 no unit is complete, 130 stopped by Ctrl-C (go on with --resume).
"""
REPLICATE_EXAMPLES = """
Example:

  ai-psychiatrist evaluate replicate DAIC-WOZ/ --out replication --model ollama:gemma3:27b

Exit status as of run.
"""
METRICS_EXAMPLES = """
Examples:

  ai-psychiatrist evaluate metrics runs/first

  ai-psychiatrist evaluate metrics runs/first --compare runs/gemma --compare runs/qwen
"""
COMPARE_EXAMPLES = """
Examples:

  ai-psychiatrist evaluate compare runs/first runs/gemma runs/qwen

  ai-psychiatrist evaluate compare runs/first runs/gemma --json > differences.json

Runs that read other texts or have other labels are refused, and it is said in what they differ.
"""
RUNS_EXAMPLES = """
Example:

  ai-psychiatrist evaluate runs runs/
"""
TABLE_EXAMPLES = """
Examples:

  ai-psychiatrist evaluate table runs/first --out first.csv

  ai-psychiatrist evaluate table runs/first --out first.xlsx
"""
UNIT_EXAMPLES = """
Example:

  ai-psychiatrist evaluate unit runs/first 303 --out unit.json
"""
REPORT_EXAMPLES = """
Example:

  ai-psychiatrist evaluate report runs/first
"""


class Mode(StrEnum):
    """Whether scoring sees scored examples of other participants."""

    ZERO_SHOT = "zero-shot"


_CHECK_SAYS = "`ai-psychiatrist evaluate datasets check` says which and why"

RunFolderArgument = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of the run.")]
OtherRuns = Annotated[
    list[Path] | None,
    typer.Option(
        "--compare", metavar="RUN2", help="Show the differences of another run; can be repeated."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print all figures as JSON.")]


@evaluate_app.command(epilog=RUN_EXAMPLES)
def run(
    dataset: DatasetArgument,
    *,
    out: Annotated[Path, typer.Option("--out", metavar="RUN", help="Folder for the run.")],
    mode: Annotated[Mode, typer.Option(help="How items are scored.")] = Mode.ZERO_SHOT,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N units.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Units assessed at the same time.")] = 8,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run.")] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Do failed units anew, with --resume.")
    ] = False,
    accept_changed: Annotated[
        bool,
        typer.Option(
            "--accept-changed",
            help="With --resume: go on under another version, prompts or rules, noted by unit.",
        ),
    ] = False,
    max_failures: Annotated[
        int | None, typer.Option(min=0, help="Begin no unit once more than N have failed.")
    ] = None,
    no_raw: Annotated[
        bool,
        typer.Option(
            "--no-raw", help="Keep no text; a stopped unit then starts from its beginning."
        ),
    ] = False,
    split: SplitOption = None,
    labelled: LabelledOption = False,
    speakers: SpeakersOption = SpeakerFilter.BOTH,
    participant: ParticipantLabels = None,
    interviewer: InterviewerLabels = None,
    kind: KindOption = None,
    interruption_373: Interruption373Option = Interruption373.OFFICIAL,
    codes: CodesOption = CodedLines.TEXT,
    unrelated: Annotated[
        bool,
        typer.Option(
            "--unrelated", help="None is about depression: all that is found is false evidence."
        ),
    ] = False,
    model: ModelOption = None,
) -> None:
    """Assess every unit of a dataset; can be stopped at any time and gone on with."""
    with refusing_bad_input():
        from ai_psychiatrist.evaluation.runs.session import SittingOptions  # noqa: PLC0415

        settings = quiet(read_settings(model))
        wanted = _Wanted(
            dataset=DatasetChoice(
                path=dataset,
                speakers=speakers,
                labels=with_labels(settings.transcript.labels, participant, interviewer),
                kind=kind,
                interruption_373=interruption_373,
                codes=codes,
                split=split,
                is_labelled=labelled,
            ),
            out=out,
            mode=mode,
            limit=limit,
            is_resumed=resume,
            accepts_changed=accept_changed,
            keeps_raw=not no_raw,
            is_unrelated=unrelated,
        )
        options = SittingOptions(
            concurrency=concurrency, max_failures=max_failures, retries_failed=retry_failed
        )
        end = _assessed(settings, wanted, options)
    raise typer.Exit(_conclude(end, out))


@evaluate_app.command(epilog=REPLICATE_EXAMPLES)
def replicate(
    dataset: DatasetArgument,
    *,
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="For all that comes out.")],
    seed: Annotated[int, typer.Option(help="The same seed draws the same participants.")] = 0,
    concurrency: Annotated[int, typer.Option(min=1, help="Units assessed at the same time.")] = 8,
    model: ModelOption = None,
) -> None:
    """Assess 41 of the 142 participants with item labels; leaves FOLDER/aggregates to share.

    Goes on where it was stopped. The other 58 and 43 stay aside for choosing prompts and models.
    """
    with refusing_bad_input():
        from ai_psychiatrist.evaluation.datasets.splits import (  # noqa: PLC0415
            drawn_splits,
            write_splits,
        )
        from ai_psychiatrist.evaluation.replication import (  # noqa: PLC0415
            ASSESSED_PART,
            PARTS,
            write_aggregates,
        )
        from ai_psychiatrist.evaluation.runs.folder import RunFolder  # noqa: PLC0415
        from ai_psychiatrist.evaluation.runs.session import SittingOptions  # noqa: PLC0415

        settings = quiet(read_settings(model))
        choice = DatasetChoice(path=dataset, labels=settings.transcript.labels)
        splits, run_folder = out / "splits", out / "run"
        write_splits(splits, drawn_splits(choice.opened(), PARTS, seed=seed))
        wanted = _Wanted(
            dataset=replace(choice, split=str(splits / f"{ASSESSED_PART}.csv")),
            out=run_folder,
            mode=Mode.ZERO_SHOT,
            is_resumed=RunFolder(run_folder).run.exists(),
        )
        end = _assessed(settings, wanted, SittingOptions(concurrency=concurrency))
        write_aggregates(out / "aggregates", run=run_folder, splits=splits)
    raise typer.Exit(_conclude(end, run_folder))


def _assessed(settings: "Settings", wanted: "_Wanted", options: "SittingOptions") -> "SittingEnd":
    try:
        return asyncio.run(_run(settings, wanted, options))
    except KeyboardInterrupt:
        typer.echo("stopped; what has finished is kept: go on with --resume", err=True)
        raise typer.Exit(ExitCode.STOPPED) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """What the command line asks for."""

    dataset: DatasetChoice
    out: Path
    mode: Mode
    limit: int | None = None
    is_resumed: bool = False
    accepts_changed: bool = False
    keeps_raw: bool = True
    is_unrelated: bool = False


async def _run(settings: "Settings", wanted: _Wanted, options: "SittingOptions") -> "SittingEnd":
    from ai_psychiatrist.agents.contracts.contract import shipped_contract  # noqa: PLC0415
    from ai_psychiatrist.cli.evaluation_progress import unit_progress  # noqa: PLC0415
    from ai_psychiatrist.evaluation.runs.provenance import changes_of  # noqa: PLC0415
    from ai_psychiatrist.evaluation.runs.run import RunTools  # noqa: PLC0415
    from ai_psychiatrist.evaluation.runs.session import sit  # noqa: PLC0415
    from ai_psychiatrist.evaluation.runs.stages import ASSESSMENT_STEP  # noqa: PLC0415
    from ai_psychiatrist.evaluation.runs.start import open_run  # noqa: PLC0415
    from ai_psychiatrist.wiring import open_services  # noqa: PLC0415

    async with open_services(settings) as services:
        request = _request(services, wanted)
        with request.folder.held(), open_run(request) as ledger:
            contract = shipped_contract()
            tools = RunTools(
                dataset=request.dataset,
                ledger=ledger,
                pipeline=services.pipeline,
                limits=contract.retry,
                deadline_seconds=contract.deadline_seconds,
                changes=len(changes_of(request.folder.require_run())),
            )
            with unit_progress(ledger.account(ASSESSMENT_STEP)) as on_unit:
                return await sit(tools, request.folder, options, on_unit=on_unit)


def _request(services: "Services", wanted: _Wanted) -> "RunRequest":
    from ai_psychiatrist.agents.contracts.contract import shipped_contract  # noqa: PLC0415
    from ai_psychiatrist.agents.prompts.digests import PROMPT_DIGESTS  # noqa: PLC0415
    from ai_psychiatrist.evaluation.runs.folder import RunFolder  # noqa: PLC0415
    from ai_psychiatrist.evaluation.runs.provenance import provenance  # noqa: PLC0415
    from ai_psychiatrist.evaluation.runs.start import RunRequest  # noqa: PLC0415
    from ai_psychiatrist.ledger.keys.cipher import load_cipher  # noqa: PLC0415

    dataset = wanted.dataset.opened()
    contract = shipped_contract()
    key_file = services.settings.ledger.key_file
    return RunRequest(
        dataset=dataset,
        folder=RunFolder(wanted.out),
        record=provenance(
            dataset,
            mode=wanted.mode.value,
            concerns_depression=False if wanted.is_unrelated else None,
            models=services.agent_models,
            prompts=PROMPT_DIGESTS,
            contracts={"pipeline": contract.digest},
            settings=_deciding(services.settings),
        ),
        contract=contract,
        limit=wanted.limit,
        is_resumed=wanted.is_resumed,
        accepts_changed=wanted.accepts_changed,
        keeps_raw=wanted.keeps_raw,
        cipher=None if key_file is None else load_cipher(key_file),
    )


def _deciding(settings: "Settings") -> dict[str, object]:
    """Return the settings that decide on a result; none of them is a secret."""
    return {
        "temperature": settings.model.temperature,
        "max_calls": settings.model.max_calls,
        "max_reply_bytes": settings.model.max_reply_bytes,
        "num_ctx": settings.ollama.num_ctx,
        "pydantic_ai": settings.pydantic_ai.model_dump(mode="json"),
        "quantitative": settings.quantitative.model_dump(mode="json"),
        "qualitative": settings.qualitative.model_dump(mode="json"),
        "feedback": settings.feedback.model_dump(mode="json"),
        "transcript": settings.transcript.model_dump(mode="json"),
    }


def _conclude(end: "SittingEnd", out: Path) -> ExitCode:
    """Say where the run stands, and return the command's exit status."""
    account, carried = end.account, end.carried
    with_failures = f" ({carried.units} of these carry failures)" if carried.units else ""
    typer.echo(
        f"{account.valid} of {account.requested} units complete{with_failures}, "
        f"{account.failed} failed, {account.pending} to do; "
        f"{end.tally.paid_calls} model calls made now",
        err=True,
    )
    for category, count in carried.kinds.most_common():
        typer.echo(f"  complete with {category}: {count}", err=True)
    for stage, count in account.by_stage.items():
        typer.echo(f"  failed at {stage}: {count}", err=True)
    if "provider" in account.by_stage:
        typer.echo("For a closer look: ai-psychiatrist doctor", err=True)
    for line in _unread(end):
        typer.echo(line, err=True)
    if end.unbalanced_steps:
        fail(f"the account does not balance at {', '.join(end.unbalanced_steps)}: keep the folder")
    typer.echo(f"next: ai-psychiatrist evaluate report {out}", err=True)
    if account.valid == 0:
        return ExitCode.NOTHING_FINISHED
    is_whole = account.valid == account.requested and not end.not_read
    return ExitCode.COMPLETE if is_whole else ExitCode.PARTIAL


def _unread(end: "SittingEnd") -> "Iterator[str]":
    """Say what of the dataset was not read, by counts: names may be those of people."""
    if end.unreadable:
        yield f"units without a transcript that can be read: {end.unreadable}; {_CHECK_SAYS}"
    if end.not_read:
        kinds = ", ".join(f"{code} {count}" for code, count in end.not_read.items())
        lost = sum(end.not_read.values())
        yield f"not read and no units: {lost} files or lines ({kinds}); {_CHECK_SAYS}"


@evaluate_app.command(epilog=METRICS_EXAMPLES)
def metrics(
    run: RunFolderArgument,
    *,
    compare: OtherRuns = None,
    split: SplitOption = None,
    labelled: LabelledOption = False,
    as_json: JsonOption = False,
) -> None:
    """Compute the figures of a run, with intervals, and write RUN/metrics.json.

    Figures of some of the units are printed alone: the file is about all of them.
    """
    with refusing_bad_input():
        from ai_psychiatrist.evaluation.datasets.selection import Selection  # noqa: PLC0415
        from ai_psychiatrist.evaluation.measuring import measure_run  # noqa: PLC0415

        selection = Selection(split=split, has_items=labelled)
        measured = measure_run(run, compare or (), selection)
        if as_json:
            _print_json(measured.as_json())
        else:
            # What it needs is an extra, whose absence the measuring names with its cure.
            from ai_psychiatrist.cli.metrics_table import print_metrics  # noqa: PLC0415

            print_metrics(measured)


@evaluate_app.command("compare", epilog=COMPARE_EXAMPLES)
def compare_command(
    run: RunFolderArgument,
    others: Annotated[list[Path], typer.Argument(metavar="RUN2...", help="The runs beside it.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Show how runs over the same interviews differ from the first of them."""
    with refusing_bad_input():
        from ai_psychiatrist.cli.metrics_table import print_differences  # noqa: PLC0415
        from ai_psychiatrist.evaluation.measuring import compare_runs  # noqa: PLC0415

        comparisons = compare_runs(run, others)
        if as_json:
            _print_json({"comparisons": [compared.as_json() for compared in comparisons]})
        else:
            print_differences(comparisons)


@evaluate_app.command(epilog=RUNS_EXAMPLES)
def runs(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the runs.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """List the runs in a folder: what each was made with, and how its units ended."""
    with refusing_bad_input():
        from ai_psychiatrist.cli.run_table import print_runs  # noqa: PLC0415
        from ai_psychiatrist.evaluation.runs.run_list import runs_in  # noqa: PLC0415

        found = runs_in(folder)
        if as_json:
            listed = [run.as_json() for run in found.runs]
            _print_json({"runs": listed, "damaged": list(found.damaged)})
        else:
            print_runs(found)


@evaluate_app.command(epilog=TABLE_EXAMPLES)
def table(
    run: RunFolderArgument,
    *,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="A .csv or .xlsx file.")],
) -> None:
    """Write the results of a run as a table, one row a unit: scores, labels, codes, no words."""
    with refusing_bad_input():
        from ai_psychiatrist.evaluation.scores.unit_table import write_table  # noqa: PLC0415

        write_table(run, out)
        typer.echo(str(out))


@evaluate_app.command(epilog=UNIT_EXAMPLES)
def unit(
    run: RunFolderArgument,
    unit_id: Annotated[str, typer.Argument(metavar="UNIT", help="As the report names it.")],
    *,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="A file for your eyes alone.")],
) -> None:
    """Write a unit's text, tasks, replies and quotes into a file; it holds what people said."""
    with refusing_bad_input():
        from ai_psychiatrist.cli.run_source import open_run  # noqa: PLC0415
        from ai_psychiatrist.evaluation.runs.unit_words import write_unit  # noqa: PLC0415

        with open_run(run, is_read_only=True) as ledger:
            write_unit(ledger, unit_id, out)
    typer.echo(f"written to {out}; it holds what people said", err=True)


def _print_json(document: dict[str, object]) -> None:
    import orjson  # noqa: PLC0415

    typer.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())


@evaluate_app.command(epilog=REPORT_EXAMPLES)
def report(
    run: RunFolderArgument,
    *,
    compare: OtherRuns = None,
    out: Annotated[
        Path | None, typer.Option(help="Where to write; RUN/report.html otherwise.")
    ] = None,
) -> None:
    """Write one HTML file about a run that opens in any browser, without a network."""
    with refusing_bad_input():
        from ai_psychiatrist.evaluation.measuring import report_run  # noqa: PLC0415

        typer.echo(str(report_run(run, compare or (), out)))
