"""The commands on what `evaluate run` leaves: figures, comparisons, tables, reports."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ai_psychiatrist.cli.dataset_options import LabelledOption, SplitOption
from ai_psychiatrist.cli.exits import refusing_bad_input

results_app = typer.Typer()

METRICS_EXAMPLES = """
Examples:

  ai-psychiatrist evaluate metrics runs/first

  ai-psychiatrist evaluate metrics runs/first --compare runs/gemma --compare runs/qwen

  ai-psychiatrist evaluate metrics --list
"""
COMPARE_EXAMPLES = """
Examples:

  ai-psychiatrist evaluate compare runs/first runs/gemma runs/qwen

  ai-psychiatrist evaluate compare runs/first runs/gemma --json > differences.json

  ai-psychiatrist evaluate compare wordings

Runs that read other texts or have other labels are refused, and it is said in what they differ.
"""
TABLE_EXAMPLES = """
Examples:

  ai-psychiatrist evaluate table runs/first --out first.csv

  ai-psychiatrist evaluate table wordings --out wordings.xlsx
"""

RunFolderArgument = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of the run.")]
OtherRuns = Annotated[
    list[Path] | None,
    typer.Option(
        "--compare", metavar="RUN2", help="Show the differences of another run; can be repeated."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print all figures as JSON.")]


def _list_metrics(is_wanted: bool) -> None:  # noqa: FBT001  as a callback is called
    if is_wanted:
        with refusing_bad_input():
            from ai_psychiatrist.evaluation.measuring import metrics_in_words  # noqa: PLC0415

            typer.echo("\n".join(metrics_in_words()))
        raise typer.Exit


@results_app.command(epilog=METRICS_EXAMPLES)
def metrics(
    run: RunFolderArgument,
    *,
    compare: OtherRuns = None,
    split: SplitOption = None,
    labelled: LabelledOption = False,
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


@results_app.command("compare", epilog=COMPARE_EXAMPLES)
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
        from ai_psychiatrist.evaluation.runs.folder import RunFolder  # noqa: PLC0415

        folders = [run, *(others or ())]
        if not others or any(RunFolder(one).inside() for one in folders):
            _compare_repeats(folders, as_json=as_json)
            return
        from ai_psychiatrist.cli.metrics_table import print_differences  # noqa: PLC0415
        from ai_psychiatrist.evaluation.measuring import compare_runs  # noqa: PLC0415

        comparisons = compare_runs(run, others)
        if as_json:
            _print_json({"comparisons": [compared.as_json() for compared in comparisons]})
        else:
            print_differences(comparisons)


def _compare_repeats(folders: list[Path], *, as_json: bool) -> None:
    from ai_psychiatrist.cli.repeats_table import print_repeats  # noqa: PLC0415
    from ai_psychiatrist.evaluation.repeats import repeated_runs  # noqa: PLC0415

    groups = repeated_runs(folders)
    if as_json:
        _print_json({"groups": [group.as_json() for group in groups]})
    else:
        print_repeats(groups)


@results_app.command(epilog="Example:\n\n  ai-psychiatrist evaluate runs runs/")
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
            _print_json(asdict(found))
        else:
            print_runs(found)


@results_app.command(epilog=TABLE_EXAMPLES)
def table(
    run: RunFolderArgument,
    *,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="A .csv or .xlsx file.")],
) -> None:
    """Write the results of a run, or of all in a folder, as a table: a row a unit, no words."""
    with refusing_bad_input():
        from ai_psychiatrist.evaluation.scores.unit_table import write_table  # noqa: PLC0415

        write_table(run, out)
        typer.echo(str(out))


@results_app.command(
    epilog="Example:\n\n  ai-psychiatrist evaluate unit runs/first 303 --out unit.json"
)
def unit(
    run: RunFolderArgument,
    unit_id: Annotated[str, typer.Argument(metavar="UNIT", help="As the report names it.")],
    *,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="A file for your eyes alone.")],
) -> None:
    """Write a unit's text, prompts, replies and quotes into a file; it holds what people said."""
    with refusing_bad_input():
        from ai_psychiatrist.cli.run_source import open_run  # noqa: PLC0415
        from ai_psychiatrist.evaluation.runs.unit_words import write_unit  # noqa: PLC0415

        with open_run(run) as ledger:
            write_unit(ledger, unit_id, out)
    typer.echo(f"written to {out}; it holds what people said", err=True)


def _print_json(document: dict[str, object]) -> None:
    import orjson  # noqa: PLC0415

    typer.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())


@results_app.command(epilog="Example:\n\n  ai-psychiatrist evaluate report runs/first")
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
