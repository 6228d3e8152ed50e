"""Two runs side by side: paired differences on the units that both assessed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
from pydantic import field_serializer

from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.metrics.compute import (
    RESAMPLES,
    SEED,
    counted_sections,
    judged_sections,
    settings_of,
)
from ai_psychiatrist.evaluation.metrics.labelled_units import LabelledUnits, beside_labels
from ai_psychiatrist.evaluation.metrics.run_metrics import (
    SCHEMA_VERSION,
    MetricsModel,
    MetricsSettings,
)
from ai_psychiatrist.evaluation.metrics.selective import Accepted, accepted_of, signal_statistics
from ai_psychiatrist.evaluation.metrics.signals import DEFAULT_SIGNAL, SIGNALS
from ai_psychiatrist.evaluation.metrics.tree import Path, Tree, named_measures, resolve
from ai_psychiatrist.evaluation.scores.column_reader import columns_of
from ai_psychiatrist.evaluation.scores.label_columns import LabelColumns, label_columns_of
from ai_psychiatrist.evaluation.scores.prediction import UnitPrediction
from ai_psychiatrist.evaluation.scores.prediction_columns import PredictionColumns
from ai_psychiatrist.statistics.arrays import Array
from ai_psychiatrist.statistics.bootstrap import Bootstrap, Estimate, estimate, owners_of
from ai_psychiatrist.statistics.figure import Figure, rounded
from ai_psychiatrist.statistics.intervals import figure_of
from ai_psychiatrist.statistics.measure import Measure, statistics
from ai_psychiatrist.statistics.risk_coverage import aurc, risk_at

NOTHING_IN_COMMON = "one of the runs has no score for a labelled item of the shared units"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference(Figure):
    """Second minus first, and both sides."""

    first: float | None
    second: float | None


class SharedUnits(MetricsModel):
    """How many units both runs assessed, and only one of them."""

    shared: int
    shared_labelled: int
    only_first: int
    only_second: int


class MatchedCoverage(MetricsModel):
    """Errors over as many items as the run that scores fewer of them has, by one signal."""

    coverage: Figure
    mae_first: Figure
    mae_second: Figure
    mae_difference: Figure
    aurc_first: Figure
    aurc_second: Figure
    aurc_difference: Figure


class RunComparison(MetricsModel):
    """How the figures of a second run differ from those of a first."""

    schema_version: int = SCHEMA_VERSION
    settings: MetricsSettings
    units: SharedUnits
    differences: Mapping[Path, Difference]
    """By the names that lead to the figure in `RunMetrics`."""
    matched_coverage: Mapping[str, MatchedCoverage]
    """By signal of confidence."""

    @field_serializer("differences")
    def _nest(self, differences: Mapping[Path, Difference]) -> dict[str, object]:
        return _nested(differences)


def compare_metrics(
    first: Sequence[UnitPrediction] | PredictionColumns,
    second: Sequence[UnitPrediction] | PredictionColumns,
    labels: Mapping[str, Labels] | LabelColumns,
    *,
    participants: Mapping[str, str] | None = None,
    resamples: int = RESAMPLES,
) -> RunComparison:
    """Return second minus first for every figure, and both at the coverage that both reach.

    Both runs are resampled together. Units that only one of them assessed are counted and left out.
    """
    of_first, of_second = columns_of(first), columns_of(second)
    shared = sorted({*of_first.unit_ids} & {*of_second.unit_ids})
    given = label_columns_of(labels)
    known = given.where(given.is_label & given.is_among({*shared}))
    sides = [of_first.at(shared), of_second.at(shared)]
    labelled = [beside_labels(side, known, participants) for side in sides]
    judged = [judged_sections(side, confidence=DEFAULT_SIGNAL, seed=SEED) for side in labelled]
    counted = [counted_sections(side) for side in sides]
    over_labelled = Bootstrap(owners=labelled[0].owners, resamples=resamples, seed=SEED)
    owners = owners_of(shared, participants or {})
    over_all = Bootstrap(owners=owners, resamples=resamples, seed=SEED)
    matched = {signal: _matched(labelled[0], labelled[1], signal) for signal in SIGNALS}
    return RunComparison(
        settings=settings_of(resamples, SEED, DEFAULT_SIGNAL),
        units=SharedUnits(
            shared=len(shared),
            shared_labelled=len(known),
            only_first=len(of_first) - len(shared),
            only_second=len(of_second) - len(shared),
        ),
        differences={
            **_differences(judged[0], judged[1], over_labelled),
            **_differences(counted[0], counted[1], over_all),
        },
        matched_coverage={
            signal: MatchedCoverage.model_validate(figures)
            for signal, figures in resolve(matched, over_labelled).items()
        },
    )


def _differences(
    first: Mapping[str, Tree], second: Mapping[str, Tree], bootstrap: Bootstrap
) -> dict[Path, Difference]:
    of_first, of_second = dict(named_measures(first)), dict(named_measures(second))
    paths = [path for path in of_first if path in of_second]
    before = estimate([of_first[path] for path in paths], bootstrap)
    after = estimate([of_second[path] for path in paths], bootstrap)
    found = {}
    for path, one, other in zip(paths, before, after, strict=True):
        measure = replace(
            of_second[path],
            n=len(bootstrap.owners),
            undefined=_undefined(of_first[path], of_second[path], one),
        )
        figure = figure_of(measure, other.minus(one))
        found[path] = Difference(
            first=_value(one),
            second=_value(other),
            value=figure.value,
            reason=figure.reason,
            interval=figure.interval,
            n=figure.n,
        )
    return found


def _undefined(first: Measure, second: Measure, before: Estimate) -> str:
    if np.isnan(before.value):
        return f"first run: {first.undefined}"
    return f"second run: {second.undefined}"


def _value(found: Estimate) -> float | None:
    return None if np.isnan(found.value) else rounded(found.value)


def _nested(leaves: Mapping[Path, Difference]) -> dict[str, object]:
    """Make a tree of leaves whose paths come in the order of a walk."""
    tree: dict[str, object] = {}
    for name, group in groupby(leaves.items(), key=lambda leaf: leaf[0][0]):
        branch = {path[1:]: leaf for path, leaf in group}
        tree[name] = branch[()] if () in branch else _nested(branch)
    return tree


def _matched(first: LabelledUnits, second: LabelledUnits, signal: str) -> dict[str, Measure]:
    one, other = signal_statistics(first, signal), signal_statistics(second, signal)
    both = statistics(*one.parts, *other.parts)
    width = len(one.total)

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
