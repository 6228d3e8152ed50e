"""Metrics and report of a run, from the files in its folder alone, and runs side by side."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ai_psychiatrist.belief.fit import LEAST_PARTICIPANTS, Fit
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.evaluation.datasets.given_labels import GivenLabels, read_given_labels
from ai_psychiatrist.evaluation.datasets.options import LabelOptions
from ai_psychiatrist.evaluation.datasets.selection import Selection, units_of_split
from ai_psychiatrist.evaluation.metrics.run_metrics import RunMetrics
from ai_psychiatrist.evaluation.reading_list import ReadingList
from ai_psychiatrist.evaluation.report.provenance import Provenance
from ai_psychiatrist.evaluation.runs.cost_file import read_cost
from ai_psychiatrist.evaluation.runs.kept_labels import require_kept_labels
from ai_psychiatrist.evaluation.runs.provenance import made_otherwise
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.evaluation.runs.run_list import RunName, name_of, refuse_incomparable
from ai_psychiatrist.evaluation.runs.units_file import read_participants, read_units
from ai_psychiatrist.infrastructure.private_files import write_whole, writing_to
from ai_psychiatrist.validation.jsonl.line_ranges import LineRange, count_lines

if TYPE_CHECKING:
    from ai_psychiatrist.evaluation.metrics.comparison import RunComparison
    from ai_psychiatrist.evaluation.scores.label_columns import LabelColumns
    from ai_psychiatrist.evaluation.scores.prediction_columns import PredictionColumns

WHOLE = Selection()
"""All units of a run."""

_EXTRA = ("numpy", "jinja2")


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
        """Return the figures with both names beside them."""
        found = self.found.model_dump(mode="json")
        return {
            "first": asdict(self.first),
            "second": asdict(self.second),
            "made_otherwise": {name: list(sides) for name, sides in self.made_otherwise.items()},
            **found,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The figures of a run, what it was made with, and how those of others differ."""

    metrics: RunMetrics
    provenance: Provenance
    comparisons: Sequence[ComparedRuns]
    labels: GivenLabels | None = None
    """Those that were given; `None` for those that the run keeps."""

    def as_json(self) -> dict[str, object]:
        """Return all figures."""
        compared = [comparison.as_json() for comparison in self.comparisons]
        return {
            "metrics": self.metrics.model_dump(mode="json"),
            "comparisons": compared,
            "readings": asdict(self.provenance.readings),
            **({} if self.labels is None else {"labels": self.labels.as_json()}),
        }


def measure_run(
    run: Path,
    others: Sequence[Path] = (),
    selection: Selection = WHOLE,
    *,
    workers: int = 1,
    given: FileOfLabels | None = None,
) -> Measured:
    """Compute the metrics of a run and write them to its `metrics.json`.

    Of a selection of the units they are not written, nor with labels that are `given` in the place
    of those that the run keeps. Large files are read by as many processes as
    there are `workers`; each of these imports the main script anew. Raises `InputError` for a
    folder that is no run or whose files are damaged, and `ArtifactMismatch` for another run that
    read other texts or has other labels.
    """
    comparisons = compare_runs(run, others, selection, workers=workers, given=given)
    # Optional and large: only what measures needs it.
    from ai_psychiatrist.evaluation.metrics.compute import compute_metrics  # noqa: PLC0415

    folder = RunFolder(run)
    record = folder.require_run()
    labels, predictions, wanted, named = _read(folder, selection, workers=workers, given=given)
    metrics = compute_metrics(predictions, labels, participants=read_participants(folder.units))
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
        labels=named,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefFitted:
    """What runs teach about beliefs."""

    participants: int
    items: int
    least_participants: int
    """How many a fit needs."""
    raw: Mapping[str, float]
    """Figures of the belief as it was given, smaller the better."""
    fit: Fit | None

    def as_json(self) -> dict[str, object]:
        """Return all figures, and the fit."""
        fit = None if self.fit is None else self.fit.model_dump(mode="json")
        return {
            "participants": self.participants,
            "items": self.items,
            "belief_as_given": dict(self.raw),
            "fit": fit,
        }


def fit_beliefs_of_runs(
    runs: Sequence[Path], *, level: float, out: Path | None = None
) -> BeliefFitted:
    """Learn from runs over labelled participants how far their beliefs hold, and write the fit.

    Raises `InputError` for folders without runs, beliefs or labels, and for a file that cannot be
    written, and `ArtifactMismatch` for runs whose beliefs were made by different means.
    """
    _require_extra()
    from ai_psychiatrist.evaluation.belief_fit import fit_beliefs  # noqa: PLC0415  an extra

    found = fit_beliefs(runs, level=level)
    if out is not None and found.fit is not None:
        with writing_to(out, field="--out"):
            write_whole(out, [f"{found.fit.model_dump_json(indent=2)}\n".encode()])
    return BeliefFitted(
        participants=found.participants,
        items=found.items,
        least_participants=LEAST_PARTICIPANTS,
        raw=found.raw,
        fit=found.fit,
    )


def figures_of_run(folder: RunFolder) -> "RunMetrics":
    """Return the figures of a run without intervals; raises as `measure_run` does."""
    _require_extra()
    from ai_psychiatrist.evaluation.metrics.compute import compute_metrics  # noqa: PLC0415

    labels, predictions, *_ = _read(folder, WHOLE)
    return compute_metrics(
        predictions, labels, participants=read_participants(folder.units), resamples=1
    )


def _read(
    folder: RunFolder,
    selection: Selection,
    *,
    workers: int = 1,
    given: FileOfLabels | None = None,
) -> tuple["LabelColumns", "PredictionColumns", set[str] | None, GivenLabels | None]:
    """Read labels and predictions of the units that are wanted, and return which; `None` for all.

    A unit of them may have no label, and may not be assessed. Last come the labels that were given.
    """
    # What is read into columns needs numpy.
    from ai_psychiatrist.evaluation.scores.column_reader import read_columns  # noqa: PLC0415
    from ai_psychiatrist.evaluation.scores.label_columns import label_columns_of  # noqa: PLC0415
    from ai_psychiatrist.evaluation.scores.label_reader import read_label_columns  # noqa: PLC0415

    named = None if given is None else given.read(folder)
    if named is None:
        require_kept_labels(folder)
    labels = read_label_columns(folder.labels) if named is None else label_columns_of(named.labels)
    if selection == WHOLE:
        return labels, read_columns(folder.predictions, workers=workers), None, named
    wanted = units_of_split(list(read_units(folder.units).values()), selection.split)
    if selection.has_items:
        wanted &= {*labels.where(labels.has_all_items).unit_ids}
    return (
        labels.where(labels.is_among(wanted)),
        read_columns(folder.predictions, wanted, workers=workers),
        wanted,
        named,
    )


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
    workers: int = 1,
    given: FileOfLabels | None = None,
) -> list[ComparedRuns]:
    """Return how each of other runs differs from one; raises as `measure_run` does."""
    _require_extra()
    from ai_psychiatrist.evaluation.metrics.comparison import compare_metrics  # noqa: PLC0415
    from ai_psychiatrist.evaluation.scores.column_reader import read_columns  # noqa: PLC0415

    first = RunFolder(run)
    for other in others:
        require_kept_labels(RunFolder(other))
        refuse_incomparable(first, RunFolder(other), has_own_labels=given is None)
    if not others:
        return []
    labels, predictions, *_ = _read(first, selection, workers=workers, given=given)
    record = first.require_run()
    wanted = None if selection == WHOLE else {*predictions.unit_ids, *labels.unit_ids}
    return [
        ComparedRuns(
            first=name_of(first),
            second=name_of(RunFolder(other)),
            made_otherwise=made_otherwise(record, RunFolder(other).require_run()),
            found=compare_metrics(
                predictions,
                read_columns(RunFolder(other).predictions, wanted, workers=workers),
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
    workers: int = 1,
    given: FileOfLabels | None = None,
) -> Reported:
    """Measure a run and write its report; `workers` and `given` as in `measure_run`."""
    measured = measure_run(run, others, workers=workers, given=given)
    from ai_psychiatrist.evaluation.report.differences import differences_of  # noqa: PLC0415
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
    )
    return Reported(path=target, readings=measured.provenance.readings)


def metrics_in_words() -> Iterator[str]:
    """Return lines that say what every metric is. Raises `ConfigurationError` without the extra."""
    _require_extra()
    from ai_psychiatrist.evaluation.metrics.metric_list import metric_list  # noqa: PLC0415

    return metric_list()


def _require_extra() -> None:
    missing = [name for name in _EXTRA if find_spec(name) is None]
    if missing:
        msg = f"this needs {', '.join(missing)}: pip install 'ai-psychiatrist[evaluation]'"
        raise ConfigurationError(msg)
