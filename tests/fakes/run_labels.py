"""Labels of a run as it would have kept them, had its dataset had others."""

from collections.abc import Mapping
from pathlib import Path

from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder, json_bytes
from ai_psychiatrist.evaluation.runs.units_file import keep_labels


def relabel(run: Path, labels: Mapping[str, Labels]) -> None:
    """Write labels into the folder of a run, and their digest into its record."""
    folder = RunFolder(run)
    record = keep_labels(folder, folder.require_run(), labels, "")
    folder.run.write_bytes(json_bytes(record))
