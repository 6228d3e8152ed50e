"""A small run, and its report as text."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.unit.evaluation.metrics.built import metrics

from ai_psychiatrist.domain.failures import (
    AttemptOutcome,
    CallPath,
    FailureCategory,
    FailureCode,
    RejectionCode,
)
from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.metrics.kinds import beside_labels
from ai_psychiatrist.evaluation.metrics.unit_errors import UnitChanges, largest_errors
from ai_psychiatrist.evaluation.report.figure_rows import DifferenceRow, RowGroup
from ai_psychiatrist.evaluation.report.provenance import Provenance
from ai_psychiatrist.evaluation.report.write import write_report
from ai_psychiatrist.evaluation.scores.predicted_units import predicted_units
from ai_psychiatrist.evaluation.scores.prediction import (
    AttemptSummary,
    FailureSummary,
    UnitPrediction,
)

RECORD: Mapping[str, object] = {
    "dataset": {"name": "interviews", "kind": "jsonl", "digest": "ab" * 32},
    "mode": "zero_shot",
    "models": {"scoring": ["first:model", "second:model"]},
    "prompts": {"scoring": "0123456789ab"},
    "settings": {"attempts": 3, "loop": {"rounds": 2}, "grounding": True, "seed": None},
    "git_commit": "c0ffee" * 6,
}
TIMED_OUT = FailureSummary(
    category=FailureCategory.AGENT_FAILED, stage="scoring", code=FailureCode.TIMED_OUT
)


def attempt(*, model: str = "first:model", code: RejectionCode | None = None) -> AttemptSummary:
    """One call, accepted unless a code says why not."""
    return AttemptSummary(
        agent="scoring",
        model=model,
        path=CallPath.AGENT,
        outcome=AttemptOutcome.ACCEPTED if code is None else AttemptOutcome.REJECTED,
        code=code,
        repaired=False,
        coercions=0,
        input_tokens=1200,
        output_tokens=None,
    )


def provenance(
    predictions: Sequence[UnitPrediction] = (), record: Mapping[str, object] = RECORD
) -> Provenance:
    """Where a run comes from."""
    return Provenance(run_name="first", record=record, predictions=predicted_units(predictions))


def report_text(
    folder: Path,
    predictions: Sequence[UnitPrediction],
    labels: Mapping[str, Labels],
    *,
    record: Mapping[str, object] = RECORD,
    differences: Sequence[tuple[RowGroup[DifferenceRow], UnitChanges]] = (),
    names_units: bool = True,
) -> str:
    """The report of a run."""
    out = folder / "report.html"
    write_report(
        out,
        metrics=metrics(predictions, labels),
        provenance=provenance(predictions, record),
        differences=differences,
        worst=largest_errors(beside_labels(predictions, labels), 10),
        names_units=names_units,
    )
    return out.read_text(encoding="utf-8")
