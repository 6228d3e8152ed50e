"""The commands that compute figures of runs: shown, compared, in a report."""

from pathlib import Path
from typing import Annotated

import typer

from ai_psychiatrist.cli.command_app import CommandApp
from ai_psychiatrist.cli.console import plain, refusing_bad_input
from ai_psychiatrist.cli.dataset_options import (
    LabelFlags,
    LabelledOption,
    SplitOption,
    with_option_groups,
)
from ai_psychiatrist.cli.evaluation_options import JsonOption, RunFolderArgument, print_json
from ai_psychiatrist.cli.repeats_table import print_repeats
from ai_psychiatrist.cli.run_source import brought_up_to_date
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.options import LabelOptions
from ai_psychiatrist.evaluation.datasets.selection import Selection
from ai_psychiatrist.evaluation.measuring import (
    FileOfLabels,
    compare_runs,
    measure_run,
    metrics_in_words,
    report_run,
)
from ai_psychiatrist.evaluation.reading_list import to_read_in_words
from ai_psychiatrist.evaluation.repeats import repeated_runs
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder

figures_app = CommandApp()

METRICS_EXAMPLES = """
Examples:

  ai-psychiatrist evaluate metrics runs/first

  ai-psychiatrist evaluate metrics runs/first --compare runs/gemma --compare runs/qwen

  ai-psychiatrist evaluate metrics runs/first --by gender

  ai-psychiatrist evaluate metrics runs/first --labels corrected.csv --missing=-99

  ai-psychiatrist evaluate metrics --list
"""
COMPARE_EXAMPLES = """
Examples:

  ai-psychiatrist evaluate compare runs/first runs/gemma runs/qwen

  ai-psychiatrist evaluate compare runs/first runs/gemma --json > differences.json

  ai-psychiatrist evaluate compare wordings

Runs that read other texts or have other labels are refused, and it is said in what they differ.
"""
ByOption = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Show the figures of each group, such as by gender or site; a column of the labels.",
    ),
]
OtherRuns = Annotated[
    list[Path] | None,
    typer.Option(
        "--compare", metavar="RUN2", help="Show the differences of another run; can be repeated."
    ),
]


LabelsOption = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        metavar="FILE",
        help="Measure with the labels of this file in the place of the run's own.",
    ),
]


def _given(labels: Path | None, scores: LabelFlags) -> FileOfLabels | None:
    options = scores.options()
    if labels is not None:
        return FileOfLabels(path=labels, options=options)
    if options != LabelOptions():
        msg = "--missing, --label-codes, --label-row and --match-ids are for --labels FILE"
        raise InputError(msg, field="--labels")
    return None


def _list_metrics(is_wanted: bool) -> None:  # noqa: FBT001  as a callback is called
    if is_wanted:
        with refusing_bad_input():
            typer.echo("\n".join(metrics_in_words()))
        raise typer.Exit


@figures_app.command(epilog=METRICS_EXAMPLES)
@with_option_groups
def metrics(
    run: RunFolderArgument,
    *,
    compare: OtherRuns = None,
    by: ByOption = None,
    split: SplitOption = None,
    labelled: LabelledOption = False,
    labels: LabelsOption = None,
    scores: LabelFlags,
    as_json: JsonOption = False,
    list_all: Annotated[  # noqa: ARG001  read before the others, by its callback
        bool,
        typer.Option(
            "--list",
            is_eager=True,
            callback=_list_metrics,
            help="Print what every metric is, with its source; needs no run.",
        ),
    ] = False,
) -> None:
    """Compute the figures of a run, with intervals, and write RUN/metrics.json.

    Figures of some of the units, or with other labels, are printed alone: the file is about all of
    them, and the labels that the run keeps.
    """
    with refusing_bad_input():
        brought_up_to_date(run, *(compare or ()))
        selection = Selection(split=split, has_items=labelled)
        given = _given(labels, scores)
        measured = measure_run(run, compare or (), selection, by=by, given=given)
        if as_json:
            print_json(measured.as_json())
            typer.echo(plain(to_read_in_words(measured.provenance.readings)), err=True)
        else:
            # What it needs is an extra, whose absence the measuring names with its cure.
            from ai_psychiatrist.cli.metrics_table import print_metrics  # noqa: PLC0415

            print_metrics(measured)
        if measured.labels is not None:
            typer.echo(plain(str(measured.labels)), err=True)


@figures_app.command("compare", epilog=COMPARE_EXAMPLES)
def compare_command(
    run: RunFolderArgument,
    others: Annotated[
        list[Path] | None, typer.Argument(metavar="[RUN2...]", help="The runs beside it.")
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Show how runs over the same interviews differ from the first of them.

    Folders of runs are shown by prompts and models: each figure's mean and spread over the repeats.
    """
    with refusing_bad_input():
        folders = [run, *(others or ())]
        brought_up_to_date(*folders)
        if not others or any(RunFolder(one).inside() for one in folders):
            _compare_repeats(folders, as_json=as_json)
            return
        comparisons = compare_runs(run, others)
        if as_json:
            print_json({"comparisons": [compared.as_json() for compared in comparisons]})
        else:
            # As above: comparing names the extra that is missing.
            from ai_psychiatrist.cli.metrics_table import print_differences  # noqa: PLC0415

            print_differences(comparisons)


def _compare_repeats(folders: list[Path], *, as_json: bool) -> None:
    groups = repeated_runs(folders)
    if as_json:
        print_json({"groups": [group.as_json() for group in groups]})
    else:
        print_repeats(groups)


@figures_app.command(epilog="Example:\n\n  ai-psychiatrist evaluate report runs/first")
@with_option_groups
def report(
    run: RunFolderArgument,
    *,
    compare: OtherRuns = None,
    by: ByOption = None,
    out: Annotated[
        Path | None, typer.Option(help="Where to write; RUN/report.html otherwise.")
    ] = None,
    labels: LabelsOption = None,
    scores: LabelFlags,
) -> None:
    """Write one HTML file about a run that opens in any browser, without a network."""
    with refusing_bad_input():
        brought_up_to_date(run, *(compare or ()))
        given = _given(labels, scores)
        written = report_run(run, compare or (), out, by=by, given=given)
        typer.echo(str(written.path))
        typer.echo(plain(to_read_in_words(written.readings)), err=True)
