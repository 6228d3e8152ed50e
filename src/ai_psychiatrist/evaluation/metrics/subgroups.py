"""Figures of groups of people, such as those of each site, and how the groups differ."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final

import numpy as np
from pydantic_core import to_jsonable_python

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.metrics.agreement import item_section
from ai_psychiatrist.evaluation.metrics.compute import RESAMPLES, SEED, Difference, difference_of
from ai_psychiatrist.evaluation.metrics.kinds import (
    AllItems,
    AllUnits,
    Severities,
    TotalRanges,
    beside_labels,
    is_label,
)
from ai_psychiatrist.evaluation.metrics.outcomes import EvidenceFound, evidence_section
from ai_psychiatrist.evaluation.metrics.totals import (
    binary_section,
    severity_section,
    total_section,
)
from ai_psychiatrist.evaluation.metrics.tree import Tree, named_measures
from ai_psychiatrist.evaluation.scores.predicted_units import PredictedUnits
from ai_psychiatrist.statistics.bootstrap import Bootstrap, Estimate, estimate, owners_of
from ai_psychiatrist.statistics.figure import Figure
from ai_psychiatrist.statistics.intervals import figure_of
from ai_psychiatrist.statistics.measure import Measure

FEWEST_UNITS: Final = 20
"""Of a group with figures: those of fewer people are chance, and can be told by name."""
MOST_GROUPS: Final = 10
"""A column of more different numbers, such as an age, makes two groups, about its median."""
REST: Final = "the rest"
SHOWN: Final[Mapping[str, type]] = {
    "items.mae_charged": AllItems,
    "items.mae": AllItems,
    "items.bias": AllItems,
    "items.coverage": AllItems,
    "items.quadratic_kappa": AllItems,
    "totals.range.midpoint_mae": TotalRanges,
    "severity.exact_undecidable_as_wrong": Severities,
    "binary.from_total.undecided_as_wrong.balanced_accuracy": AllUnits,
    "binary.from_total.undecided_as_wrong.sensitivity": AllUnits,
    "binary.from_total.undecided_as_wrong.specificity": AllUnits,
    "evidence.units_with_a_symptom": EvidenceFound,
}
"""The figures of a group by the names that lead to them, and the kinds of data they are of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The units that have one value in the column."""

    value: str
    units: int
    without_scores: int
    """Those among them whose assessment failed or was not made: their items count as unknown."""
    left_out: int
    """Further units of this value, in no figure: without a label where others have one, and where
    none has one without an assessment."""
    figures: Mapping[str, Figure]
    reason: str | None
    """Why there are no figures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDifference:
    """How the figures of a group differ from those of others: the second less the first."""

    first: str
    second: str
    """The other group, or all others together."""
    figures: Mapping[str, Difference]
    reason: str | None
    """Why there are no figures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subgroups:
    """All groups of one column."""

    column: str
    unknown: int
    """Units without a value."""
    unlabelled: int
    """Assessed units without a label and a known value, which are in no group."""
    groups: Sequence[Group]
    differences: Sequence[GroupDifference]
    """One of two groups; of more, each against the rest."""

    def as_json(self) -> dict[str, object]:
        """Return all of it as plain values."""
        found: dict[str, object] = to_jsonable_python(self)
        return found


def _columns(labels: Mapping[str, Labels], splits: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return what is known of each unit, by column: what its labels say, and its split."""
    units = {*labels, *splits}
    found: dict[str, dict[str, str]] = {unit: {} for unit in units}
    for unit, split in splits.items():
        found[unit]["split"] = split
    for unit, one in labels.items():
        found[unit] |= one.columns
    return found


def _name_of(column: str, every: Mapping[str, Mapping[str, str]]) -> str:
    """Return the column that is meant, in any case of its letters."""
    known = sorted({name for columns in every.values() for name in columns})
    if column in known:
        return column
    for name in known:
        if name.casefold() == column.casefold():
            return name
    there_are = f"the columns are {', '.join(known)}" if known else "the labels have none"
    raise InputError(f"no column is called {column!r}: {there_are}", field="--by")


def _banded(values: dict[str, str]) -> dict[str, str]:
    """Put many numbers into two groups, up to their median and above it."""
    try:
        numbers = {unit: float(value.replace(",", ".")) for unit, value in values.items()}
    except ValueError:
        return values
    if len({*numbers.values()}) <= MOST_GROUPS:
        return values
    middle = median(numbers.values())
    low, high = f"up to {middle:g}", f"above {middle:g}"
    return {unit: low if number <= middle else high for unit, number in numbers.items()}


def subgroups(
    predictions: PredictedUnits,
    labels: Mapping[str, Labels],
    column: str,
    *,
    splits: Mapping[str, str],
    participants: Mapping[str, str],
    resamples: int = RESAMPLES,
) -> Subgroups:
    """Return the figures of each group of a column, and how the groups differ.

    Groups are of labelled units, and where nothing is labelled of all. Participants are drawn with
    their units within each group. Raises `InputError` that names the columns there are for another
    one.
    """
    columns = _columns(labels, splits)
    name = _name_of(column, columns)
    given = {unit: one.get(name, "").strip() for unit, one in columns.items()}
    values = _banded({unit: value for unit, value in given.items() if value})
    labelled = {unit for unit, one in labels.items() if is_label(one)}
    every = labelled or {*predictions.unit_ids}
    members: dict[str, set[str]] = {}
    for unit in sorted(every & {*values}):
        members.setdefault(values[unit], set()).add(unit)
    left_out = Counter(value for unit, value in values.items() if unit not in every)
    ordered = sorted(members, key=lambda value: (-len(members[value]), value))
    scored = {*np.array(predictions.unit_ids)[predictions.rows["has_items"]].tolist()}

    def measured(units: set[str], seed: int) -> "_Measured":
        return _measured(predictions, labels, units, participants, resamples, seed)

    found = {
        value: measured(members[value], SEED + place)
        for place, value in enumerate(ordered)
        if len(members[value]) >= FEWEST_UNITS
    }
    if len(ordered) == 2:
        pairs = [(ordered[0], ordered[1], members[ordered[1]])]
    elif ordered[1:]:
        pairs = [(one, REST, every & {*values} - members[one]) for one in ordered]
    else:
        pairs = []
    differences = []
    for first, second, others in pairs:
        few = first not in found or len(others) < FEWEST_UNITS
        figures = (
            {}
            if few
            else _differences(found[first], found.get(second) or measured(others, SEED - 1))
        )
        reason = _too_few("one of the two has") if few else None
        differences.append(
            GroupDifference(first=first, second=second, figures=figures, reason=reason)
        )
    return Subgroups(
        column=name,
        unknown=len(every - {*values}),
        unlabelled=len({*predictions.unit_ids} - every - {*values}),
        groups=[
            Group(
                value=value,
                units=len(units := members.get(value, set())),
                without_scores=len(units - scored),
                left_out=left_out[value],
                figures=_figures(found[value]) if value in found else {},
                reason=None if value in found else _too_few("the group has"),
            )
            for value in (*ordered, *sorted(left_out.keys() - members))
        ],
        differences=differences,
    )


def _too_few(which: str) -> str:
    return f"no figures: {which} fewer than {FEWEST_UNITS} units"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measured:
    """The figures of some units, with the values of their resamples."""

    measures: Mapping[str, Measure]
    estimates: Sequence[Estimate]
    units: int


def _measured(
    predictions: PredictedUnits,
    labels: Mapping[str, Labels],
    units: set[str],
    participants: Mapping[str, str],
    resamples: int,
    seed: int,
) -> _Measured:
    some = predictions.among(sorted(units))
    labelled = beside_labels(some, {unit: labels[unit] for unit in units & {*labels}}, participants)
    tree: dict[str, Tree] = {"evidence": evidence_section(some.rows)}
    if labelled.unit_ids:
        tree["items"] = item_section(labelled.items)
        tree["totals"] = total_section(labelled)
        tree["severity"] = severity_section(labelled)
        tree["binary"] = binary_section(labelled)
    by_path = {".".join(path): measure for path, measure in named_measures(tree)}
    measures = {path: by_path[path] for path in SHOWN if path in by_path}
    owners = owners_of(some.unit_ids, participants)
    bootstrap = Bootstrap(owners=owners, resamples=resamples, seed=seed)
    return _Measured(
        measures=measures,
        estimates=estimate(list(measures.values()), bootstrap),
        units=len(units),
    )


def _figures(found: _Measured) -> dict[str, Figure]:
    pairs = zip(found.measures.items(), found.estimates, strict=True)
    return {path: figure_of(measure, one) for (path, measure), one in pairs}


def _differences(first: _Measured, second: _Measured) -> dict[str, Difference]:
    """Return how two groups of different people differ: the resamples of each are its own."""
    found = {}
    for path, one, other in zip(first.measures, first.estimates, second.estimates, strict=True):
        apart = Estimate(
            value=other.value - one.value,
            samples=other.samples - one.samples,
            left_out=np.concatenate([_centred(other), -_centred(one)]),
            participants=min(one.participants, other.participants),
        )
        measure = replace(first.measures[path], n=first.units + second.units)
        found[path] = difference_of(figure_of(measure, apart), one, other)
    return found


def _centred(found: Estimate) -> np.ndarray:
    """Return what leaving out each participant does, around its mean."""
    defined = found.left_out[~np.isnan(found.left_out)]
    return defined - defined.mean() if len(defined) else defined
