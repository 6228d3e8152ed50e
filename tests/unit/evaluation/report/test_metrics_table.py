"""The figures of a run in a terminal."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import replace

from rich.console import Console
from tests.unit.evaluation.metrics.built import metrics, random_run, unit
from tests.unit.evaluation.report.built_report import TIMED_OUT, provenance

from ai_psychiatrist.cli.metrics_table import print_metrics
from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.measuring import Measured
from ai_psychiatrist.evaluation.scores.prediction import UnitPrediction


def _printed(predictions: Sequence[UnitPrediction], known: Mapping[str, Labels]) -> str:
    console = Console(file=io.StringIO(), width=120, markup=False, highlight=False)
    found = metrics(predictions, known)
    measured = Measured(metrics=found, provenance=provenance(predictions), comparisons=())
    print_metrics(measured, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def _line(printed: str, name: str) -> list[str]:
    lines = [line for line in printed.splitlines() if line.strip().startswith(name)]
    return lines[0].removeprefix(f"  {name}").split()


def test_each_figure_has_value_interval_and_count() -> None:
    predictions, known = random_run(12, seed=1)
    mae = metrics(predictions, known).figure("items", "mae")
    low, high = (f"{end:.2f}" for end in mae.interval or ())
    cells = _line(_printed(predictions, known), "Mean error of the scored items")
    assert cells == [f"{mae.value:.2f}", low, "to", high, str(mae.n)]


def test_undefined_figures_are_printed_with_their_reason() -> None:
    printed = _printed([], {})
    assert "The run assessed no conversation." in printed
    assert "not defined: scoring finished for no unit" in printed


def test_names_from_files_do_not_act_on_the_terminal() -> None:
    failure = replace(TIMED_OUT, stage="\x1b[2Jstage", code=None)
    printed = _printed([unit("a", [1] * 8, failures=(failure,))], {})
    assert "\x1b" not in printed
    assert "stage" in printed
