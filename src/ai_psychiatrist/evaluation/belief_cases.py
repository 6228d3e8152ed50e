"""Items of runs whose belief stands beside a label."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ai_psychiatrist.belief.facts import EvidenceFacts, features_of
from ai_psychiatrist.belief.premises import digest_of, premises
from ai_psychiatrist.belief.settings import BeliefSettings
from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.domain.errors import ArtifactMismatch, InputError
from ai_psychiatrist.domain.evidence import Frequency
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.runs.provenance import changes_of, mode_of
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.evaluation.runs.units_file import RunUnit, read_units
from ai_psychiatrist.evaluation.same_people import SamePeople
from ai_psychiatrist.evaluation.scores.labels_file import read_labels
from ai_psychiatrist.evaluation.scores.prediction import ItemPrediction
from ai_psychiatrist.evaluation.scores.prediction_lines import read_predictions

_FIELD: Final = "RUN"
_DIGITS: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class BelievedItem:
    """One item of one interview."""

    owner: str
    """One of the names of whose it is."""
    dataset: str
    """Its name and the first digits of its digest."""
    features: tuple[float, ...]
    """What a recalibration goes by."""
    belief_raw: tuple[float, ...]
    truth: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BelievedCases:
    """The items of all runs, and by what their beliefs were made."""

    items: tuple[BelievedItem, ...]
    participants: tuple[int, ...]
    """Whose each item is, numbered from 0 in the order of their names."""
    made_by: Mapping[str, object]


def believed_cases(runs: Sequence[Path]) -> BelievedCases:
    """Return the labelled items of runs, all of which made beliefs by the same means.

    A participant who is in several runs is one: of the same id in datasets of one name, which may
    have grown meanwhile, or with the same interview in any. Raises as `fit_beliefs` does.
    """
    folders = [folder for run in runs for folder in RunFolder(run).runs()]
    if len({folder.path.resolve() for folder in folders}) < len(folders):
        msg = "a run is given twice, which would count its interviews twice; name each once"
        raise InputError(msg, field=_FIELD)
    made_by = [_made_by(folder) for folder in folders]
    for folder, other in zip(folders[1:], made_by[1:], strict=True):
        if digest_of(other) != digest_of(made_by[0]):
            msg = (
                f"{folder.path} made its beliefs by other means (sources, mode, models, prompts or "
                f"rules) than {folders[0].path}; fit each on its own"
            )
            raise ArtifactMismatch(msg)
    people = SamePeople()
    found = [one for folder in folders for one in _items(folder, people)]
    if not found:
        msg = "no item of the runs has both a belief and a label; assess a labelled dataset anew"
        raise InputError(msg, field=_FIELD)
    names = [people.one_of(item.owner) for item in found]
    numbers = {name: place for place, name in enumerate(sorted(set(names)))}
    return BelievedCases(
        items=tuple(found),
        participants=tuple(numbers[name] for name in names),
        made_by=made_by[0],
    )


def _items(folder: RunFolder, people: SamePeople) -> Iterator[BelievedItem]:
    """Yield the labelled items of a run, and say who of its people is who."""
    dataset = _mapping(folder.require_run().get("dataset"))
    digest = str(dataset.get("digest", ""))[:_DIGITS]
    units, labels = read_units(folder.units), read_labels(folder.labels)
    for unit in read_predictions(folder.predictions):
        label = labels.get(unit.unit_id)
        if label is None:
            continue
        name = dataset.get("name", "unknown")
        owner = people.join(_names(f"{name}", unit.unit_id, units.get(unit.unit_id)))
        for key in Item:
            item, truth = unit.items.get(key), label.items.get(key)
            if item is not None and item.belief is not None and truth is not None:
                yield BelievedItem(
                    owner=owner,
                    dataset=f"{name} {digest}".strip(),
                    features=_features(item, item.belief.raw),
                    belief_raw=item.belief.raw,
                    truth=truth,
                )


def _names(dataset: str, unit_id: str, unit: RunUnit | None) -> list[str]:
    """Return the names of whose an interview is: in its dataset, and by the interview itself."""
    if unit is None:
        return [f"id {dataset} {unit_id}"]
    owner = unit_id if unit.participant_id is None else unit.participant_id
    text = [] if unit.text_digest is None else [f"text {unit.text_digest}"]
    return [f"id {dataset} {owner}", *text]


def _made_by(folder: RunFolder) -> dict[str, object]:
    record = folder.require_run()
    given = _mapping(_mapping(record.get("settings")).get("belief"))
    if not given:
        msg = f"{folder.path} was made without beliefs; assess its dataset anew"
        raise InputError(msg, field=_FIELD)
    settings = BeliefSettings.of(
        {name: given[name] for name in ("sources", "rescorings", "temperature") if name in given}
    )
    made_by = _premises(record, settings)
    for change in changes_of(record):
        if digest_of(_premises({**record, **change}, settings)) != digest_of(made_by):
            msg = (
                f"{folder.path} went on with other prompts or rules, so its beliefs are of two "
                "kinds; assess its dataset anew"
            )
            raise ArtifactMismatch(msg)
    return made_by


def _premises(record: Mapping[str, object], settings: BeliefSettings) -> dict[str, object]:
    chains = _mapping(record.get("models"))
    return premises(
        settings.asked,
        mode=AssessmentMode.named(mode_of(record) or AssessmentMode.ZERO_SHOT),
        models={
            agent: map(str, chain) for agent, chain in chains.items() if isinstance(chain, list)
        },
        prompts={name: str(digest) for name, digest in _mapping(record.get("prompts")).items()},
        rules=str(_mapping(record.get("contracts")).get("rules", "")),
        rescorings=settings.rescorings,
        temperature=settings.temperature,
    )


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _features(item: ItemPrediction, raw: tuple[float, ...]) -> tuple[float, ...]:
    signals = item.signals
    return features_of(
        raw,
        EvidenceFacts(
            affirmed=signals.affirmed,
            denied=signals.denied,
            is_frequency_stated=signals.frequency is not Frequency.UNSTATED,
            refused=signals.llm_evidence_rejected_count,
            warnings=len(item.warnings),
            confidence=item.confidence,
        ),
    )
