"""The runs in a folder, one line each."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from ai_psychiatrist.domain.assessment import AssessmentStatus
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.runs.folder import RunFolder
from ai_psychiatrist.evaluation.runs.name import RunName, name_of
from ai_psychiatrist.evaluation.runs.provenance import changes_of
from ai_psychiatrist.evaluation.runs.units_file import read_units
from ai_psychiatrist.evaluation.scores.prediction import read_predictions


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
    changes: int
    """Accepted changes of version, prompts or rules."""

    def as_json(self) -> dict[str, object]:
        """Return all of it by name."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunList:
    """The runs of a folder by name, and the names of those that cannot be read."""

    runs: tuple[ListedRun, ...]
    damaged: tuple[str, ...]


def runs_in(folder: Path) -> RunList:
    """List the runs that lie directly in a folder; raises `InputError` when there is none."""
    runs: list[ListedRun] = []
    damaged: list[str] = []
    for path in _folders(folder):
        try:
            runs.append(_listed(RunFolder(path)))
        except InputError:
            damaged.append(path.name)
    if not runs and not damaged:
        raise InputError(f"{folder} holds no run", field="FOLDER")
    return RunList(runs=tuple(runs), damaged=tuple(damaged))


def _folders(folder: Path) -> Iterator[Path]:
    try:
        inside = sorted(folder.iterdir())
    except OSError as error:
        raise InputError(f"{folder} cannot be read: {error.strerror}", field="FOLDER") from None
    return (path for path in inside if RunFolder(path).run.is_file())


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
        changes=len(changes_of(record)),
    )
