"""Metrics and report of a run, from the files in its folder alone, and runs side by side."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic_core import to_jsonable_python

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.datasets.given_labels import GivenLabels, read_given_labels
from ai_psychiatrist.evaluation.datasets.options import LabelOptions
from ai_psychiatrist.evaluation.datasets.selection import Selection, units_of_split
from ai_psychiatrist.evaluation.metrics.run_metrics import RunMetrics
from ai_psychiatrist.evaluation.reading_list import ReadingList
from ai_psychiatrist.evaluation.report.provenance import Provenance
from ai_psychiatrist.evaluation.runs.cost_file import read_cost
from ai_psychiatrist.evaluation.runs.kept_labels import read_kept_labels, require_kept_labels
from ai_psychiatrist.evaluation.runs.provenance import made_otherwise
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.evaluation.runs.run_list import RunName, name_of, refuse_incomparable
from ai_psychiatrist.evaluation.runs.units_file import (
    participants_of,
    read_participants,
    read_units,
)
from ai_psychiatrist.infrastructure.private_files import write_whole, writing_to
from ai_psychiatrist.validation.jsonl.line_ranges import LineRange, count_lines

if TYPE_CHECKING:
    from ai_psychiatrist.evaluation.metrics.comparison import RunComparison
    from ai_psychiatrist.evaluation.metrics.subgroups import Subgroups
    from ai_psychiatrist.evaluation.scores.predicted_units import PredictedUnits

WHOLE = Selection()
"""All units of a run."""

_EXTRA = ("numpy", "scipy", "jinja2")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOfLabels:
    """A file of labels in the place of those that a run keeps."""

    path: Path
    options: LabelOptions = field(default_factory=LabelOptions)

    def read(self, folder: RunFolder) -> GivenLabels:
        """Read the labels of a run's units; raises `InputError` as `read_given_labels` does."""
        return read_given_labels(self.path, read_units(folder.units), self.options)


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

    def as_json(self) -> dict[str, object]:
        """Return all figures."""
        compared = [comparison.as_json() for comparison in self.comparisons]
        by_group = {} if self.subgroups is None else {"subgroups": self.subgroups.as_json()}
        return {
            "metrics": self.metrics.as_json(),
            "comparisons": compared,
            "readings": to_jsonable_python(self.provenance.readings),
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
) -> Measured:
    """Compute the metrics of a run and write them to its `metrics.json`.

    Of a selection of the units they are not written, nor with labels that are `given` in the place
    of those that the run keeps. `by` is a column of the labels, or `split`,
    by which the figures of groups are computed as well; the file does not have these. Raises
    `InputError` for a folder that is no run, for damaged files and for a column that is not there,
    and `ArtifactMismatch` for another run that read other texts or has other labels.
    """
    comparisons = compare_runs(run, others, selection, given=given)
    # Optional and large: only what measures needs it.
    from ai_psychiatrist.evaluation.metrics.compute import compute_metrics  # noqa: PLC0415
    from ai_psychiatrist.evaluation.metrics.subgroups import subgroups  # noqa: PLC0415

    folder = RunFolder(run)
    record = folder.require_run()
    labels, predictions, wanted, named = _read(folder, selection, given)
    units = read_units(folder.units)
    participants = participants_of(units)
    groups = None
    if by is not None:
        # Before the other figures, so that a column that is not there is named at once.
        splits = {one.unit_id: one.split for one in units.values() if one.split is not None}
        groups = subgroups(predictions, labels, by, splits=splits, participants=participants)
    metrics = compute_metrics(predictions, labels, participants=participants)
    if selection == WHOLE and given is None:
        with writing_to(folder.metrics, field="RUN"):
            write_whole(folder.metrics, [metrics.to_bytes()])
    return Measured(
        metrics=metrics,
        provenance=Provenance(
            run_name=folder.path.resolve().name,
            record=record if named is None else record | {"labels": named.as_json()},
            predictions=predictions,
            requested=_listed(folder) if wanted is None else len(wanted),
        ),
        comparisons=comparisons,
        subgroups=groups,
        labels=named,
    )


def figures_of_run(folder: RunFolder) -> "RunMetrics":
    """Return the figures of a run without intervals; raises as `measure_run` does."""
    require_extra()
    from ai_psychiatrist.evaluation.metrics.compute import compute_metrics  # noqa: PLC0415

    labels, predictions, *_ = _read(folder, WHOLE)
    return compute_metrics(
        predictions, labels, participants=read_participants(folder.units), resamples=1
    )


def _read(
    folder: RunFolder, selection: Selection, given: FileOfLabels | None = None
) -> tuple[Mapping[str, Labels], "PredictedUnits", set[str] | None, GivenLabels | None]:
    """Read labels and predictions of the units that are wanted, and return which; `None` for all.

    A unit of them may have no label, and may not be assessed. Last come the labels that were given.
    """
    # Rows of numbers need an extra.
    from ai_psychiatrist.evaluation.scores.predicted_units import (  # noqa: PLC0415
        read_predicted_units,
    )

    named = None if given is None else given.read(folder)
    labels = read_kept_labels(folder) if named is None else named.labels
    if selection == WHOLE:
        return labels, read_predicted_units(folder.predictions), None, named
    wanted = units_of_split(list(read_units(folder.units).values()), selection.split)
    if selection.has_items:
        wanted &= {unit for unit, one in labels.items() if one.has_all_items}
    of_wanted = {unit: one for unit, one in labels.items() if unit in wanted}
    return of_wanted, read_predicted_units(folder.predictions, wanted), wanted, named


def _listed(folder: RunFolder) -> int:
    """Return how many units a run is asked for; 0 for one that does not list its own."""
    if not folder.units.exists():
        return 0
    return count_lines(folder.units, LineRange(start=0, size=folder.units.stat().st_size))


def compare_runs(
    run: Path,
    others: Sequence[Path],
    selection: Selection = WHOLE,
    *,
    given: FileOfLabels | None = None,
) -> list[ComparedRuns]:
    """Return how each of other runs differs from one; raises as `measure_run` does."""
    require_extra()
    from ai_psychiatrist.evaluation.metrics.comparison import compare_metrics  # noqa: PLC0415
    from ai_psychiatrist.evaluation.scores.predicted_units import (  # noqa: PLC0415
        read_predicted_units,
    )

    first = RunFolder(run)
    for other in others:
        require_kept_labels(RunFolder(other))
        refuse_incomparable(first, RunFolder(other), has_own_labels=given is None)
    if not others:
        return []
    labels, predictions, *_ = _read(first, selection, given)
    record = first.require_run()
    wanted = None if selection == WHOLE else {*predictions.unit_ids, *labels}
    return [
        ComparedRuns(
            first=name_of(first),
            second=name_of(RunFolder(other)),
            made_otherwise=made_otherwise(record, RunFolder(other).require_run()),
            found=compare_metrics(
                predictions,
                read_predicted_units(RunFolder(other).predictions, wanted),
                labels,
                participants=read_participants(first.units),
            ),
        )
        for other in others
    ]


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
) -> Reported:
    """Measure a run and write its report; raises as `measure_run` does."""
    measured = measure_run(run, others, by=by, given=given)
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
            differences_of(one.found, first=str(one.first), second=str(one.second))
            for one in measured.comparisons
        ],
        spent=read_cost(RunFolder(run)),
        by_group=None if measured.subgroups is None else group_tables(measured.subgroups),
    )
    return Reported(path=target, readings=measured.provenance.readings)


def metrics_in_words() -> Iterator[str]:
    """Return lines that say what every metric is. Raises `ConfigurationError` without the extra."""
    require_extra()
    from ai_psychiatrist.evaluation.metrics.metric_list import metric_list  # noqa: PLC0415

    return metric_list()


def require_extra() -> None:
    """Raise `ConfigurationError` where a package of the extra `evaluation` is not installed."""
    missing = [name for name in _EXTRA if find_spec(name) is None]
    if missing:
        msg = f"this needs {', '.join(missing)}: pip install 'ai-psychiatrist[evaluation]'"
        raise ConfigurationError(msg)
