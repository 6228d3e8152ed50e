"""Two runs side by side: paired differences on the units that both assessed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

import numpy as np
from pydantic_core import to_jsonable_python

from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.metrics.compute import (
    RESAMPLES,
    SEED,
    counted_sections,
    judged_sections,
    settings_of,
)
from ai_psychiatrist.evaluation.metrics.labelled_units import LabelledUnits, beside_labels
from ai_psychiatrist.evaluation.metrics.run_metrics import SCHEMA_VERSION, Part
from ai_psychiatrist.evaluation.metrics.selective import (
    DEFAULT_SIGNAL,
    SIGNALS,
    Accepted,
    accepted_of,
    signal_statistics,
)
from ai_psychiatrist.evaluation.metrics.tree import Path, Tree, named_measures, resolve
from ai_psychiatrist.evaluation.scores.predicted_units import PredictedUnits, predicted_units
from ai_psychiatrist.evaluation.scores.prediction import UnitPrediction
from ai_psychiatrist.statistics.arrays import Array
from ai_psychiatrist.statistics.bootstrap import Bootstrap, Estimate, estimate, owners_of
from ai_psychiatrist.statistics.figure import Figure, rounded
from ai_psychiatrist.statistics.intervals import figure_of
from ai_psychiatrist.statistics.measure import Measure, statistics
from ai_psychiatrist.statistics.ranking import aurc, risk_at

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
) -> RunComparison:
    """Return second minus first for every figure, and both at the coverage that both reach.

    Both runs are resampled together. Units that only one of them assessed are counted and left out.
    """
    both = predicted_units(first), predicted_units(second)
    shared = sorted({*both[0].unit_ids} & {*both[1].unit_ids})
    known = {unit: labels[unit] for unit in shared if unit in labels}
    sides = [one.among(shared) for one in both]
    labelled = [beside_labels(side, known, participants) for side in sides]
    judged = [judged_sections(side, confidence=DEFAULT_SIGNAL, seed=SEED) for side in labelled]
    counted = [counted_sections(side) for side in sides]
    over_labelled, over_all = (
        Bootstrap(owners=owners, resamples=resamples, seed=SEED)
        for owners in (labelled[0].owners, owners_of(shared, participants or {}))
    )
    matched = {signal: _matched(labelled[0], labelled[1], signal) for signal in SIGNALS}
    return RunComparison(
        settings=settings_of(resamples, SEED, DEFAULT_SIGNAL),
        units={
            "shared": len(shared),
            "shared_labelled": len(labelled[0].unit_ids),
            "only_first": len(both[0]) - len(shared),
            "only_second": len(both[1]) - len(shared),
        },
        differences={
            **_differences(judged[0], judged[1], over_labelled),
            **_differences(counted[0], counted[1], over_all),
        },
        matched_coverage=Part(resolve(matched, over_labelled)),
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
        measure = replace(of_second[path], n=len(bootstrap.owners), undefined=undefined)
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

    def measure(compute: Callable[[Accepted, Accepted, Array], Array]) -> Measure:
        def combine(sums: Array) -> Array:
            before, after = accepted_of(sums[:width]), accepted_of(sums[width:])
            return compute(before, after, np.minimum(before.scored, after.scored))

        accepted = min(first.items.count, second.items.count)
        return Measure(statistics=both, combine=combine, n=accepted, undefined=NOTHING_IN_COMMON)

    return {
        "coverage": measure(lambda a, _, k: k / a.asked),
        "mae_first": measure(lambda a, _, k: risk_at(a.plain, k)),
        "mae_second": measure(lambda _, b, k: risk_at(b.plain, k)),
        "mae_difference": measure(lambda a, b, k: risk_at(b.plain, k) - risk_at(a.plain, k)),
        "aurc_first": measure(lambda a, _, k: aurc(a.plain, k)),
        "aurc_second": measure(lambda _, b, k: aurc(b.plain, k)),
        "aurc_difference": measure(lambda a, b, k: aurc(b.plain, k) - aurc(a.plain, k)),
    }
