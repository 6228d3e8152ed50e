"""The command that tells of a run how many of its scores the evidence drives."""

from collections.abc import Iterator

from pydantic_core import to_jsonable_python
from rich.table import Table

from ai_psychiatrist.cli.console import console_of, refusing_bad_input
from ai_psychiatrist.cli.evaluation_options import JsonOption, RunFolderArgument, print_json
from ai_psychiatrist.cli.run_source import brought_up_to_date
from ai_psychiatrist.domain.drive import DriveVerdict
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.measuring import measure_run
from ai_psychiatrist.evaluation.metrics.run_metrics import Part
from ai_psychiatrist.evaluation.metrics.scale import Scale
from ai_psychiatrist.evaluation.report.wording import amount, span

EXAMPLES = """
Examples:

  ai-psychiatrist evaluate run interviews/ --out runs/driven --ablate

  ai-psychiatrist evaluate ablate runs/driven

  ai-psychiatrist evaluate ablate runs/driven --json > drives.json
"""
_PIPE_WIDTH = 120


def ablate(run: RunFolderArgument, *, as_json: JsonOption = False) -> None:
    """Show how many scores of a run the evidence drives; the run was made with --ablate."""
    with refusing_bad_input():
        brought_up_to_date(run)
        found = measure_run(run).metrics.part("drive")
        if not found.part("counts").total:
            msg = (
                f"{run} has no verdicts; make a run that has them: "
                "ai-psychiatrist evaluate run DATASET --out NEW --ablate"
            )
            raise InputError(msg, field="RUN")
        if as_json:
            print_json(to_jsonable_python(found.tree))
        else:
            _print(found)


def _print(found: Part) -> None:
    table = Table("Item", box=None, pad_edge=False, header_style="dim")
    for verdict in DriveVerdict:
        table.add_column(verdict.value.replace("_", " "), justify="right")
    table.add_column("not driven, of those with a verdict", justify="right")
    for one in found.parts("by_item"):
        table.add_row(one.text("label"), *_cells(one))
    table.add_row()
    table.add_row("All", *_cells(found))
    console_of(_PIPE_WIDTH).print(table)


def _cells(figures: Part) -> Iterator[str]:
    yield from (str(figures.count("counts", verdict.value)) for verdict in DriveVerdict)
    figure = figures.figure("not_evidence_driven")
    if figure.value is None:
        yield "–"
        return
    interval = span(figure, Scale.SHARE)
    value = amount(figure.value, Scale.SHARE)
    yield value if interval is None else f"{value} (95 % interval {interval})"
