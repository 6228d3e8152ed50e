"""The runs in a folder, one line each."""

from dataclasses import dataclass
from pathlib import Path

from ai_psychiatrist.domain.assessment import AssessmentStatus
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.runs.name import RunName, name_of
from ai_psychiatrist.evaluation.runs.provenance import AcceptedChange, accepted_changes
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.evaluation.runs.units_file import read_units
from ai_psychiatrist.evaluation.scores.prediction_lines import read_predictions


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRun:
    """What a run was made with, and how far it is; counts are of units."""

    name: RunName
    dataset: str
    """The dataset's digest, "" where the run has none."""
    asked: int
    complete: int
    with_failures: int
    """Complete ones that carry failures."""
    failed: int
    """Those that are partial as well."""
    changes: tuple[AcceptedChange, ...]
    """In their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunList:
    """The runs of a folder by name, and the names of those that cannot be read."""

    runs: tuple[ListedRun, ...]
    damaged: tuple[str, ...]


def runs_in(folder: Path) -> RunList:
    """List the runs that lie directly in a folder; raises `InputError` when there is none."""
    runs: list[ListedRun] = []
    damaged: list[str] = []
    inside = RunFolder(folder).inside()
    if not inside:
        raise InputError(f"{folder} holds no run", field="FOLDER")
    for run in inside:
        try:
            runs.append(_listed(run))
        except InputError:
            damaged.append(run.path.name)
    return RunList(runs=tuple(runs), damaged=tuple(damaged))


def _listed(run: RunFolder) -> ListedRun:
    record = run.require_run()
    dataset = record.get("dataset")
    predictions = read_predictions(run.predictions) if run.predictions.exists() else []
    complete = [unit for unit in predictions if unit.status is AssessmentStatus.COMPLETE]
    return ListedRun(
        name=name_of(run),
        dataset=str(dataset.get("digest", "")) if isinstance(dataset, dict) else "",
        asked=len(read_units(run.units)) or len(predictions),
        complete=len(complete),
        with_failures=sum(bool(unit.failures) for unit in complete),
        failed=len(predictions) - len(complete),
        changes=accepted_changes(record, predictions),
    )
