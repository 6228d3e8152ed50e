"""All figures of one run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

import numpy as np
from pydantic_core import to_jsonable_python

from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.metrics.agreement import item_section, noise_section
from ai_psychiatrist.evaluation.metrics.calibration import calibration_section
from ai_psychiatrist.evaluation.metrics.kinds import LabelledUnits, beside_labels
from ai_psychiatrist.evaluation.metrics.outcomes import (
    cost_section,
    coverage_by_reason,
    drive_section,
    evidence_section,
    failed_count,
    failure_section,
    outcome_counts,
    status_counts,
    warning_counts,
)
from ai_psychiatrist.evaluation.metrics.run_metrics import (
    MOST_UNITS,
    SCHEMA_VERSION,
    Part,
    RunMetrics,
)
from ai_psychiatrist.evaluation.metrics.selective import (
    DEFAULT_SIGNAL,
    SIGNALS,
    Accepted,
    accepted_of,
    selective_section,
    signal_statistics,
)
from ai_psychiatrist.evaluation.metrics.totals import (
    binary_section,
    severity_section,
    total_section,
)
from ai_psychiatrist.evaluation.metrics.tree import Path, Tree, named_measures, resolve
from ai_psychiatrist.evaluation.metrics.unit_errors import UnitChanges, unit_changes
from ai_psychiatrist.evaluation.scores.predicted_units import PredictedUnits, predicted_units
from ai_psychiatrist.evaluation.scores.prediction import UnitPrediction
from ai_psychiatrist.statistics.arrays import Array
from ai_psychiatrist.statistics.bootstrap import (
    Bootstrap,
    Estimate,
    estimate,
    owners_of,
    participants_in,
)
from ai_psychiatrist.statistics.figure import Figure, rounded
from ai_psychiatrist.statistics.intervals import INTERVAL, figure_of
from ai_psychiatrist.statistics.measure import Measure, statistics
from ai_psychiatrist.statistics.ranking import aurc, risk_at

RESAMPLES: Final = 10_000
SEED: Final = 42


def compute_metrics(
    predictions: Sequence[UnitPrediction] | PredictedUnits,
    labels: Mapping[str, Labels],
    *,
    participants: Mapping[str, str] | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> RunMetrics:
    """Compute every figure of a run.

    `labels` are those of the units that were to be assessed, by unit id: one that has labels and no
    prediction counts as failed, with all its items unknown. It may be empty. `participants`: unit
    id → whose it is; a unit that is not in it is a participant's only one. Raises `InputError`
    when a unit is predicted twice.
    """
    predicted = predicted_units(predictions)
    labelled = beside_labels(predicted, labels, participants)
    owners = owners_of(predicted.unit_ids, participants or {})
    judged = judged_sections(labelled, seed=seed)
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
            "settings": settings_of(resamples, seed),
            "units": {
                **_units(predicted, labelled),
                "participants": participants_in(owners),
                "participants_labelled": participants_in(labelled.owners),
            },
            **figures,
        }
    )


def settings_of(resamples: int, seed: int) -> dict[str, Tree]:
    """Return how figures are computed."""
    return {
        "resamples": resamples,
        "seed": seed,
        "interval": INTERVAL,
        "confidence": DEFAULT_SIGNAL,
    }


def judged_sections(labelled: LabelledUnits, *, seed: int) -> dict[str, Tree]:
    """Return the sections that compare predictions with labels."""
    return {
        "items": item_section(labelled.items),
        "selective": selective_section(labelled),
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


IDENTICAL: Final = "identical in every unit"
"""Why a difference has no interval, where both runs have the same numbers in each unit."""
_SIDES: Final = ("first", "second")
NOTHING_IN_COMMON: Final = "one of the runs has no score for a labelled item of the shared units"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference(Figure):
    """Second minus first, and both sides."""

    first: float | None
    second: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunComparison:
    """How the figures of a second run differ from those of a first."""

    settings: Mapping[str, Tree]
    units: Mapping[str, Tree]
    """How many units both runs assessed, and only one of them."""
    differences: Mapping[Path, Difference]
    """By the names that lead to the figure in `RunMetrics`."""
    matched_coverage: Part
    """By signal of confidence: errors over as many items as the run that scores fewer has."""
    calls: Mapping[str, Tree]
    """Of the first run and of the second: calls, and how many were accepted, rejected or failed."""
    unit_changes: UnitChanges
    """Which labelled units both have with other errors."""

    def as_json(self) -> dict[str, object]:
        """Return all of it as plain values."""
        tree: dict[str, object] = {}
        for (*names, last), found in self.differences.items():
            branch = tree
            for name in names:
                within = branch.setdefault(name, {})
                assert isinstance(within, dict)  # noqa: S101  a path never leads through a figure
                branch = within
            branch[last] = found
        document: dict[str, object] = to_jsonable_python(
            {
                "schema_version": SCHEMA_VERSION,
                "settings": self.settings,
                "units": self.units,
                "differences": tree,
                "matched_coverage": self.matched_coverage.tree,
                "calls": self.calls,
                "unit_changes": self.unit_changes,
            }
        )
        return document


def compare_metrics(
    first: Sequence[UnitPrediction] | PredictedUnits,
    second: Sequence[UnitPrediction] | PredictedUnits,
    labels: Mapping[str, Labels],
    *,
    participants: Mapping[str, str] | None = None,
    resamples: int = RESAMPLES,
    most_units: int = MOST_UNITS,
) -> RunComparison:
    """Return second minus first for every figure, and both at the coverage that both reach.

    Both runs are resampled together. Units that only one of them has are counted and left out.
    `most_units`: how many of those that changed are listed.
    """
    both = predicted_units(first), predicted_units(second)
    shared = sorted({*both[0].unit_ids} & {*both[1].unit_ids})
    known = {unit: labels[unit] for unit in shared if unit in labels}
    sides = [one.among(shared) for one in both]
    labelled = [beside_labels(side, known, participants) for side in sides]
    judged = [judged_sections(side, seed=SEED) for side in labelled]
    counted = [counted_sections(side) for side in sides]
    over_labelled, over_all = (
        Bootstrap(owners=owners, resamples=resamples, seed=SEED)
        for owners in (labelled[0].owners, owners_of(shared, participants or {}))
    )
    matched = {signal: _matched(labelled[0], labelled[1], signal) for signal in SIGNALS}
    return RunComparison(
        settings=settings_of(resamples, SEED),
        units={
            "shared": len(shared),
            "shared_labelled": len(labelled[0].unit_ids),
            "only_first": len(both[0]) - len(shared),
            "only_second": len(both[1]) - len(shared),
            "failed_first": failed_count(sides[0].rows),
            "failed_second": failed_count(sides[1].rows),
        },
        differences={
            **_differences(judged[0], judged[1], over_labelled),
            **_differences(counted[0], counted[1], over_all),
        },
        matched_coverage=Part(resolve(matched, over_labelled)),
        calls={name: outcome_counts(one) for name, one in zip(_SIDES, both, strict=True)},
        unit_changes=unit_changes(labelled[0], labelled[1], most_units),
    )


def _differences(
    first: Mapping[str, Tree], second: Mapping[str, Tree], bootstrap: Bootstrap
) -> dict[Path, Difference]:
    of_first, of_second = dict(named_measures(first)), dict(named_measures(second))
    paths = [path for path in of_first if path in of_second]
    measures = [side[path] for side in (of_first, of_second) for path in paths]
    estimates = iter(estimate(measures, bootstrap))
    before = list(islice(estimates, len(paths)))
    found = {}
    for path, one, other in zip(paths, before, estimates, strict=True):
        undefined = (
            f"first run: {of_first[path].undefined}"
            if np.isnan(one.value)
            else f"second run: {of_second[path].undefined}"
        )
        is_same = one.value == other.value and np.array_equal(
            of_first[path].statistics, of_second[path].statistics
        )
        measure = replace(
            of_second[path],
            n=len(bootstrap.owners),
            undefined=undefined,
            no_interval=IDENTICAL if is_same else of_second[path].no_interval,
        )
        found[path] = difference_of(figure_of(measure, other.minus(one)), one, other)
    return found


def difference_of(figure: Figure, first: Estimate, second: Estimate) -> Difference:
    """Return the figure of a difference with the values of both sides."""
    values = [None if np.isnan(one.value) else rounded(one.value) for one in (first, second)]
    return Difference(
        value=figure.value,
        reason=figure.reason,
        interval=figure.interval,
        n=figure.n,
        first=values[0],
        second=values[1],
    )


def _matched(first: LabelledUnits, second: LabelledUnits, signal: str) -> dict[str, Measure]:
    one, other = signal_statistics(first, signal), signal_statistics(second, signal)
    both, width = statistics(one, other), one.shape[1]

    is_same = np.array_equal(one, other)

    def measure(
        compute: Callable[[Accepted, Accepted, Array], Array], *, is_difference: bool = False
    ) -> Measure:
        def combine(sums: Array) -> Array:
            before, after = accepted_of(sums[:width]), accepted_of(sums[width:])
            return compute(before, after, np.minimum(before.scored, after.scored))

        accepted = min(first.items.count, second.items.count)
        return Measure(
            statistics=both,
            combine=combine,
            n=accepted,
            undefined=NOTHING_IN_COMMON,
            no_interval=IDENTICAL if is_difference and is_same else None,
        )

    return {
        "coverage": measure(lambda a, _, k: k / a.asked),
        "mae_first": measure(lambda a, _, k: risk_at(a.plain, k)),
        "mae_second": measure(lambda _, b, k: risk_at(b.plain, k)),
        "mae_difference": measure(
            lambda a, b, k: risk_at(b.plain, k) - risk_at(a.plain, k), is_difference=True
        ),
        "aurc_first": measure(lambda a, _, k: aurc(a.plain, k)),
        "aurc_second": measure(lambda _, b, k: aurc(b.plain, k)),
        "aurc_difference": measure(
            lambda a, b, k: aurc(b.plain, k) - aurc(a.plain, k), is_difference=True
        ),
    }
