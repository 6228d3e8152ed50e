"""The `evaluate` commands: run a dataset through the agents, then metrics and a report."""

import asyncio
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ai_psychiatrist.cli.exits import ExitCode, fail, refusing_bad_input
from ai_psychiatrist.cli.known_labels import InterviewerLabels, ParticipantLabels, with_labels
from ai_psychiatrist.cli.settings_source import ModelOption, quiet, read_settings
from ai_psychiatrist.evaluation.datasets.dataset import SpeakerFilter
from ai_psychiatrist.services.transcripts.labels import SpeakerLabels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ai_psychiatrist.config import Settings
    from ai_psychiatrist.evaluation.run.opening import RunRequest
    from ai_psychiatrist.evaluation.run.sitting import SittingEnd, SittingOptions
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
METRICS_EXAMPLES = """
Examples:

  ai-psychiatrist evaluate metrics runs/first

  ai-psychiatrist evaluate metrics runs/first --compare runs/gemma
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


@evaluate_app.command(epilog=RUN_EXAMPLES)
def run(
    dataset: Annotated[
        Path,
        typer.Argument(
            metavar="DATASET",
            help="Folder of interviews in any form, JSONL file, or one interview.",
        ),
    ],
    *,
    out: Annotated[Path, typer.Option("--out", metavar="RUN", help="Folder for the run.")],
    mode: Annotated[Mode, typer.Option(help="How items are scored.")] = Mode.ZERO_SHOT,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N units.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Units assessed at the same time.")] = 8,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run.")] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Do failed units anew, with --resume.")
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
    speakers: Annotated[
        SpeakerFilter, typer.Option(help="Whose words are assessed.")
    ] = SpeakerFilter.BOTH,
    participant: ParticipantLabels = None,
    interviewer: InterviewerLabels = None,
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
        from ai_psychiatrist.evaluation.run.sitting import SittingOptions  # noqa: PLC0415

        settings = quiet(read_settings(model))
        wanted = _Wanted(
            dataset=dataset,
            out=out,
            mode=mode,
            limit=limit,
            is_resumed=resume,
            keeps_raw=not no_raw,
            speakers=speakers,
            labels=with_labels(settings.transcript.labels, participant, interviewer),
            is_unrelated=unrelated,
        )
        options = SittingOptions(
            concurrency=concurrency, max_failures=max_failures, retries_failed=retry_failed
        )
        try:
            end = asyncio.run(_run(settings, wanted, options))
        except KeyboardInterrupt:
            typer.echo("stopped; what has finished is kept: go on with --resume", err=True)
            raise typer.Exit(ExitCode.STOPPED) from None
    raise typer.Exit(_conclude(end, out))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """What the command line asks for."""

    dataset: Path
    out: Path
    mode: Mode
    limit: int | None
    is_resumed: bool
    keeps_raw: bool
    speakers: SpeakerFilter
    labels: SpeakerLabels
    is_unrelated: bool


async def _run(settings: "Settings", wanted: _Wanted, options: "SittingOptions") -> "SittingEnd":
    from ai_psychiatrist.agents.contracts.contract import shipped_contract  # noqa: PLC0415
    from ai_psychiatrist.cli.evaluation_progress import unit_progress  # noqa: PLC0415
    from ai_psychiatrist.evaluation.run.opening import open_run  # noqa: PLC0415
    from ai_psychiatrist.evaluation.run.run import RunTools  # noqa: PLC0415
    from ai_psychiatrist.evaluation.run.sitting import sit  # noqa: PLC0415
    from ai_psychiatrist.evaluation.run.stages import ASSESSMENT_STEP  # noqa: PLC0415
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
            )
            with unit_progress(ledger.account(ASSESSMENT_STEP)) as on_unit:
                return await sit(tools, request.folder, options, on_unit=on_unit)


def _request(services: "Services", wanted: _Wanted) -> "RunRequest":
    from ai_psychiatrist.agents.contracts.contract import shipped_contract  # noqa: PLC0415
    from ai_psychiatrist.agents.prompts.digests import PROMPT_DIGESTS  # noqa: PLC0415
    from ai_psychiatrist.evaluation.datasets.opening import open_dataset  # noqa: PLC0415
    from ai_psychiatrist.evaluation.run.folder import RunFolder  # noqa: PLC0415
    from ai_psychiatrist.evaluation.run.opening import RunRequest  # noqa: PLC0415
    from ai_psychiatrist.evaluation.run.provenance import provenance  # noqa: PLC0415
    from ai_psychiatrist.ledger.cipher import load_cipher  # noqa: PLC0415

    dataset = open_dataset(
        wanted.dataset,
        speakers=wanted.speakers,
        labels=wanted.labels,
    )
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
    account = end.account
    typer.echo(
        f"{account.valid} of {account.requested} units complete, {account.failed} failed, "
        f"{account.pending} to do; {end.tally.paid_calls} model calls made now",
        err=True,
    )
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
    compare: Annotated[
        Path | None, typer.Option(metavar="RUN2", help="Show the differences from another run.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all figures as JSON.")] = False,
) -> None:
    """Compute the figures of a run, with intervals, and write RUN/metrics.json."""
    with refusing_bad_input():
        from ai_psychiatrist.evaluation.measuring import measure_run  # noqa: PLC0415

        measured = measure_run(run, compare)
        if as_json:
            typer.echo(measured.as_json(), nl=False)
        else:
            # What it needs is an extra, whose absence the measuring names with its cure.
            from ai_psychiatrist.cli.metrics_table import print_metrics  # noqa: PLC0415

            print_metrics(measured.metrics, measured.comparison)


@evaluate_app.command(epilog=REPORT_EXAMPLES)
def report(
    run: RunFolderArgument,
    *,
    compare: Annotated[
        Path | None, typer.Option(metavar="RUN2", help="Show the differences from another run.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Where to write; RUN/report.html otherwise.")
    ] = None,
) -> None:
    """Write one HTML file about a run that opens in any browser, without a network."""
    with refusing_bad_input():
        from ai_psychiatrist.evaluation.measuring import report_run  # noqa: PLC0415

        typer.echo(str(report_run(run, compare, out)))
