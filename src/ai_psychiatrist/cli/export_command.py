"""The command `export`: a run's outcomes as JSON lines, and results in the forms of others."""

from pathlib import Path
from typing import Annotated, Final

import typer

from ai_psychiatrist.cli.exits import ExitCode, refusing_bad_input
from ai_psychiatrist.cli.export_wanted import (
    ExportedRows,
    ExportFormat,
    refuse_without_format,
    wanted_of,
)
from ai_psychiatrist.cli.result_export import write_results
from ai_psychiatrist.cli.run_source import open_run
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.pipelines.export import export_run
from ai_psychiatrist.pipelines.pipeline_run import PipelineRun
from ai_psychiatrist.pipelines.run_folder import RESULTS_FOLDER

EXAMPLES: Final = """
Examples:

  ai-psychiatrist export runs/first

  ai-psychiatrist export runs/first --step score --out scores --retry-failed

  ai-psychiatrist export assessment.json --format fhir --out assessment.fhir.json

  ai-psychiatrist export results/ --format csv --rows items > items.csv

With --format it writes results: of a file that `assess --json` made, of a folder of such files, or
of an evaluation's run. Without a word of anybody, unless --with-words is given. A folder as fhir
is one bundle a line.

Without --format it writes what a run keeps of its steps: STEP_validated.jsonl, STEP_failures.jsonl,
STEP_queue.jsonl (what is still to be asked) and schemas/STEP.json. These hold raw text, also of an
encrypted run. All files are the owner's alone.

Exit status: 0 written, 1 units are unaccounted for, 2 no run or result, or files cannot
be written.
"""


def export(
    run: Annotated[
        Path,
        typer.Argument(metavar="PATH", help="A run's folder or, with --format, results."),
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="The folder to write to, else RUN/export; with --format the file, else stdout.",
        ),
    ] = None,
    export_format: Annotated[
        ExportFormat | None,
        typer.Option("--format", help="Write results, and in this form."),
    ] = None,
    rows: Annotated[
        ExportedRows,
        typer.Option("--rows", help="Whether a row is an assessment or one item of it."),
    ] = ExportedRows.RESULTS,
    with_words: Annotated[
        bool, typer.Option("--with-words", help="Also the participant's words that carry scores.")
    ] = False,
    questionnaire: Annotated[
        bool,
        typer.Option("--questionnaire", help="In fhir also a QuestionnaireResponse."),
    ] = False,
    transaction: Annotated[
        bool,
        typer.Option("--transaction", help="In fhir a transaction, to be posted to a server."),
    ] = False,
    subject: Annotated[
        str | None,
        typer.Option(
            "--subject", metavar="REFERENCE", help="In fhir whom it is about, such as Patient/17."
        ),
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
    """Write results as FHIR, CSV or JSON lines, or what a run keeps of its steps."""
    if export_format is not None:
        with refusing_bad_input():
            _refuse_of_steps(step, is_given=has_classic_stages or retries_failed)
            wanted = wanted_of(
                export_format,
                rows,
                with_words=with_words,
                questionnaire=questionnaire,
                transaction=transaction,
                subject=subject,
            )
            write_results(run, wanted, out)
        return
    with refusing_bad_input():
        refuse_without_format(
            rows=rows is not ExportedRows.RESULTS,
            with_words=with_words,
            questionnaire=questionnaire,
            transaction=transaction,
            subject=subject is not None,
        )
    folder = run / RESULTS_FOLDER if out is None else out
    with refusing_bad_input(), open_run(run, is_read_only=True) as ledger:
        exports = export_run(
            PipelineRun.of(ledger),
            folder,
            steps=step or ledger.steps,
            has_classic_stages=has_classic_stages,
            retries_failed=retries_failed,
        )
        accounts = ledger.counts_by_step()
    for name, written in exports.items():
        account = accounts[name]
        counts = f"{account.valid} valid, {account.failed} failed, {written.queued} queued"
        typer.echo(f"{name}: {counts}", err=True)
    typer.echo(f"written to {folder}", err=True)
    if not all(account.balances for account in accounts.values()):
        typer.echo("error: units are unaccounted for: the ledger is damaged", err=True)
        raise typer.Exit(ExitCode.PARTIAL)


def _refuse_of_steps(steps: list[str] | None, *, is_given: bool) -> None:
    if steps or is_given:
        msg = "--step, --classic-stages and --retry-failed are for steps: leave out --format"
        raise InputError(msg, field="--format")
