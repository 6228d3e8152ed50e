"""All figures of one run."""

from collections.abc import Mapping, Sequence
from typing import Final

from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.metrics.binary import binary_section
from ai_psychiatrist.evaluation.metrics.calibration import calibration_section
from ai_psychiatrist.evaluation.metrics.drive import drive_section
from ai_psychiatrist.evaluation.metrics.evidence import evidence_rates
from ai_psychiatrist.evaluation.metrics.items import item_section, noise_section
from ai_psychiatrist.evaluation.metrics.labelled_units import LabelledUnits, beside_labels
from ai_psychiatrist.evaluation.metrics.outcomes import (
    cost_section,
    coverage_by_reason,
    failure_section,
    status_counts,
    warning_counts,
)
from ai_psychiatrist.evaluation.metrics.run_metrics import MetricsSettings, RunMetrics
from ai_psychiatrist.evaluation.metrics.selective import selective_section
from ai_psychiatrist.evaluation.metrics.signals import DEFAULT_SIGNAL
from ai_psychiatrist.evaluation.metrics.totals import severity_section, total_section
from ai_psychiatrist.evaluation.metrics.tree import Tree, resolve
from ai_psychiatrist.evaluation.scores.column_reader import columns_of
from ai_psychiatrist.evaluation.scores.label_columns import LabelColumns
from ai_psychiatrist.evaluation.scores.prediction import UnitPrediction
from ai_psychiatrist.evaluation.scores.prediction_columns import PredictionColumns
from ai_psychiatrist.statistics.bootstrap import Bootstrap, Owners, owners_of, participants_in
from ai_psychiatrist.statistics.intervals import INTERVAL

RESAMPLES: Final = 10_000
SEED: Final = 42


def compute_metrics(
    predictions: Sequence[UnitPrediction] | PredictionColumns,
    labels: Mapping[str, Labels] | LabelColumns,
    *,
    participants: Mapping[str, str] | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    confidence: str = DEFAULT_SIGNAL,
) -> RunMetrics:
    """Compute every figure of a run.

    `labels` are those of the units that were to be assessed, by unit id: one that has labels and no
    prediction counts as failed, with all its items unknown. It may be empty. `participants`: unit
    id → whose it is; a unit that is not in it is a participant's only one. Raises `InputError`
    when a unit is predicted twice, `ConfigurationError` when no signal is called `confidence`.
    """
    columns = columns_of(predictions)
    labelled = beside_labels(columns, labels, participants)
    owners = labelled.owners
    if labelled.predictions.unit_ids != columns.unit_ids:
        owners = owners_of(columns.unit_ids, participants or {})
    judged = judged_sections(labelled, confidence=confidence, seed=seed)
    judged["noise_ceiling"] = noise_section(labelled.rated)
    counts: dict[str, Tree] = {
        **_units(columns, labelled),
        "participants": participants_in(owners),
        "participants_labelled": participants_in(labelled.owners),
    }
    return RunMetrics.model_validate(
        {
            "settings": settings_of(resamples, seed, confidence),
            "units": counts,
            **_resolved(
                [(labelled.owners, judged), (owners, counted_sections(columns))], resamples, seed
            ),
        }
    )


def _resolved(
    parts: Sequence[tuple[Owners, dict[str, Tree]]], resamples: int, seed: int
) -> dict[str, Tree]:
    """Resolve trees, those over the same participants in one pass over the same resamples."""
    trees: dict[bytes, tuple[Owners, dict[str, Tree]]] = {}
    for owners, tree in parts:
        trees.setdefault(owners.tobytes(), (owners, {}))[1].update(tree)
    found: dict[str, Tree] = {}
    for owners, tree in trees.values():
        found |= resolve(tree, Bootstrap(owners=owners, resamples=resamples, seed=seed))
    return found


def settings_of(resamples: int, seed: int, confidence: str) -> MetricsSettings:
    """Return how figures are computed."""
    return MetricsSettings(resamples=resamples, seed=seed, interval=INTERVAL, confidence=confidence)


def judged_sections(labelled: LabelledUnits, *, confidence: str, seed: int) -> dict[str, Tree]:
    """Return the sections that compare predictions with labels."""
    return {
        "items": item_section(labelled.items),
        "selective": selective_section(labelled, default=confidence),
        "totals": total_section(labelled),
        "severity": severity_section(labelled),
        "binary": binary_section(labelled),
        "calibration": calibration_section(labelled, seed=seed),
    }


def counted_sections(predictions: PredictionColumns) -> dict[str, Tree]:
    """Return the sections that need no labels."""
    return {
        "evidence": evidence_rates(predictions),
        "drive": drive_section(predictions),
        "coverage_by_reason": coverage_by_reason(predictions),
        "rule_warnings": warning_counts(predictions),
        "failures": failure_section(predictions),
        "cost": cost_section(predictions),
    }


def _units(predictions: PredictionColumns, labelled: LabelledUnits) -> dict[str, Tree]:
    known = len(labelled.labels)
    both = known - labelled.predictions.missing
    return {
        "predicted": len(predictions),
        "labelled": known,
        "both": both,
        "labelled_without_prediction": known - both,
        "predicted_without_label": len(predictions) - both,
        "by_status": status_counts(predictions),
        "with_turns_not_examined": int(predictions.rows.has_unread.sum()),
    }
