"""Metrics and report of a run, from the files in its folder alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import orjson

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.evaluation.labels_file import read_labels, read_participants
from ai_psychiatrist.evaluation.prediction import UnitPrediction, read_predictions
from ai_psychiatrist.evaluation.run.folder import RunFolder
from ai_psychiatrist.infrastructure.private_files import write_whole

_EXTRA = ("numpy", "jinja2")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The figures of a run, and how those of another one differ."""

    metrics: Mapping[str, object]
    """As in `metrics.json`."""
    comparison: Mapping[str, object] | None
    """The other run minus this one."""
    predictions: list[UnitPrediction]

    def as_json(self) -> str:
        """Return all figures as strict JSON."""
        document = {"metrics": self.metrics, "comparison": self.comparison}
        return orjson.dumps(
            document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
        ).decode()


def measure_run(run: Path, other: Path | None = None) -> Measured:
    """Compute the metrics of a run and write them to its `metrics.json`.

    Raises `InputError` for a folder that is no run or whose files are damaged.
    """
    _require_extra()
    # Optional and large: only what measures needs it.
    from ai_psychiatrist.evaluation.metrics.comparison import compare_metrics  # noqa: PLC0415
    from ai_psychiatrist.evaluation.metrics.report import compute_metrics  # noqa: PLC0415

    folder = RunFolder(run)
    folder.require_run()
    labels, participants = read_labels(folder.labels), read_participants(folder.labels)
    predictions = read_predictions(folder.predictions)
    content = compute_metrics(predictions, labels, participants=participants).to_bytes()
    write_whole(folder.metrics, [content])
    comparison = None
    if other is not None:
        RunFolder(other).require_run()
        others = read_predictions(RunFolder(other).predictions)
        comparison = compare_metrics(predictions, others, labels, participants=participants)
    return Measured(metrics=orjson.loads(content), comparison=comparison, predictions=predictions)


def report_run(run: Path, other: Path | None = None, out: Path | None = None) -> Path:
    """Measure a run, write its report, and return where it is."""
    measured = measure_run(run, other)
    from ai_psychiatrist.evaluation.report.write import write_report  # noqa: PLC0415

    folder = RunFolder(run)
    target = out or folder.report
    write_report(
        folder.path,
        metrics=measured.metrics,
        predictions=measured.predictions,
        provenance=folder.require_run(),
        out=target,
        comparison=measured.comparison,
    )
    return target


def _require_extra() -> None:
    missing = [name for name in _EXTRA if find_spec(name) is None]
    if missing:
        msg = f"this needs {', '.join(missing)}: pip install 'ai-psychiatrist[evaluation]'"
        raise ConfigurationError(msg)
