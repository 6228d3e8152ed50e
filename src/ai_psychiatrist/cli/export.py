"""Results and outcomes for other programs: `export` writes them, `import` takes outcomes in."""

import re
from collections import deque
from collections.abc import Iterator
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Annotated, Final

import typer

from ai_psychiatrist.cli.command_app import CommandApp
from ai_psychiatrist.cli.console import ExitCode, require, say
from ai_psychiatrist.cli.files import check_place, write_file
from ai_psychiatrist.cli.run_source import open_or_create_run, open_run
from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.evaluation.report.unit_table import prediction_item_rows, prediction_row
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.evaluation.scores.prediction_lines import read_predictions
from ai_psychiatrist.infrastructure.given_files import read_regular, reading_from
from ai_psychiatrist.pipelines.export import export_run
from ai_psychiatrist.pipelines.intake import Intake, read_outcomes
from ai_psychiatrist.pipelines.pipeline_run import PipelineRun
from ai_psychiatrist.pipelines.run_folder import RESULTS_FOLDER
from ai_psychiatrist.results.fhir.bundle import bundle_of, bytes_of
from ai_psychiatrist.results.fhir.source import BundleOptions
from ai_psychiatrist.results.reading import result_of, transcript_sha256_of
from ai_psychiatrist.results.tables import (
    ASSESSMENT_COLUMNS,
    ITEM_COLUMNS,
    ITEM_COLUMNS_WITH_WORDS,
    TableFormat,
    assessment_row,
    item_rows,
    written,
)

_SUBJECT: Final = re.compile(
    r"Patient/[A-Za-z0-9.-]{1,64}|urn:uuid:[0-9a-f-]{36}|https://\S{1,500}"
)
_MOST_BYTES: Final = 1 << 26


class ExportFormat(StrEnum):
    """What results are put into."""

    FHIR = "fhir"
    JSONL = "jsonl"
    CSV = "csv"


class ExportedRows(StrEnum):
    """What a row is."""

    RESULTS = "results"
    """One assessment."""
    ITEMS = "items"
    """One item of one assessment."""


export_app = CommandApp()


@export_app.command(
    epilog="""
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
)
def export(
    path: Annotated[
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
        bool, typer.Option("--with-words", help="Also the participant's words that support scores.")
    ] = False,
    questionnaire: Annotated[
        bool,
        typer.Option("--questionnaire", help="In FHIR: also a QuestionnaireResponse."),
    ] = False,
    transaction: Annotated[
        bool,
        typer.Option("--transaction", help="In FHIR: a transaction, to be posted to a server."),
    ] = False,
    subject: Annotated[
        str | None,
        typer.Option(
            "--subject",
            metavar="REFERENCE",
            help="In FHIR: the person it is about, such as Patient/17.",
        ),
    ] = None,
    step: Annotated[
        list[str] | None, typer.Option("--step", help="Only this step; may be repeated.")
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
    """Write results as FHIR, CSV or JSON lines, or the stored steps of a run."""
    is_fhir, is_items = export_format is ExportFormat.FHIR, rows is ExportedRows.ITEMS
    of_results = {"--rows": is_items, "--with-words": with_words, "--questionnaire": questionnaire}
    of_results |= {"--transaction": transaction, "--subject": subject is not None}
    if export_format is None:
        for option, is_given in of_results.items():
            require(not is_given, f"{option}: it is for results; add --format", field=option)
        _export_steps(
            path,
            path / RESULTS_FOLDER if out is None else out,
            step,
            has_classic_stages=has_classic_stages,
            retries_failed=retries_failed,
        )
        return
    require(
        not (step or has_classic_stages or retries_failed),
        "--step, --classic-stages and --retry-failed are for steps: leave out --format",
        field="--format",
    )
    require(
        not (is_fhir and is_items),
        "--rows: a bundle holds all items; leave it out, or use csv or jsonl",
        field="--rows",
    )
    for option, verb in (
        ("--questionnaire", "has"),
        ("--transaction", "has"),
        ("--subject", "names"),
    ):
        require(
            is_fhir or not of_results[option],
            f"{option}: only fhir {verb} one; use --format fhir",
            field=option,
        )
    require(
        subject is None or _SUBJECT.fullmatch(subject),
        "--subject: write Patient/ID, urn:uuid:... or an https address",
        field="--subject",
    )
    require(
        is_fhir or is_items or not with_words,
        "--with-words: the words are those of items; use --rows items",
        field="--with-words",
    )
    run = RunFolder(path)
    is_run = path.is_dir() and run.run.is_file()
    require(
        not (is_run and is_fhir),
        "--format fhir: a run does not store all that a bundle says of an assessment; use "
        "csv or jsonl, or assess the interview with `assess FILE --json`",
        field="--format",
    )
    require(
        not (is_run and with_words),
        "--with-words: a run keeps no words of the interviews in its predictions",
        field="--with-words",
    )
    if is_fhir:
        wanted = BundleOptions(
            subject=subject,
            with_words=with_words,
            questionnaire=questionnaire,
            is_transaction=transaction,
        )
        chunks = _bundles(path, wanted)
    elif is_items:
        row_groups = (
            map(prediction_item_rows, read_predictions(run.predictions))
            if is_run
            else (item_rows(one, with_words=with_words) for one in _results(path))
        )
        columns = ITEM_COLUMNS_WITH_WORDS if with_words else ITEM_COLUMNS
        cells = chain.from_iterable(row_groups)
        chunks = written(cells, columns, TableFormat(export_format.value))
    else:
        of_run = map(prediction_row, read_predictions(run.predictions)) if is_run else None
        chunks = written(
            of_run or map(assessment_row, _results(path)),
            ASSESSMENT_COLUMNS,
            TableFormat(export_format.value),
        )
    if out is None:
        stream = typer.get_binary_stream("stdout")
        stream.writelines(chunks)
        stream.flush()
        return
    cure = "leave --out away for standard output"
    check_place("--out", out, path, source_is="what is exported", cure=cure)
    write_file(out, chunks, option="--out")
    say(f"written to {out}")


def _bundles(path: Path, wanted: BundleOptions) -> Iterator[bytes]:
    require(
        not path.is_dir() or wanted.subject is None,
        "--subject: a folder may be about several people; name a result's file",
        field="--subject",
    )
    for result in _results(path):
        bundle = bundle_of(result, transcript_sha256=transcript_sha256_of(result), wanted=wanted)
        yield bytes_of(bundle, is_indented=not path.is_dir())


def _results(path: Path) -> Iterator[Assessment]:
    """Yield the results of a file or a folder; raises `InputError` at one that cannot be used."""
    paths = sorted(path.glob("*.json")) if path.is_dir() else [path]
    require(
        paths,
        f"{path}: the folder holds no .json files and is no run; write results into it with "
        "`ai-psychiatrist assess FILE --json > FOLDER/NAME.json`",
        field="PATH",
    )
    known: dict[str, Path] = {}
    for one in paths:
        with reading_from(f"{one}: the file", field="PATH"):
            content = read_regular(one, most_bytes=_MOST_BYTES)
        result = result_of(content, field=str(one))
        first = known.setdefault(result.assessment_id, one)
        require(
            first == one,
            f"{one}: it is the same assessment as {first.name}; take one of them away",
            field="PATH",
        )
        yield result


def _export_steps(
    path: Path,
    folder: Path,
    steps: list[str] | None,
    *,
    has_classic_stages: bool,
    retries_failed: bool,
) -> None:
    with open_run(path, is_read_only=True) as ledger:
        exports = export_run(
            PipelineRun.of(ledger),
            folder,
            steps=steps or ledger.steps,
            has_classic_stages=has_classic_stages,
            retries_failed=retries_failed,
        )
        accounts = ledger.counts_by_step()
    say(
        *(
            f"{name}: {accounts[name].valid} valid, {accounts[name].failed} failed, "
            f"{exported.queued} queued"
            for name, exported in exports.items()
        ),
        f"written to {folder}",
    )
    if not all(account.balances for account in accounts.values()):
        say("error: units are unaccounted for: the ledger is damaged")
        raise typer.Exit(ExitCode.PARTIAL)


@export_app.command(
    "import",
    epilog="""
Examples:

  ai-psychiatrist import runs/old score_failures.jsonl --step score --config pipeline.yaml

  ai-psychiatrist import runs/old score_validated.jsonl --step score

Failures keep their stage and their retries; valid units are judged by the run's rules. Nothing is
imported when a line cannot be used.

Exit status: 0 imported, 2 a line, the run or the configuration cannot be used.
""",
)
def import_outcomes(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run's folder.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Failures or valid units.")],
    *,
    step: Annotated[str, typer.Option("--step", help="The step whose outcomes these are.")],
    config: Annotated[
        Path | None, typer.Option("--config", help="The pipeline file, to make a new run.")
    ] = None,
) -> None:
    """Import outcomes that were exported, or written by another program, into a run."""
    # Before a run is made: a line that cannot be used is named.
    deque(read_outcomes(file), maxlen=0)
    with open_or_create_run(run, config) as ledger, ledger.lock(), ledger.transaction():
        into = PipelineRun.of(ledger)
        intake = Intake(run=into, step=step, checks=into.checks(step))
        intake.take_outcomes(file)
    say(f"{step}: {intake.recorded} imported, {intake.known} known already")
