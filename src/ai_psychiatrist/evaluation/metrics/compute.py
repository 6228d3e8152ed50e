"""All figures of one run."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.metrics.agreement import item_section, noise_section
from ai_psychiatrist.evaluation.metrics.binary import binary_section
from ai_psychiatrist.evaluation.metrics.calibration import calibration_section
from ai_psychiatrist.evaluation.metrics.evidence import drive_section, evidence_section
from ai_psychiatrist.evaluation.metrics.labelled_units import LabelledUnits, beside_labels
from ai_psychiatrist.evaluation.metrics.outcomes import (
    cost_section,
    coverage_by_reason,
    failure_section,
    status_counts,
    warning_counts,
)
from ai_psychiatrist.evaluation.metrics.run_metrics import SCHEMA_VERSION, RunMetrics
from ai_psychiatrist.evaluation.metrics.selective import DEFAULT_SIGNAL, selective_section
from ai_psychiatrist.evaluation.metrics.totals import severity_section, total_section
from ai_psychiatrist.evaluation.metrics.tree import Tree, resolve
from ai_psychiatrist.evaluation.scores.predicted_units import PredictedUnits, predicted_units
from ai_psychiatrist.evaluation.scores.prediction import UnitPrediction
from ai_psychiatrist.statistics.bootstrap import Bootstrap, owners_of, participants_in
from ai_psychiatrist.statistics.intervals import INTERVAL

RESAMPLES: Final = 10_000
SEED: Final = 42


def compute_metrics(
    predictions: Sequence[UnitPrediction] | PredictedUnits,
    labels: Mapping[str, Labels],
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
    predicted = predicted_units(predictions)
    labelled = beside_labels(predicted, labels, participants)
    owners = owners_of(predicted.unit_ids, participants or {})
    judged = judged_sections(labelled, confidence=confidence, seed=seed)
    judged["noise_ceiling"] = noise_section(labelled.rated)
    counted = counted_sections(predicted)
    over_labelled, over_all = (
        Bootstrap(owners=one, resamples=resamples, seed=seed) for one in (labelled.owners, owners)
    )
    if np.array_equal(labelled.owners, owners):
        # The same resamples, which are then drawn once.
        figures = resolve(judged | counted, over_all)
    else:
        figures = resolve(judged, over_labelled) | resolve(counted, over_all)
    return RunMetrics(
        {
            "schema_version": SCHEMA_VERSION,
            "settings": settings_of(resamples, seed, confidence),
            "units": {
                **_units(predicted, labelled),
                "participants": participants_in(owners),
                "participants_labelled": participants_in(labelled.owners),
            },
            **figures,
        }
    )


def settings_of(resamples: int, seed: int, confidence: str) -> dict[str, Tree]:
    """Return how figures are computed."""
    return {
        "resamples": resamples,
        "seed": seed,
        "interval": INTERVAL,
        "confidence": confidence,
    }


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


def counted_sections(predictions: PredictedUnits) -> dict[str, Tree]:
    """Return the sections that need no labels."""
    return {
        "evidence": evidence_section(predictions.rows),
        "drive": drive_section(predictions.rows),
        "coverage_by_reason": coverage_by_reason(predictions.rows),
        "rule_warnings": warning_counts(predictions),
        "failures": failure_section(predictions),
        "cost": cost_section(predictions),
    }


def _units(predictions: PredictedUnits, labelled: LabelledUnits) -> dict[str, Tree]:
    known = len(labelled.unit_ids)
    both = known - labelled.missing
    return {
        "predicted": len(predictions),
        "labelled": known,
        "both": both,
        "labelled_without_prediction": known - both,
        "predicted_without_label": len(predictions) - both,
        "by_status": status_counts(predictions.rows),
        "with_turns_not_examined": int(predictions.rows["has_unread"].sum()),
    }
