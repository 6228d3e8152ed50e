"""The replication of the zero-shot experiment: its split, and the figures that may be shared."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from ai_psychiatrist.evaluation.measuring import measure_run
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.infrastructure.private_files import make_folder, write_whole, writing_to

PARTS: Final[Mapping[str, int]] = MappingProxyType({"train": 58, "validation": 43, "test": 41})
"""Of the 142 participants of DAIC-WOZ who have labels of all eight items."""

ASSESSED_PART: Final = "test"
_SPLITS: Final = "splits.json"


def write_aggregates(out: Path, *, run: Path, splits: Path) -> None:
    """Measure a run and copy what holds figures alone: no unit, no participant, no word.

    Raises `InputError` when the folder cannot be written.
    """
    measure_run(run)
    folder = RunFolder(run)
    files = {
        "metrics.json": folder.metrics,
        # Under a name of its own: a folder with `run.json` is a run.
        "provenance.json": folder.run,
        _SPLITS: splits / _SPLITS,
    }
    with writing_to(out, field="--out"):
        make_folder(out)
        for name, path in files.items():
            write_whole(out / name, [path.read_bytes()])
