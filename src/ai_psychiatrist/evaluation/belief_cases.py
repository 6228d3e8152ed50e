"""Items of runs whose belief stands beside a label."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ai_psychiatrist.belief.premises import digest_of, premises
from ai_psychiatrist.belief.settings import BeliefSettings
from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.domain.errors import ArtifactMismatch, InputError
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.runs.provenance import mode_of
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.evaluation.runs.units_file import read_units
from ai_psychiatrist.evaluation.scores.labels_file import read_labels
from ai_psychiatrist.evaluation.scores.prediction import ItemPrediction
from ai_psychiatrist.evaluation.scores.prediction_lines import read_predictions

_FIELD = "RUN"


@dataclass(frozen=True, slots=True, kw_only=True)
class BelievedItem:
    """One item of one interview."""

    participant: int
    """Numbered from 0, in the order of their names."""
    dataset: str
    """Its name and the first digits of its digest."""
    item: ItemPrediction
    belief_raw: tuple[float, ...]
    truth: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BelievedCases:
    """The items of all runs, and by what their beliefs were made."""

    items: tuple[BelievedItem, ...]
    made_by: Mapping[str, object]


def believed_cases(runs: Sequence[Path]) -> BelievedCases:
    """Return the labelled items of runs, all of which made beliefs by the same means.

    A participant who is in several runs of a dataset is one. Raises as `fit_beliefs` does.
    """
    folders = [folder for run in runs for folder in RunFolder(run).runs()]
    made_by = [_made_by(folder) for folder in folders]
    for folder, other in zip(folders[1:], made_by[1:], strict=True):
        if digest_of(other) != digest_of(made_by[0]):
            msg = (
                f"{folder.path} made its beliefs by other means (sources, mode, models or prompts) "
                f"than {folders[0].path}; fit each on its own"
            )
            raise ArtifactMismatch(msg)
    found = [one for folder in folders for one in _items(folder)]
    if not found:
        msg = "no item of the runs has both a belief and a label; assess a labelled dataset anew"
        raise InputError(msg, field=_FIELD)
    people = {name: place for place, name in enumerate(sorted({name for name, *_ in found}))}
    return BelievedCases(
        items=tuple(
            BelievedItem(
                participant=people[name],
                dataset=dataset,
                item=item,
                belief_raw=item.belief.raw,
                truth=truth,
            )
            for name, dataset, item, truth in found
            if item.belief is not None
        ),
        made_by=made_by[0],
    )


def _items(folder: RunFolder) -> Iterator[tuple[str, str, ItemPrediction, int]]:
    """Yield whose each labelled item is, of which dataset, and its label."""
    dataset = _dataset(folder)
    units, labels = read_units(folder.units), read_labels(folder.labels)
    for unit in read_predictions(folder.predictions):
        known, label = units.get(unit.unit_id), labels.get(unit.unit_id)
        owner = unit.unit_id if known is None else known.participant_id
        if owner is None:
            owner = unit.unit_id
        for key in Item:
            item = unit.items.get(key)
            truth = None if label is None else label.items.get(key)
            if item is not None and item.belief is not None and truth is not None:
                yield f"{dataset} {owner}", dataset, item, truth


def _dataset(folder: RunFolder) -> str:
    record = _mapping(folder.require_run().get("dataset"))
    return f"{record.get('name', 'unknown')} {str(record.get('digest', ''))[:12]}".strip()


def _made_by(folder: RunFolder) -> dict[str, object]:
    record = folder.require_run()
    given = _mapping(_mapping(record.get("settings")).get("belief"))
    if not given:
        msg = f"{folder.path} was made without beliefs; assess its dataset anew"
        raise InputError(msg, field=_FIELD)
    settings = BeliefSettings.model_validate(
        {name: given[name] for name in ("sources", "rescorings", "temperature") if name in given}
    )
    chains = _mapping(record.get("models"))
    return premises(
        settings.asked,
        mode=AssessmentMode.named(mode_of(record) or AssessmentMode.ZERO_SHOT),
        models={
            agent: map(str, chain) for agent, chain in chains.items() if isinstance(chain, list)
        },
        prompts={name: str(digest) for name, digest in _mapping(record.get("prompts")).items()},
        rescorings=settings.rescorings,
        temperature=settings.temperature,
    )


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}
