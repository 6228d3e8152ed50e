"""Make a calibration fit from runs over labelled participants: recalibration, and sets' thresholds.

All figures of a fit are of participants whom it had not seen: they fall into folds with all their
interviews, and each fold is predicted from the others. The items of one person rise and fall
together, so people are counted, each of them alike: one with many interviews is one. Sources:
Vovk, Gammerman & Shafer 2005; Lee, Barber & Willett 2023 (arXiv 2306.06342), on grouped cases.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ai_psychiatrist.distribution.fit import (
    FEATURES,
    LEAST_PARTICIPANTS,
    Fit,
    Recalibration,
    Stratum,
    conditions,
    digest_of,
    features_of,
)
from ai_psychiatrist.distribution.scores import WHOLE, least_people, strangeness
from ai_psychiatrist.distribution.settings import BeliefSettings
from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.domain.errors import ArtifactMismatch, InputError
from ai_psychiatrist.domain.evidence import Frequency
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.runs.provenance import changes_of, mode_of
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder, part_of
from ai_psychiatrist.evaluation.runs.units_file import read_kept_labels, read_units
from ai_psychiatrist.evaluation.scores.prediction import ItemPrediction
from ai_psychiatrist.evaluation.scores.prediction_lines import read_predictions
from ai_psychiatrist.infrastructure.private_files import write_whole, writing_to
from ai_psychiatrist.statistics.arrays import Array
from ai_psychiatrist.statistics.ordered_logit import OrderedLogit, fit_ordered_logit

FOLDS: Final = 5
RIDGE: Final = 1.0
"""Fixed before any figure: as much as one participant's worth of evidence against each weight."""
_SCORES: Final = 4
_LEAST_LOG: Final = 1e-6
_ROUNDING: Final = 1e-9
_FIELD: Final = "RUN"
_DIGITS: Final = 12

Numbers = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True)
class CalibrationReport:
    """What runs teach about their score distributions, and the fit, where there are enough."""

    participants: int
    items: int
    raw: Mapping[str, float]
    """Figures of the distributions as they were given, smaller the better."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _LabelledItem:
    """One item of one interview that has both a distribution and a label."""

    owner: str
    """One of the names of whose it is."""
    dataset: str
    """Its name and the first digits of its digest."""
    features: tuple[float, ...]
    raw: tuple[float, ...]
    """The probabilities before any calibration."""
    truth: int


@dataclass(frozen=True, kw_only=True)
class _Cases:
    """The labelled items of all runs; the arrays are (items,) where nothing else is said."""

    features: Array
    """(items, features)"""
    shares: Array
    """(items, 4): probabilities of the scores where one can be told, before any calibration."""
    truths: Numbers
    owners: Numbers
    """Whose each item is, numbered from 0 in the order of their names."""
    datasets: NDArray[np.str_]


def fit_distributions(
    runs: Sequence[Path], *, level: float, out: Path | None = None
) -> CalibrationReport:
    """Learn from runs over labelled participants how far their distributions hold.

    There is no fit below `LEAST_PARTICIPANTS`; `out` is where one is written. Raises `InputError`
    for a folder that is no run, for runs without distributions or labels, and for a file that
    cannot be written, and `ArtifactMismatch` for runs whose distributions were made by different
    means.
    """
    folders = [folder for run in runs for folder in RunFolder(run).runs()]
    if len({folder.path.resolve() for folder in folders}) < len(folders):
        msg = "a run is given twice, which would count its interviews twice; name each once"
        raise InputError(msg, field=_FIELD)
    made_by = _common_conditions(folders)
    cases = _cases(folders)
    participants = int(cases.owners.max()) + 1
    fit = None
    if participants >= LEAST_PARTICIPANTS:
        fit = _fit(cases, made_by, level=level)
    if out is not None and fit is not None:
        with writing_to(out, field="--out"):
            write_whole(out, [f"{fit.model_dump_json(indent=2)}\n".encode()])
    return CalibrationReport(
        participants=participants,
        items=len(cases.truths),
        raw=_figures(cases.shares, cases.truths),
        fit=fit,
    )


def _common_conditions(folders: Sequence[RunFolder]) -> dict[str, object]:
    """Return by what the distributions of all runs were made; refuse runs that differ."""
    made_by = [_conditions_of(folder) for folder in folders]
    for folder, other in zip(folders[1:], made_by[1:], strict=True):
        if digest_of(other) != digest_of(made_by[0]):
            msg = (
                f"{folder.path} made its beliefs by other means (sources, mode, models, prompts or "
                f"rules) than {folders[0].path}; fit each on its own"
            )
            raise ArtifactMismatch(msg)
    return made_by[0]


def _conditions_of(folder: RunFolder) -> dict[str, object]:
    record = folder.require_run()
    given = part_of(record, "settings", "belief")
    if not given:
        msg = f"{folder.path} was made without beliefs; assess its dataset again"
        raise InputError(msg, field=_FIELD)
    settings = BeliefSettings.of(
        {name: given[name] for name in ("sources", "rescorings", "temperature") if name in given}
    )
    made_by = _recorded_conditions(record, settings)
    for change in changes_of(record):
        if digest_of(_recorded_conditions({**record, **change}, settings)) != digest_of(made_by):
            msg = (
                f"{folder.path} went on with other prompts or rules, so its beliefs are of two "
                "kinds; assess its dataset again"
            )
            raise ArtifactMismatch(msg)
    return made_by


def _recorded_conditions(
    record: Mapping[str, object], settings: BeliefSettings
) -> dict[str, object]:
    chains = part_of(record, "models")
    return conditions(
        settings,
        mode=AssessmentMode.named(mode_of(record) or AssessmentMode.ZERO_SHOT),
        models={
            agent: map(str, chain) for agent, chain in chains.items() if isinstance(chain, list)
        },
        prompts={name: str(digest) for name, digest in part_of(record, "prompts").items()},
        rules=str(part_of(record, "contracts").get("rules", "")),
    )


def _cases(folders: Sequence[RunFolder]) -> _Cases:
    """Return the labelled items of runs.

    A participant who is in several runs is one: of the same id in datasets of one name, which may
    have grown meanwhile, or with the same interview in any.
    """
    people: dict[str, str] = {}
    items = [item for folder in folders for item in _items(folder, people)]
    if not items:
        msg = "no item of the runs has both a belief and a label; assess a labelled dataset again"
        raise InputError(msg, field=_FIELD)
    names = [_person(people, item.owner) for item in items]
    raw = np.array([item.raw for item in items])
    return _Cases(
        features=np.array([item.features for item in items]),
        shares=(raw[:, :_SCORES] + raw[:, _SCORES:] / _SCORES) / raw.sum(axis=1, keepdims=True),
        truths=np.array([item.truth for item in items], dtype=np.intp),
        owners=np.unique(names, return_inverse=True)[1],
        datasets=np.array([item.dataset for item in items]),
    )


def _items(folder: RunFolder, people: dict[str, str]) -> Iterator[_LabelledItem]:
    """Yield the labelled items of a run, and note in `people` who of them is who."""
    about = part_of(folder.require_run(), "dataset")
    name = f"{about.get('name', 'unknown')}"
    dataset = f"{name} {str(about.get('digest', ''))[:_DIGITS]}".strip()
    units, labels = read_units(folder.units), read_kept_labels(folder)
    for prediction in read_predictions(folder.predictions):
        unit_id = prediction.unit_id
        label, unit = labels.get(unit_id), units.get(unit_id)
        if label is None:
            continue
        participant = None if unit is None else unit.participant_id
        owner = f"id {name} {unit_id if participant is None else participant}"
        root = _person(people, owner)
        if unit is not None and unit.text_digest is not None:
            people[_person(people, f"text {unit.text_digest}")] = root
        for key in Item:
            item, truth = prediction.items.get(key), label.items.get(key)
            if item is not None and item.belief is not None and truth is not None:
                yield _LabelledItem(
                    owner=owner,
                    dataset=dataset,
                    features=_features(item, item.belief.raw),
                    raw=item.belief.raw,
                    truth=truth,
                )


def _person(people: dict[str, str], name: str) -> str:
    """Return one name for all names of a person; each leads to another one, the last to itself."""
    while (other := people.setdefault(name, name)) != name:
        people[name] = people[other]
        name = other
    return name


def _features(item: ItemPrediction, raw: tuple[float, ...]) -> tuple[float, ...]:
    signals = item.signals
    return features_of(
        raw,
        affirmed=signals.affirmed,
        denied=signals.denied,
        is_frequency_stated=signals.frequency is not Frequency.UNSTATED,
        refused=signals.llm_evidence_rejected_count,
        warnings=len(item.warnings),
        confidence=item.confidence,
    )


def _fit(cases: _Cases, made_by: Mapping[str, object], *, level: float) -> Fit:
    unseen = np.empty_like(cases.shares)
    for fold in range(FOLDS):
        is_in = cases.owners % FOLDS == fold
        model = _fitted(cases.features[~is_in], cases.truths[~is_in])
        unseen[is_in] = model.probabilities(cases.features[is_in])
    pairs = zip(unseen.tolist(), cases.truths.tolist(), strict=True)
    strange = np.array([strangeness(shares, truth) for shares, truth in pairs])
    strata = {}
    for dataset in np.unique(cases.datasets).tolist():
        at = cases.datasets == dataset
        strata[dataset] = stratum_of(strange[at], cases.truths[at], cases.owners[at], level)
    whole = _fitted(cases.features, cases.truths)
    first, second, third = whole.thresholds.tolist()
    before, after = _figures(cases.shares, cases.truths), _figures(unseen, cases.truths)
    return Fit(
        digest=digest_of(made_by),
        made_by=dict(made_by),
        level=level,
        participants=int(cases.owners.max()) + 1,
        recalibration=Recalibration(
            features=FEATURES,
            means=tuple(whole.means.tolist()),
            scales=tuple(whole.scales.tolist()),
            weights=tuple(whole.weights.tolist()),
            thresholds=(first, second, third),
        ),
        strata=strata,
        figures={
            **{f"{name}_before": value for name, value in before.items()},
            **{f"{name}_after": value for name, value in after.items()},
        },
    ).sealed()


def _fitted(features: Array, truths: Numbers) -> OrderedLogit:
    return fit_ordered_logit(features, truths, count=_SCORES, ridge=RIDGE)


def _figures(shares: Array, truths: Numbers) -> dict[str, float]:
    """Return log loss and ranked probability score, both smaller the better."""
    logs = -np.log(np.maximum(shares[np.arange(len(truths)), truths], _LEAST_LOG))
    is_below = truths[:, None] <= np.arange(_SCORES - 1)[None, :]
    ranked = ((np.cumsum(shares, axis=1)[:, :-1] - is_below) ** 2).sum(axis=1)
    return {
        "log_loss": round(float(logs.mean()), 6),
        "ranked_probability_score": round(float(ranked.mean()), 6),
    }


def threshold(strange: Array, owners: Numbers, level: float) -> float:
    """Return up to which strangeness scores belong to a set that is to hold `level` of truths.

    The smallest that holds `level` of all earlier cases and one more, which is as strange as can
    be; the cases of a person share the weight of one. All scores belong where people are too few.
    """
    _, place, sizes = np.unique(owners, return_inverse=True, return_counts=True)
    if len(sizes) < least_people(level):
        return WHOLE
    order = np.argsort(strange, kind="stable")
    held = np.cumsum(1 / sizes[place][order])
    wanted = level * len(sizes) * (1 + 1 / len(strange)) - _ROUNDING
    found = int(np.searchsorted(held, wanted))
    return WHOLE if found == len(held) else float(strange[order][found])


def stratum_of(strange: Array, truths: Numbers, owners: Numbers, level: float) -> Stratum:
    """Return a threshold, and the coverage of those that are made without each participant.

    `strange`, `truths`, `owners`: (items,), of one dataset.
    """
    _, place, sizes = np.unique(owners, return_inverse=True, return_counts=True)
    held = _held_without(strange, place, sizes, level).astype(np.float64)
    shares = np.bincount(place, weights=held) / sizes
    spread = float(shares.std(ddof=1) / np.sqrt(len(sizes))) if len(sizes) > 1 else 1.0
    by_score = (held[truths == score] for score in range(_SCORES))
    first, second, third, fourth = (float(one.mean()) if len(one) else None for one in by_score)
    return Stratum(
        threshold=threshold(strange, owners, level),
        participants=len(sizes),
        items=len(strange),
        coverage=float(shares.mean()),
        coverage_by_score=(first, second, third, fourth),
        spread=min(spread, 1.0),
    )


def _held_without(
    strange: Array, place: Numbers, sizes: Numbers, level: float
) -> NDArray[np.bool_]:
    """Return which cases are no stranger than the threshold that the other people give.

    They are where less weight of the others than is wanted is less strange.
    """
    people = len(sizes) - 1
    if people < least_people(level):
        return np.ones(len(strange), dtype=np.bool_)
    order = np.argsort(strange, kind="stable")
    weights = np.concatenate([[0.0], np.cumsum(1 / sizes[place][order])])
    below = weights[np.searchsorted(strange[order], strange)]
    for own in np.split(np.argsort(place, kind="stable"), np.cumsum(sizes)[:-1]):
        below[own] -= np.searchsorted(np.sort(strange[own]), strange[own]) / len(own)
    wanted = level * people * (1 + 1 / (len(strange) - sizes[place]))
    return below < wanted - _ROUNDING
