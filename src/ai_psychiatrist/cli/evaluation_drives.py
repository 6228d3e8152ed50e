"""The command that tells of a run how many of its scores the evidence drives."""

from collections.abc import Iterator

from rich.table import Table

from ai_psychiatrist.cli.console import console_of
from ai_psychiatrist.cli.evaluation_options import JsonOption, RunFolderArgument, print_json
from ai_psychiatrist.cli.exits import refusing_bad_input
from ai_psychiatrist.cli.run_source import brought_up_to_date
from ai_psychiatrist.domain.drive import DriveVerdict
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.measuring import measure_run
from ai_psychiatrist.evaluation.metrics.registry import Scale
from ai_psychiatrist.evaluation.metrics.run_metrics import Counts, DriveFigures, Figures
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
        found = measure_run(run).metrics.drive
        if not found.counts.total:
            msg = (
                f"{run} has no verdicts; make a run that has them: "
                "ai-psychiatrist evaluate run DATASET --out NEW --ablate"
            )
            raise InputError(msg, field="RUN")
        if as_json:
            print_json(found.model_dump(mode="json"))
        else:
            _print(found)


def _print(found: DriveFigures) -> None:
    table = Table("Item", box=None, pad_edge=False, header_style="dim")
    for verdict in DriveVerdict:
        table.add_column(verdict.value.replace("_", " "), justify="right")
    table.add_column("not driven, of those with a verdict", justify="right")
    for one in found.by_item.values():
        table.add_row(one.label, *_cells(one, one.counts))
    table.add_row()
    table.add_row("All", *_cells(found, found.counts))
    console_of(_PIPE_WIDTH).print(table)


def _cells(figures: Figures, counts: Counts) -> Iterator[str]:
    yield from (str(counts[verdict.value]) for verdict in DriveVerdict)
    figure = figures["not_evidence_driven"]
    if figure.value is None:
        yield "–"
        return
    interval = span(figure, Scale.SHARE)
    value = amount(figure.value, Scale.SHARE)
    yield value if interval is None else f"{value} (95 % interval {interval})"
