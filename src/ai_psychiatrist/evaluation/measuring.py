"""Metrics and report of a run, from the files in its folder alone, and runs side by side."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic_core import to_jsonable_python

from ai_psychiatrist.domain.errors import ConfigurationError, InputError
from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.datasets.given_labels import GivenLabels, read_given_labels
from ai_psychiatrist.evaluation.datasets.options import LabelOptions
from ai_psychiatrist.evaluation.datasets.selection import Selection, units_of_split
from ai_psychiatrist.evaluation.metrics.run_metrics import MOST_UNITS, RunMetrics
from ai_psychiatrist.evaluation.reading_list import ReadingList
from ai_psychiatrist.evaluation.report.provenance import Provenance
from ai_psychiatrist.evaluation.runs.cost_file import read_cost
from ai_psychiatrist.evaluation.runs.provenance import made_otherwise
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.evaluation.runs.run_list import (
    RunName,
    name_of,
    refuse_incomparable,
    resume_sentence,
)
from ai_psychiatrist.evaluation.runs.units_file import (
    RunUnit,
    participants_of,
    read_kept_labels,
    read_units,
    require_kept_labels,
)
from ai_psychiatrist.infrastructure.private_files import write_whole, writing_to

if TYPE_CHECKING:
    from ai_psychiatrist.evaluation.metrics.compute import RunComparison
    from ai_psychiatrist.evaluation.metrics.subgroups import Subgroups
    from ai_psychiatrist.evaluation.metrics.unit_errors import LargestErrors
    from ai_psychiatrist.evaluation.scores.predicted_units import PredictedUnits
from types import MappingProxyType
from typing import Final

from ai_psychiatrist.infrastructure.private_files import make_folder

WHOLE = Selection()
"""All units of a run."""

_EXTRA = ("numpy", "scipy")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOfLabels:
    """A file of labels in the place of those that a run keeps."""

    path: Path
    options: LabelOptions = field(default_factory=LabelOptions)


@dataclass(frozen=True, slots=True, kw_only=True)
class _RunFiles:
    """What the files of a run hold, each read once."""

    folder: RunFolder
    units: Mapping[str, RunUnit]
    participants: Mapping[str, str]
    """Whose each unit is, where the dataset says it."""
    labels: Mapping[str, Labels]
    """Of the units that are wanted."""
    predictions: "PredictedUnits"
    """Of the same: one of them may have no label, and may not be assessed."""
    wanted: set[str] | None
    """`None` for all."""
    given: GivenLabels | None
    """Those that were given in the place of the run's own."""

    @property
    def requested(self) -> int:
        """How many units were asked for; 0 for all of a run that does not list its own."""
        return len(self.units) if self.wanted is None else len(self.wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRuns:
    """How the figures of one run differ from those of another."""

    first: RunName
    second: RunName
    found: "RunComparison"
    made_otherwise: Mapping[str, tuple[str, str]]
    """What they were made with that is not the same: name → both values."""

    def as_json(self) -> dict[str, object]:
        """Return the figures with both names."""
        return {
            "first": asdict(self.first),
            "second": asdict(self.second),
            "made_otherwise": {name: list(sides) for name, sides in self.made_otherwise.items()},
            **self.found.as_json(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The figures of a run, what it was made with, and how those of others differ."""

    metrics: RunMetrics
    provenance: Provenance
    comparisons: Sequence[ComparedRuns]
    subgroups: "Subgroups | None" = None
    """The figures of groups of people, where a column of the labels is named."""
    labels: GivenLabels | None = None
    """Those that were given; `None` for those that the run keeps."""

    worst: "LargestErrors | None" = None
    """The units that are furthest from their labels; `None` without labels."""
    unfinished: str = ""
    """How many units have no prediction yet, and which command goes on; empty when all have."""

    def as_json(self) -> dict[str, object]:
        """Return all figures."""
        compared = [comparison.as_json() for comparison in self.comparisons]
        by_group = {} if self.subgroups is None else {"subgroups": self.subgroups.as_json()}
        return {
            "metrics": self.metrics.as_json(),
            "comparisons": compared,
            "readings": to_jsonable_python(self.provenance.readings),
            **({} if self.worst is None else {"worst_units": to_jsonable_python(self.worst)}),
            **by_group,
            **({} if self.labels is None else {"labels": self.labels.as_json()}),
        }


def measure_run(
    run: Path,
    others: Sequence[Path] = (),
    selection: Selection = WHOLE,
    *,
    by: str | None = None,
    given: FileOfLabels | None = None,
    most_units: int = MOST_UNITS,
) -> Measured:
    """Compute the metrics of a run and write them to its `metrics.json`.

    Of a selection of the units they are not written, nor with labels that are `given` in the place
    of those that the run keeps. `by` is a column of the labels, or `split`,
    by which the figures of groups are computed as well. The file does not have these, nor the
    units with the largest errors, of which at most `most_units` are listed. Raises `InputError` for
    a folder that is no run, for damaged files and for a column that is not there, and
    `ArtifactMismatch` for another run that read other texts or has other labels.
    """
    require_extra()
    # Optional and large: only what measures needs it.
    from ai_psychiatrist.evaluation.metrics.compute import compute_metrics  # noqa: PLC0415
    from ai_psychiatrist.evaluation.metrics.kinds import beside_labels  # noqa: PLC0415
    from ai_psychiatrist.evaluation.metrics.subgroups import subgroups  # noqa: PLC0415
    from ai_psychiatrist.evaluation.metrics.unit_errors import largest_errors  # noqa: PLC0415

    folder = RunFolder(run)
    _refuse_incomparable(folder, others, given)
    record = folder.require_run()
    files = _read(folder, selection, given)
    comparisons = [_compared(files, RunFolder(other), most_units) for other in others]
    labels, predictions, participants = files.labels, files.predictions, files.participants
    groups = None
    if by is not None:
        # Before the other figures, so that a column that is not there is named at once.
        splits = {
            unit_id: one.split
            for unit_id, one in files.units.items()
            if one.split is not None and (files.wanted is None or unit_id in files.wanted)
        }
        groups = subgroups(predictions, labels, by, splits=splits, participants=participants)
    metrics = compute_metrics(predictions, labels, participants=participants)
    if selection == WHOLE and given is None:
        with writing_to(folder.metrics, field="RUN"):
            write_whole(folder.metrics, [metrics.to_bytes()])
    return Measured(
        metrics=metrics,
        provenance=Provenance(
            run_name=folder.path.resolve().name,
            record=record if files.given is None else record | {"labels": files.given.as_json()},
            predictions=predictions,
            requested=files.requested,
        ),
        comparisons=comparisons,
        subgroups=groups,
        labels=files.given,
        worst=largest_errors(beside_labels(predictions, labels), most_units) if labels else None,
        unfinished=_unfinished(files),
    )


def _unfinished(files: _RunFiles) -> str:
    pending = files.requested - len(files.predictions)
    if pending <= 0:
        return ""
    return (
        f"{pending} of {files.requested} units are not assessed yet, and count as failed where "
        f"they have labels; {resume_sentence(files.folder)}"
    )


def figures_of_run(folder: RunFolder) -> "RunMetrics":
    """Return the figures of a run without intervals; raises as `measure_run` does."""
    require_extra()
    from ai_psychiatrist.evaluation.metrics.compute import compute_metrics  # noqa: PLC0415

    files = _read(folder, WHOLE)
    return compute_metrics(
        files.predictions, files.labels, participants=files.participants, resamples=1
    )


def compare_runs(
    run: Path, others: Sequence[Path], most_units: int = MOST_UNITS
) -> list[ComparedRuns]:
    """Return how each of other runs differs from one; raises as `measure_run` does."""
    require_extra()
    folder = RunFolder(run)
    _refuse_incomparable(folder, others, None)
    files = _read(folder, WHOLE)
    return [_compared(files, RunFolder(other), most_units) for other in others]


def _read(folder: RunFolder, selection: Selection, given: FileOfLabels | None = None) -> _RunFiles:
    # Rows of numbers need an extra.
    from ai_psychiatrist.evaluation.scores.predicted_units import (  # noqa: PLC0415
        read_predicted_units,
    )

    units = read_units(folder.units)
    named = None if given is None else read_given_labels(given.path, units, given.options)
    labels = read_kept_labels(folder) if named is None else named.labels
    wanted = None
    if selection != WHOLE:
        wanted = units_of_split(list(units.values()), selection.split)
        if selection.has_items:
            wanted &= {unit for unit, one in labels.items() if one.has_all_items}
        labels = {unit: one for unit, one in labels.items() if unit in wanted}
    return _RunFiles(
        folder=folder,
        units=units,
        participants=participants_of(units),
        labels=labels,
        predictions=read_predicted_units(folder.predictions, wanted),
        wanted=wanted,
        given=named,
    )


def _refuse_incomparable(
    first: RunFolder, others: Sequence[Path], given: FileOfLabels | None
) -> None:
    _require_predictions(first)
    for other in map(RunFolder, others):
        _require_predictions(other)
        require_kept_labels(other)
        refuse_incomparable(first, other, has_own_labels=given is None)


def _require_predictions(folder: RunFolder) -> None:
    """Raise `InputError` for a run that was killed before it wrote any."""
    how_to_go_on = resume_sentence(folder)
    if not folder.predictions.exists():
        msg = f"{folder.path}: the run was stopped before its end; {how_to_go_on}"
        raise InputError(msg, field="RUN")


def _compared(first: _RunFiles, other: RunFolder, most_units: int) -> ComparedRuns:
    from ai_psychiatrist.evaluation.metrics.compute import compare_metrics  # noqa: PLC0415
    from ai_psychiatrist.evaluation.scores.predicted_units import (  # noqa: PLC0415
        read_predicted_units,
    )

    wanted = None if first.wanted is None else {*first.predictions.unit_ids, *first.labels}
    return ComparedRuns(
        first=name_of(first.folder),
        second=name_of(other),
        made_otherwise=made_otherwise(first.folder.require_run(), other.require_run()),
        found=compare_metrics(
            first.predictions,
            read_predicted_units(other.predictions, wanted),
            first.labels,
            participants=first.participants,
            most_units=most_units,
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """A report that was written."""

    path: Path
    readings: ReadingList
    """Which interviews a person has to read for danger."""


def report_run(
    run: Path,
    others: Sequence[Path] = (),
    out: Path | None = None,
    *,
    by: str | None = None,
    given: FileOfLabels | None = None,
    most_units: int = MOST_UNITS,
    names_units: bool = True,
) -> Reported:
    """Measure a run and write its report; raises as `measure_run` does.

    `names_units`: whether units are listed by their ids.
    """
    measured = measure_run(run, others, by=by, given=given, most_units=most_units)
    from ai_psychiatrist.evaluation.report.figure_rows import (  # noqa: PLC0415
        differences_of,
        group_tables,
    )
    from ai_psychiatrist.evaluation.report.write import write_report  # noqa: PLC0415

    target = out or RunFolder(run).report
    write_report(
        target,
        metrics=measured.metrics,
        provenance=measured.provenance,
        differences=[
            (
                differences_of(one.found, first=str(one.first), second=str(one.second)),
                one.found.unit_changes,
            )
            for one in measured.comparisons
        ],
        spent=read_cost(RunFolder(run)),
        worst=measured.worst,
        names_units=names_units,
        by_group=None if measured.subgroups is None else group_tables(measured.subgroups),
    )
    return Reported(path=target, readings=measured.provenance.readings)


def metrics_in_words() -> Iterator[str]:
    """Return lines that say what every metric is. Raises `ConfigurationError` without the extra."""
    require_extra()
    from ai_psychiatrist.evaluation.metrics.metric import metric_list  # noqa: PLC0415

    return metric_list()


def require_extra() -> None:
    """Raise `ConfigurationError` where a package of the extra `evaluation` is not installed."""
    missing = [name for name in _EXTRA if find_spec(name) is None]
    if missing:
        msg = f"this needs {', '.join(missing)}: pip install 'ai-psychiatrist[evaluation]'"
        raise ConfigurationError(msg)


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
