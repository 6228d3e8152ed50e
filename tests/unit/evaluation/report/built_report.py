"""A small run, and its report as text."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import orjson

from ai_psychiatrist.domain.failures import (
    AttemptOutcome,
    CallPath,
    FailureCategory,
    FailureCode,
    RejectionCode,
)
from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.metrics.compute import compute_metrics
from ai_psychiatrist.evaluation.report.comparison import Comparison
from ai_psychiatrist.evaluation.report.write import write_report
from ai_psychiatrist.evaluation.scores.prediction import (
    AttemptSummary,
    FailureSummary,
    UnitPrediction,
)

PROVENANCE: Mapping[str, object] = {
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


def figures_of(
    predictions: Sequence[UnitPrediction], labels: Mapping[str, Labels]
) -> dict[str, object]:
    """The metrics as they are read back from their file."""
    found = orjson.loads(compute_metrics(predictions, labels, resamples=50).to_bytes())
    assert isinstance(found, dict)
    return found


def report_text(
    folder: Path,
    predictions: Sequence[UnitPrediction],
    labels: Mapping[str, Labels],
    *,
    provenance: Mapping[str, object] = PROVENANCE,
    comparisons: Sequence[Comparison] = (),
) -> str:
    """The report of a run."""
    out = folder / "report.html"
    write_report(
        folder,
        metrics=figures_of(predictions, labels),
        predictions=predictions,
        provenance=provenance,
        out=out,
        comparisons=comparisons,
    )
    return out.read_text(encoding="utf-8")
